/*
 * Clocks by time: cycles follow virtual time while a vCPU is not halted. So
 * siblings are both active at the same time, as in silicon, although the
 * emulator runs one after the other. An AnyThread count is the union of the
 * siblings' active time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"

#define MAX_THREADS 8

static int64_t core_last[LAB_MAX_CPUS];
static uint64_t xclk_rest[LAB_MAX_CPUS][LAB_MAX_GP];

/* The hardware threads of a core since the last call: whether each ran, in user mode or not. */
typedef struct {
    bool on[MAX_THREADS], user[MAX_THREADS];
    int n;
} Core;

static uint64_t cycles_of(uint64_t ns)
{
    return ns * 3 / 2;
}

static bool gp_counts(int cpu, int i, const Core *core, int me)
{
    bool any = !lab_options()->amd && (lab_arch[cpu].evtsel[i] & (1 << 21));
    for (int t = 0; t < core->n; t++) {
        if ((any || t == me) && core->on[t] && lab_arch_on(cpu, i, core->user[t])) {
            return true;
        }
    }
    return false;
}

static bool fixed_counts(int cpu, int i, const Core *core, int me)
{
    bool any = lab_arch[cpu].fixed_ctrl >> (4 * i) & 4;
    for (int t = 0; t < core->n; t++) {
        if ((any || t == me) && core->on[t] && lab_fixed_on(cpu, i, core->user[t])) {
            return true;
        }
    }
    return false;
}

static void arch(int first, const Core *core, uint64_t ns)
{
    int ratio = lab_options()->xclk_ratio;
    for (int me = 0; me < core->n; me++) {
        int cpu = first + me;
        for (int i = 0; i < lab_gp(cpu); i++) {
            int source = lab_arch_source(lab_arch[cpu].evtsel[i]);
            if ((source != LAB_CYC && source != LAB_REF) ||
                !gp_counts(cpu, i, core, me)) {
                continue;
            }
            if (source == LAB_CYC) {
                lab_arch_bump(cpu, i, cycles_of(ns));
            } else {
                uint64_t ticks = ns + xclk_rest[cpu][i];
                lab_arch_bump(cpu, i, ticks / ratio);
                xclk_rest[cpu][i] = ticks % ratio;
            }
        }
        for (int i = LAB_CYC; i < MIN(lab_fixed(cpu), LAB_SLOTS); i++) {
            if (fixed_counts(cpu, i, core, me)) {
                lab_fixed_bump(cpu, i, i == LAB_CYC ? cycles_of(ns) : ns);
            }
        }
        if (core->on[me]) {
            lab_topdown_add(cpu, core->user[me], cycles_of(ns));
        }
    }
}

static void netburst(int number, const Core *core, uint64_t ns)
{
    LabP4 *p = &lab_p4[number];
    int active = 0;
    for (int t = 0; t < core->n; t++) {
        active += core->on[t];
    }
    for (int i = 0; i < LAB_P4_COUNTERS; i++) {
        uint32_t escr;
        int msr;
        if (lab_p4_non_sleep(p->cccr[i])) {
            lab_p4_bump(number, i, active ? cycles_of(ns) : 0);
            continue;
        }
        for (int t = 0; t < MIN(core->n, 2); t++) {
            if (core->on[t] &&
                lab_p4_counts(p, i, t, core->user[t], active, &msr, &escr) &&
                (msr == 0x3a2 || msr == 0x3a3) && (escr >> 25 & 0x3f) == 0x13 &&
                (escr >> 9 & 1)) {
                lab_p4_bump(number, i, cycles_of(ns));
                break;
            }
        }
    }
}

/* Accounts the time of this core up to now; every change of the core's state calls it first. */
void lab_clock(CPUState *cs)
{
    if (!lab_options()->by_time) {
        return;
    }
    int first = lab_first_sibling(cs), number = first / lab_threads(cs);
    int64_t now = lab_icount_now(current_cpu), ns = now - core_last[number];
    core_last[number] = now;
    if (ns <= 0) {
        return;
    }
    Core core = { .n = MIN(lab_threads(cs), MAX_THREADS) };
    for (int t = 0; t < core.n; t++) {
        CPUState *o = qemu_get_cpu(first + t);
        core.on[t] = o && !o->halted;
        core.user[t] = o && (X86_CPU(o)->env.hflags & HF_CPL_MASK) == 3;
    }
    if (lab_options()->kind == LAB_P4) {
        netburst(number, &core, ns);
    } else {
        arch(first, &core, ns);
    }
}
