/*
 * The lab's performance monitoring units, as the rest of QEMU sees them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef LAB_H
#define LAB_H

#include "cpu.h"

/* Each returns false where the lab has nothing to say: QEMU's own code then answers. */
bool lab_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *value);
bool lab_wrmsr(CPUX86State *env, uint32_t msr, uint64_t value);
bool lab_rdpmc(CPUX86State *env, uint32_t index, uint64_t *value);
bool lab_cpuid(CPUX86State *env);

/* lab_cpl_change(env, cpl), which cpu.h declares: called before the privilege level changes,
   because what ran until now belongs to the old one. */

/* Called before a vCPU halts or wakes. */
void lab_halt_change(CPUState *cs);

/* The instructions that a vCPU may execute before the next one has its turn. */
int64_t lab_slice(CPUState *cs, int64_t limit);

/* Called at the end of a turn, outside of any translation block. */
void lab_slice_end(CPUState *cs);

/* Virtual time in ns, inside a translation block too (softmmu/icount.c). */
int64_t lab_icount_now(CPUState *cs);

#endif
