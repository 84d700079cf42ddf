/*
 * Architectural PerfMon (PERFEVTSEL and PMC pairs, fixed counters) and AMD's
 * core PMU (PERF_CTL and PERF_CTR pairs, with PerfMonV2's global registers).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"

#define ANY_THREAD (1ULL << 21)

#define PERF_CAPABILITIES 0x345
#define CAPABILITY_FULL_WIDTH_WRITE (1 << 13)
#define CAPABILITY_METRICS (1 << 15)
#define PERF_METRICS 0x329
#define FULL_WIDTH_PMC 0x4c1

static bool any_thread(uint64_t evtsel)
{
    return !lab_options()->amd && (evtsel & ANY_THREAD);
}

static bool fixed_any_thread(int cpu, int i)
{
    return i < 3 && (lab_arch[cpu].fixed_ctrl >> (4 * i) & 4);
}

/* Adds the work of vCPU `who` to the counters of `cpu`, itself or a sibling. */
void lab_arch_add(int who, int cpu, bool user, uint64_t insns, uint64_t cycles)
{
    const LabOptions *o = lab_options();
    const uint64_t done[] = { insns, cycles, insns * 2 };
    for (int i = 0; i < lab_gp(cpu); i++) {
        uint64_t e = lab_arch[cpu].evtsel[i];
        if (who != cpu && !any_thread(e)) {
            continue;
        }
        int source = lab_arch_source(e);
        if (source == LAB_BELL || (o->by_time && source != LAB_INSN) ||
            !lab_arch_on(cpu, i, user)) {
            continue;
        }
        lab_arch_bump(cpu, i, source == LAB_REF ? insns * 2 / o->xclk_ratio
                                                : done[source]);
    }
    for (int i = 0; i < (o->by_time ? 1 : MIN(lab_fixed(cpu), 3)); i++) {
        if ((who == cpu || fixed_any_thread(cpu, i)) && lab_fixed_on(cpu, i, user)) {
            lab_fixed_bump(cpu, i, done[i]);
        }
    }
    if (who == cpu && !o->by_time) {
        lab_topdown_add(cpu, user, cycles);
    }
}

static bool hears(uint64_t e, uint64_t selector)
{
    if (lab_options()->amd && (e >> 32 & 0xf) != (selector >> 32 & 0xf)) {
        return false;
    }
    return (e & 0xff) == (selector & 0xff) && (e & selector & 0xff00) &&
           (e & LAB_SHAPE) == (selector & LAB_SHAPE);
}

void lab_arch_bell(int who, int cpu, uint64_t selector, uint64_t n)
{
    for (int i = 0; i < lab_gp(cpu); i++) {
        uint64_t e = lab_arch[cpu].evtsel[i];
        if ((who == cpu || any_thread(e)) && lab_arch_on(cpu, i, true) &&
            hears(e, selector)) {
            lab_arch_bump(cpu, i, n);
        }
    }
}

/* Instructions that an event needs for `amount` occurrences, at `per` in `of` instructions. */
static uint64_t insns_for(uint64_t amount, uint64_t rest, uint64_t per, uint64_t of)
{
    /* Far beyond a turn, and the product might not fit. */
    if (!per || amount > UINT32_MAX) {
        return UINT64_MAX;
    }
    uint64_t wanted = amount * of - MIN(rest, amount * of);
    return (wanted + per - 1) / per;
}

static uint64_t source_left(int cpu, int source, uint64_t amount)
{
    const LabOptions *o = lab_options();
    const LabLoad *load = &lab_load[cpu];
    uint64_t cpi = lab_cycles_per_1000(load);
    switch (source) {
    case LAB_INSN: return amount;
    case LAB_CYC: return insns_for(amount, load->cycle_rest, cpi, 1000);
    case LAB_REF: return insns_for(amount, 0, 2, o->xclk_ratio);
    case LAB_SLOTS: return insns_for(amount, 0, cpi * o->slots, 1000);
    }
    return UINT64_MAX;
}

/* Instructions of this vCPU until one of its counters interrupts. */
uint64_t lab_arch_left(int cpu, bool user)
{
    LabArch *a = &lab_arch[cpu];
    uint64_t mask = lab_mask(lab_options()->width), left = UINT64_MAX;
    for (int i = 0; i < lab_gp(cpu); i++) {
        uint64_t e = a->evtsel[i];
        if (!(e & LAB_INTERRUPT) || !lab_arch_on(cpu, i, user)) {
            continue;
        }
        uint64_t amount = mask - a->pmc[i] + 1;
        int source = lab_arch_source(e);
        if (source != LAB_BELL) {
            left = MIN(left, source_left(cpu, source, amount));
            continue;
        }
        for (int r = 0; user && r < LAB_RATES; r++) {
            LabRate *rate = &lab_load[cpu].rate[r];
            if (rate->per_million && hears(e, rate->selector)) {
                left = MIN(left, insns_for(amount, rate->rest,
                                           rate->per_million, 1000000));
            }
        }
    }
    for (int i = 0; i < lab_fixed(cpu); i++) {
        if ((a->fixed_ctrl >> (4 * i) & 8) && lab_fixed_on(cpu, i, user)) {
            left = MIN(left, source_left(cpu, i, mask - a->fixed[i] + 1));
        }
    }
    return left;
}

