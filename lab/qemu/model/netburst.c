/*
 * NetBurst: 18 counters, each with a CCCR that chooses one of several ESCRs.
 * The two hardware threads of a core share them all. An ESCR's T0 and T1 bits
 * select the events of one thread each.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"
#include "netburst_routes.h"

#define CCCR_ENABLE (1u << 12)
#define CCCR_COMPARE (1u << 18)
#define CCCR_COMPLEMENT (1u << 19)
#define CCCR_PMI(thread) (1u << (26 + (thread)))
#define CCCR_OVERFLOW (1u << 31)

static int route(int ctr, int select)
{
    for (size_t i = 0; i < ARRAY_SIZE(p4_routes); i++) {
        if (p4_routes[i].ctr == ctr && p4_routes[i].select == select) {
            return p4_routes[i].escr;
        }
    }
    return -1;
}

/* Whether a counter counts a thread's events; returns the ESCR that selects them. */
bool lab_p4_counts(LabP4 *p, int i, int thread, bool user, int active,
                   int *escr_msr, uint32_t *escr)
{
    uint32_t c = p->cccr[i];
    int msr = c & CCCR_ENABLE ? route(i, c >> 13 & 7) : -1;
    if (msr < 0) {
        return false;
    }
    *escr_msr = msr;
    *escr = p->escr[msr - 0x3a0];
    /* Active thread: none, one, both, any. */
    int at = c >> 16 & 3;
    if (at == 0 || (at == 1 && active > 1) || (at == 2 && active < 2)) {
        return false;
    }
    int bit = thread == 0 ? (user ? 2 : 3) : (user ? 0 : 1);
    return *escr >> bit & 1;
}

/* Whether the counter is set to count every cycle in which the core does not sleep. */
bool lab_p4_non_sleep(uint32_t c)
{
    return (c & CCCR_ENABLE) && (c & CCCR_COMPARE) && (c & CCCR_COMPLEMENT) &&
           (c >> 20 & 15) == 15;
}

/* Hardware threads of this core that are not halted. */
int lab_p4_active(CPUState *cs)
{
    int n = 0, first = lab_first_sibling(cs);
    CPUState *o;
    CPU_FOREACH(o) {
        if (lab_first_sibling(o) == first && !o->halted) {
            n++;
        }
    }
    return n;
}

static int core_of(CPUState *cs)
{
    return cs->cpu_index / lab_threads(cs);
}

static int thread_of(CPUState *cs)
{
    return cs->cpu_index % lab_threads(cs);
}

void lab_p4_bump(int core, int i, uint64_t n)
{
    LabP4 *p = &lab_p4[core];
    int width = lab_options()->width;
    uint64_t sum = p->ctr[i] + n;
    p->ctr[i] = sum & lab_mask(width);
    if (!(sum >> width)) {
        return;
    }
    p->cccr[i] |= CCCR_OVERFLOW;
    CPUState *o;
    CPU_FOREACH(o) {
        if (core_of(o) == core && thread_of(o) < 2 &&
            (p->cccr[i] & CCCR_PMI(thread_of(o)))) {
            lab_pmi(o->cpu_index);
        }
    }
}

/* The events that the model counts by itself. */
static int source(int escr_msr, uint32_t escr)
{
    uint32_t event = escr >> 25 & 0x3f, mask = escr >> 9 & 0xffff;
    if ((escr_msr == 0x3a2 || escr_msr == 0x3a3) && event == 0x13 && (mask & 1)) {
        return LAB_CYC;     /* global_power_events, running */
    }
    if ((escr_msr == 0x3b8 || escr_msr == 0x3b9) && event == 0x02 && (mask & 1)) {
        return LAB_INSN;    /* instr_retired, not bogus, not tagged */
    }
    return LAB_BELL;
}

