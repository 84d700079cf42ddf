/*
 * Lab PMU: a functional model of x86 performance monitoring units for TCG
 * under -icount, written to check a counter library against the guest
 * kernel's own PMU drivers.
 *
 * This file adds executed instructions, and the events that they cause, to the
 * counters.
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

void lab_bell(CPUState *cs, uint64_t selector, uint64_t n)
{
    if (!n) {
        return;
    }
    if (lab_options()->kind == LAB_P4) {
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
        if (lab_options()->kind == LAB_P4) {
            lab_p4_add(cs, user, d, cycles);
        } else {
            int first = lab_first_sibling(cs);
            for (int cpu = first; cpu < first + lab_threads(cs); cpu++) {
                lab_arch_add(cs->cpu_index, cpu, user, d, cycles);
            }
        }
    }
}
