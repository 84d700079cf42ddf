/*
 * Interrupts on overflow.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"
#include "qemu/main-loop.h"
#include "hw/i386/apic.h"

/* A counter of this vCPU overflowed. */
void lab_pmi(int cpu)
{
    CPUState *cs = qemu_get_cpu(cpu);
    lab_arch[cpu].pmi_pending = true;
    /* QEMU takes interrupts only between blocks or in an I/O function. */
    if (cs && (!cs->running || cs->can_do_io)) {
        lab_pmi_deliver(cs);
    }
}

void lab_pmi_deliver(CPUState *cs)
{
    LabArch *a = &lab_arch[cs->cpu_index];
    if (!a->pmi_pending) {
        return;
    }
    a->pmi_pending = false;
    bool locked = qemu_mutex_iothread_locked();
    if (!locked) {
        qemu_mutex_lock_iothread();
    }
    /* Intel's APIC masks the entry until the handler unmasks it; AMD's does not. */
    lab_apic_pmi(X86_CPU(cs)->apic_state, !lab_options()->amd);
    if (!locked) {
        qemu_mutex_unlock_iothread();
    }
}