/* ---- registers ---- */

static uint64_t *amd_register(LabArch *a, uint32_t msr)
{
    uint32_t gp = lab_options()->gp;
    if (msr >= 0xc0010200 && msr < 0xc0010200 + 2 * gp) {
        int i = (msr - 0xc0010200) / 2;
        return msr & 1 ? &a->pmc[i] : &a->evtsel[i];
    }
    if (msr >= 0xc0010000 && msr < 0xc0010004) {
        return &a->evtsel[msr - 0xc0010000];
    }
    if (msr >= 0xc0010004 && msr < 0xc0010008) {
        return &a->pmc[msr - 0xc0010004];
    }
    if (lab_options()->version >= 2) {
        switch (msr) {
        case 0xc0000300: return &a->global_status;
        case 0xc0000301: return &a->global_ctrl;
        }
    }
    return NULL;
}

static uint64_t *register_of(int cpu, uint32_t msr)
{
    LabArch *a = &lab_arch[cpu];
    if (lab_options()->amd) {
        return amd_register(a, msr);
    }
    if (msr >= 0x186 && msr < 0x186 + lab_gp(cpu)) {
        return &a->evtsel[msr - 0x186];
    }
    if (msr >= 0xc1 && msr < 0xc1 + lab_gp(cpu)) {
        return &a->pmc[msr - 0xc1];
    }
    if (lab_options()->slots && msr >= FULL_WIDTH_PMC &&
        msr < FULL_WIDTH_PMC + lab_gp(cpu)) {
        return &a->pmc[msr - FULL_WIDTH_PMC];
    }
    if (msr >= 0x309 && msr < 0x309 + lab_fixed(cpu)) {
        return &a->fixed[msr - 0x309];
    }
    switch (msr) {
    case 0x38d: return &a->fixed_ctrl;
    case 0x38e: return &a->global_status;
    case 0x38f: return &a->global_ctrl;
    case 0x1a6: return &a->offcore[0];
    case 0x1a7: return &a->offcore[1];
    case 0x3f7: return &a->frontend;
    case 0x3f6: return &a->load_latency;
    }
    return NULL;
}

bool lab_arch_read(int cpu, uint32_t msr, uint64_t *value)
{
    if (!lab_options()->amd) {
        switch (msr) {
        case 0x390:
            *value = 0;
            return true;
        case PERF_CAPABILITIES:
            /* A hybrid announces the features of both kinds; Linux knows which kind has metrics. */
            if (!lab_options()->slots) {
                return false;
            }
            *value = CAPABILITY_FULL_WIDTH_WRITE |
                     (lab_options()->hybrid ? 0 : CAPABILITY_METRICS);
            return true;
        case PERF_METRICS:
            if (!lab_has_topdown(cpu)) {
                return false;
            }
            *value = lab_topdown_metrics(cpu);
            return true;
        }
    }
    uint64_t *r = register_of(cpu, msr);
    if (r) {
        *value = *r;
    }
    return r != NULL;
}

static bool is_counter(LabArch *a, uint64_t *r)
{
    return (r >= a->pmc && r < a->pmc + LAB_MAX_GP) ||
           (r >= a->fixed && r < a->fixed + LAB_MAX_FIXED);
}

bool lab_arch_write(int cpu, uint32_t msr, uint64_t value)
{
    LabArch *a = &lab_arch[cpu];
    bool amd = lab_options()->amd;
    if (msr == (amd ? 0xc0000302 : 0x390)) {
        a->global_status &= ~value;
        return true;
    }
    if (msr == (amd ? 0xc0000303 : 0x391) && lab_options()->version >= (amd ? 2 : 4)) {
        a->global_status |= value;
        return true;
    }
    if (!amd && msr == 0x38e) {
        return true;    /* read-only */
    }
    if (!amd && msr == PERF_METRICS && lab_has_topdown(cpu)) {
        lab_topdown_metrics_written(cpu, value);
        return true;
    }
    uint64_t *r = register_of(cpu, msr);
    if (!r) {
        return false;
    }
    if (is_counter(a, r)) {
        if (!amd && msr >= 0xc1 && msr < 0xc1 + LAB_MAX_GP) {
            /* The old address of a general counter takes 32 bits and extends their sign. */
            value = (uint64_t)(int64_t)(int32_t)value;
        }
        value &= lab_mask(lab_options()->width);
    }
    if (r == &a->fixed[LAB_SLOTS] && lab_has_topdown(cpu)) {
        lab_topdown_slots_written(cpu, value);
    }
    *r = value;
    return true;
}

bool lab_arch_rdpmc(int cpu, uint32_t index, uint64_t *value)
{
    LabArch *a = &lab_arch[cpu];
    if (index == 1 << 29 && lab_has_topdown(cpu)) {
        *value = lab_topdown_metrics(cpu);
        return true;
    }
    if (index >> 30 == 1 && (index & 0xffff) < lab_fixed(cpu)) {
        *value = a->fixed[index & 0xffff];
        return true;
    }
    if (index < lab_gp(cpu)) {
        *value = a->pmc[index];
        return true;
    }
    return false;
}
