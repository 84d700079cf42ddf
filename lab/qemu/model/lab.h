/*
 * The lab's performance monitoring units, as the rest of QEMU sees them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef LAB_H
#define LAB_H

#include "cpu.h"

/* Each returns false where the lab does not model the access: QEMU's own code then handles it. */
bool lab_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *value);
bool lab_wrmsr(CPUX86State *env, uint32_t msr, uint64_t value);
bool lab_rdpmc(CPUX86State *env, uint32_t index, uint64_t *value);
bool lab_cpuid(CPUX86State *env);

/* cpu.h declares lab_cpl_change(env, cpl). QEMU calls it before the privilege level changes,
   because the instructions until then belong to the old level. */

/* QEMU calls it before a vCPU halts or wakes. */
void lab_halt_change(CPUState *cs);

/* Returns the instructions that a vCPU may execute in one turn. */
int64_t lab_slice(CPUState *cs, int64_t limit);

/* QEMU calls it at the end of a turn, outside of any translation block. */
void lab_slice_end(CPUState *cs);

/* Virtual time in ns, inside a translation block too (softmmu/icount.c). */
int64_t lab_icount_now(CPUState *cs);

#endif
