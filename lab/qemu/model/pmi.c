/*
 * Interrupts on overflow.
 *
 * A turn ends with the instruction that overflows a counter, so the interrupt
 * has no skid where the counter's event counts by itself.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"
#include "qemu/main-loop.h"
#include "hw/i386/apic.h"

/* QEMU gives a vCPU all the time to the next timer; siblings shall interleave finely. */
#define SLICE 10000

static bool pending(CPUState *cs)
{
    return lab_arch[cs->cpu_index].pmi_pending;
}

/* A counter of this vCPU overflowed. */
void lab_pmi(int cpu)
{
    CPUState *cs = qemu_get_cpu(cpu);
    lab_arch[cpu].pmi_pending = true;
    /* QEMU takes interrupts only between blocks or in an I/O function: later otherwise. */
    if (cs && (!cs->running || cs->can_do_io)) {
        lab_pmi_deliver(cs);
    }
}

void lab_pmi_deliver(CPUState *cs)
{
    if (!pending(cs)) {
        return;
    }
    lab_arch[cs->cpu_index].pmi_pending = false;
    bool locked = qemu_mutex_iothread_locked();
    if (!locked) {
        qemu_mutex_lock_iothread();
    }
    /* Intel's APIC masks the entry until the handler has it unmasked; AMD's does not. */
    lab_apic_pmi(X86_CPU(cs)->apic_state, !lab_options()->amd);
    if (!locked) {
        qemu_mutex_unlock_iothread();
    }
}

/* Instructions until the next overflow. */
static uint64_t left(CPUState *cs, bool user)
{
    if (pending(cs)) {
        return 0;
    }
    return lab_options()->kind == LAB_P4 ? lab_p4_left(cs, user)
                                         : lab_arch_left(cs->cpu_index, user);
}

int64_t lab_slice(CPUState *cs, int64_t limit)
{
    limit = MIN(limit, SLICE);
    if (lab_options()->kind == LAB_NONE) {
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
    /* Both sides of the sum, so that the instructions already executed stay the same. */
    cs->icount_budget -= cut;
    cs->icount_extra -= of_extra;
    cpu_neg(cs)->icount_decr.u16.low -= cut - of_extra;
}

void lab_slice_end(CPUState *cs)
{
    if (lab_options()->kind != LAB_NONE) {
        lab_sync(&X86_CPU(cs)->env);
        lab_pmi_deliver(cs);
    }
}
