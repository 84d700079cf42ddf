/*
 * The Arm lab's counts, as the rest of QEMU sees them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef LAB_H
#define LAB_H

#include "cpu.h"

/* PMCR.N and PMCEID: what the PMU of this vCPU has; called before its registers are defined. */
void lab_announce(ARMCPU *cpu);

/* The doorbell's registers. */
void lab_define_doorbell(ARMCPU *cpu);

/* How often an event happened on this vCPU until now, at any exception level. */
uint64_t lab_count(CPUARMState *env, uint16_t event);

/* The clock of this vCPU's core, which its threads share. */
uint64_t lab_core_cycles(CPUARMState *env);

/* Shortens a turn that is under way to the next overflow. All counters are in delta form. */
void lab_bound(CPUARMState *env);

/* Called before a vCPU halts or wakes. */
void lab_halt_change(CPUState *cs);

/* The instructions that a vCPU may execute before the next one has its turn. */
int64_t lab_slice(CPUState *cs, int64_t limit);

/* Called at the end of a turn, outside of any translation block. */
void lab_slice_end(CPUState *cs);

/* Virtual time in ns, inside a translation block too (softmmu/icount.c). */
int64_t lab_icount_now(CPUState *cs);

/* helper.c: whether a counter counts at this exception level, and whether all its 64 bits do. */
bool pmu_counter_enabled(CPUARMState *env, uint8_t counter);
bool pmevcntr_is_64_bit(CPUARMState *env, int counter);

#endif
