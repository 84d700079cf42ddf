/*
 * Lab PMU: a functional model of x86 performance monitoring units for TCG
 * under -icount, written to check a counter library against the guest
 * kernel's own PMU drivers.
 *
 * This file has the options, the accounting and the dispatch of registers.
 *
 *   instructions: exact, per vCPU and privilege level
 *   cycles: 3 per instruction unless the doorbell sets another ratio
 *   reference cycles and TSC: 2 per instruction (-icount shift=1)
 * With LAB_PMU_TIME=1 both clocks follow virtual time instead (clock.c). All
 * other events happen only when a program rings the doorbell (cpuid.c).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"

LabArch lab_arch[LAB_MAX_CPUS];
LabP4 lab_p4[LAB_MAX_CPUS];
LabLoad lab_load[LAB_MAX_CPUS];

static LabOptions options;

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static void read_options(void)
{
    const char *kind = getenv("LAB_PMU");
    options.amd = kind && !strcmp(kind, "amd");
    options.kind = !kind ? LAB_NONE : !strcmp(kind, "p4") ? LAB_P4 :
                   options.amd || !strcmp(kind, "arch") ? LAB_ARCH : LAB_NONE;
    bool p4 = options.kind == LAB_P4, amd = options.amd;
    options.version = number("LAB_PMU_VERSION", amd ? 1 : 4);
    options.gp = MIN(number("LAB_PMU_GP", amd ? 6 : 4), LAB_MAX_GP);
    options.fixed = number("LAB_PMU_FIXED", amd ? 0 : 3);
    options.width = p4 ? 40 : amd ? 48 : number("LAB_PMU_WIDTH", 48);
    options.any_deprecated = number("LAB_PMU_ANYDEPRECATED", 0);
    options.by_time = number("LAB_PMU_TIME", 0);
    options.xclk_ratio = MAX(number("LAB_PMU_XCLK_RATIO", 1), 1);
    options.slots = number("LAB_PMU_SLOTS", 0);
    options.metrics = MIN(number("LAB_PMU_METRICS", 4), LAB_FIELDS);
    options.energy = options.kind != LAB_NONE && number("LAB_PMU_ENERGY", 0);
    /* Numbers with commas between them. */
    for (const char *at = getenv("LAB_PMU_ATOMS"); at && *at; ) {
        int cpu = atoi(at);
        if (cpu >= 0 && cpu < LAB_MAX_CPUS) {
            options.atom[cpu] = options.hybrid = true;
        }
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    const char *trace = getenv("LAB_PMU_TRACE");
    options.trace = trace ? fopen(trace, "w") : NULL;
    if (options.trace) {
        setvbuf(options.trace, NULL, _IOLBF, 0);
    }
}

const LabOptions *lab_options(void)
{
    static bool known;
    if (!known) {
        known = true;
        read_options();
    }
    return &options;
}

static bool is_off(void)
{
    return lab_options()->kind == LAB_NONE;
}

int lab_threads(CPUState *cs)
{
    return cs->nr_threads ? cs->nr_threads : 1;
}

int lab_first_sibling(CPUState *cs)
{
    return cs->cpu_index / lab_threads(cs) * lab_threads(cs);
}

uint64_t lab_cycles_per_1000(const LabLoad *load)
{
    return load->milli_cpi ? load->milli_cpi : 3000;
}

void lab_bell(CPUState *cs, uint64_t selector, uint64_t n)
{
    if (!n) {
        return;
    }
    if (options.kind == LAB_P4) {
        lab_p4_bell(cs, selector, n);
        return;
    }
    int first = lab_first_sibling(cs);
    for (int cpu = first; cpu < first + lab_threads(cs); cpu++) {
        lab_arch_bell(cs->cpu_index, cpu, selector, n);
    }
}

/* Instructions that this vCPU retired since the last call. */
static uint64_t newly_retired(CPUState *cs)
{
    LabArch *a = &lab_arch[cs->cpu_index];
    uint64_t retired = cs->lab_done;
    if (cs->running) {
        retired += cs->icount_budget -
                   (cpu_neg(cs)->icount_decr.u16.low + cs->icount_extra);
    }
    int64_t d = retired - a->last;
    a->last = retired;
    return MAX(d, 0);
}

/* Accounts everything up to now, at the privilege level that held until now. */
void lab_sync(CPUX86State *env)
{
    CPUState *cs = env_cpu(env);
    lab_clock(cs);
    uint64_t d = newly_retired(cs);
    if (d) {
        bool user = (env->hflags & HF_CPL_MASK) == 3;
        LabLoad *load = &lab_load[cs->cpu_index];
        lab_arch[cs->cpu_index].insns[user] += d;
        uint64_t milli = d * lab_cycles_per_1000(load) + load->cycle_rest;
        uint64_t cycles = milli / 1000;
        load->cycle_rest = milli % 1000;
        for (int r = 0; user && r < LAB_RATES; r++) {
            LabRate *rate = &load->rate[r];
            if (rate->per_million) {
                uint64_t n = d * rate->per_million + rate->rest;
                rate->rest = n % 1000000;
                lab_bell(cs, rate->selector, n / 1000000);
            }
        }
        if (options.kind == LAB_P4) {
            lab_p4_add(cs, user, d, cycles);
        } else {
            int first = lab_first_sibling(cs);
            for (int cpu = first; cpu < first + lab_threads(cs); cpu++) {
                lab_arch_add(cs->cpu_index, cpu, user, d, cycles);
            }
        }
    }
}

void lab_cpl_change(CPUX86State *env, int cpl)
{
    if (!is_off()) {
        lab_sync(env);
        lab_bound(env_cpu(env), cpl == 3);
    }
}

void lab_halt_change(CPUState *cs)
{
    if (!is_off()) {
        lab_clock(cs);
    }
}

bool lab_rdpmc(CPUX86State *env, uint32_t index, uint64_t *value)
{
    CPUState *cs = env_cpu(env);
    if (is_off()) {
        return false;
    }
    lab_sync(env);
    return options.kind == LAB_P4 ? lab_p4_rdpmc(cs, index, value)
                                  : lab_arch_rdpmc(cs->cpu_index, index, value);
}

bool lab_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *value)
{
    CPUState *cs = env_cpu(env);
    if (is_off()) {
        return false;
    }
    if (lab_energy_read(cs, msr, value)) {
        return true;
    }
    if (options.kind == LAB_P4) {
        if (msr == MSR_IA32_MISC_ENABLE) {
            /* PMU available; neither branch traces nor PEBS. */
            *value = env->msr_ia32_misc_enable | 1 << 7 | 1 << 11 | 1 << 12;
            return true;
        }
        lab_sync(env);
        return lab_p4_read(cs, msr, value);
    }
    /* Counters run on while others are read: account first, cheap as it is. */
    lab_sync(env);
    return lab_arch_read(cs->cpu_index, msr, value);
}

bool lab_wrmsr(CPUX86State *env, uint32_t msr, uint64_t value)
{
    CPUState *cs = env_cpu(env);
    if (is_off()) {
        return false;
    }
    /* The old setting holds up to this instruction. */
    lab_sync(env);
    bool known = options.kind == LAB_P4
        ? lab_p4_write(cs, msr, value)
        : lab_arch_write(cs->cpu_index, msr, value);
    if (known && options.trace) {
        fprintf(options.trace, "cpu%d wrmsr %#x %#" PRIx64 "\n",
                cs->cpu_index, msr, value);
    }
    if (known) {
        lab_bound(cs, false);
    }
    return known;
}
