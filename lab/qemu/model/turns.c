/*
 * The length of vCPUs' turns, and the accounting where a turn ends or changes.
 *
 * A turn ends with the instruction that overflows a counter, so the interrupt
 * has no skid where the counter's event counts by itself.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"

/* QEMU gives a vCPU all the time to the next timer; siblings interleave more finely. */
#define SLICE 10000

/* Instructions until the next overflow. */
static uint64_t left(CPUState *cs, bool user)
{
    if (lab_arch[cs->cpu_index].pmi_pending) {
        return 0;
    }
    return lab_options()->kind == LAB_P4 ? lab_p4_left(cs, user)
                                         : lab_arch_left(cs->cpu_index, user);
}

int64_t lab_slice(CPUState *cs, int64_t limit)
{
    limit = MIN(limit, SLICE);
    if (lab_is_off()) {
        return limit;
    }
    bool user = (X86_CPU(cs)->env.hflags & HF_CPL_MASK) == 3;
    return MIN((uint64_t)limit, MAX(left(cs, user), 1));
}

/* Shortens a turn that is under way to the next overflow. */
void lab_bound(CPUState *cs, bool user)
{
    if (!cs->running) {
        return;
    }
    int64_t rest = cpu_neg(cs)->icount_decr.u16.low + cs->icount_extra;
    int64_t cut = rest - (int64_t)MIN((uint64_t)rest, left(cs, user));
    int64_t of_extra = MIN(cut, cs->icount_extra);
    /* Both terms of the difference, so that the executed instructions stay the same. */
    cs->icount_budget -= cut;
    cs->icount_extra -= of_extra;
    cpu_neg(cs)->icount_decr.u16.low -= cut - of_extra;
}

void lab_cpl_change(CPUX86State *env, int cpl)
{
    if (!lab_is_off()) {
        lab_sync(env);
        lab_bound(env_cpu(env), cpl == 3);
    }
}

void lab_halt_change(CPUState *cs)
{
    if (!lab_is_off()) {
        lab_clock(cs);
    }
}

void lab_slice_end(CPUState *cs)
{
    if (!lab_is_off()) {
        lab_sync(&X86_CPU(cs)->env);
        lab_pmi_deliver(cs);
    }
}