void lab_p4_add(CPUState *cs, bool user, uint64_t insns, uint64_t cycles)
{
    int core = core_of(cs), active = lab_p4_active(cs);
    LabP4 *p = &lab_p4[core];
    uint64_t clock = lab_options()->by_time ? 0 : cycles;
    for (int i = 0; i < LAB_P4_COUNTERS; i++) {
        int msr;
        uint32_t escr;
        if (lab_p4_non_sleep(p->cccr[i])) {
            lab_p4_bump(core, i, clock);
        } else if (lab_p4_counts(p, i, thread_of(cs), user, active, &msr, &escr)) {
            switch (source(msr, escr)) {
            case LAB_CYC: lab_p4_bump(core, i, clock); break;
            case LAB_INSN: lab_p4_bump(core, i, insns); break;
            }
        }
    }
}

/* The doorbell's selector: event select 5:0, CCCR select 8:6, event mask 31:16. */
static bool hears(LabP4 *p, int i, uint32_t escr, uint64_t selector)
{
    return (escr >> 25 & 0x3f) == (selector & 0x3f) &&
           (p->cccr[i] >> 13 & 7) == (selector >> 6 & 7) &&
           (escr >> 9 & selector >> 16 & 0xffff);
}

void lab_p4_bell(CPUState *cs, uint64_t selector, uint64_t n)
{
    int core = core_of(cs), active = lab_p4_active(cs);
    LabP4 *p = &lab_p4[core];
    for (int i = 0; i < LAB_P4_COUNTERS; i++) {
        int msr;
        uint32_t escr;
        if (lab_p4_counts(p, i, thread_of(cs), true, active, &msr, &escr) &&
            hears(p, i, escr, selector)) {
            lab_p4_bump(core, i, n);
        }
    }
}

/* Instructions of this vCPU until a counter interrupts. */
uint64_t lab_p4_left(CPUState *cs, bool user)
{
    int active = lab_p4_active(cs);
    LabP4 *p = &lab_p4[core_of(cs)];
    uint64_t cpi = lab_cycles_per_1000(&lab_load[cs->cpu_index]);
    uint64_t left = UINT64_MAX;
    for (int i = 0; i < LAB_P4_COUNTERS; i++) {
        int msr;
        uint32_t escr;
        if (!(p->cccr[i] & (CCCR_PMI(0) | CCCR_PMI(1)))) {
            continue;
        }
        uint64_t amount = lab_mask(lab_options()->width) - p->ctr[i] + 1;
        int from = LAB_BELL;
        if (lab_p4_non_sleep(p->cccr[i])) {
            from = LAB_CYC;
        } else if (lab_p4_counts(p, i, thread_of(cs), user, active, &msr, &escr)) {
            from = source(msr, escr);
        }
        if (from == LAB_INSN) {
            left = MIN(left, amount);
        } else if (from == LAB_CYC && amount < UINT32_MAX) {
            left = MIN(left, (amount * 1000 + cpi - 1) / cpi);
        }
    }
    return left;
}

static uint64_t *reg(CPUState *cs, uint32_t msr)
{
    LabP4 *p = &lab_p4[core_of(cs)];
    if (msr >= 0x300 && msr <= 0x311) {
        return &p->ctr[msr - 0x300];
    }
    if (msr >= 0x360 && msr <= 0x371) {
        return &p->cccr[msr - 0x360];
    }
    if (msr >= 0x3a0 && msr <= 0x3e1) {
        return &p->escr[msr - 0x3a0];
    }
    switch (msr) {
    case 0x3f1: return &p->pebs_enable;
    case 0x3f2: return &p->pebs_matrix;
    }
    return NULL;
}

bool lab_p4_read(CPUState *cs, uint32_t msr, uint64_t *value)
{
    uint64_t *r = reg(cs, msr);
    if (r) {
        *value = *r;
    }
    return r != NULL;
}

bool lab_p4_write(CPUState *cs, uint32_t msr, uint64_t value)
{
    uint64_t *r = reg(cs, msr);
    if (r) {
        *r = msr <= 0x311 ? value & lab_mask(lab_options()->width) : value;
    }
    return r != NULL;
}

bool lab_p4_rdpmc(CPUState *cs, uint32_t index, uint64_t *value)
{
    /* Bit 31 requests the fast read of 32 bits; the model returns all bits. */
    index &= 0x7fffffff;
    if (index >= LAB_P4_COUNTERS) {
        return false;
    }
    *value = lab_p4[core_of(cs)].ctr[index];
    return true;
}
