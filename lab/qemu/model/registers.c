/*
 * The dispatch of register accesses to the model of the processor's PMU.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"

bool lab_rdpmc(CPUX86State *env, uint32_t index, uint64_t *value)
{
    CPUState *cs = env_cpu(env);
    if (lab_is_off()) {
        return false;
    }
    lab_sync(env);
    return lab_options()->kind == LAB_P4
        ? lab_p4_rdpmc(cs, index, value)
        : lab_arch_rdpmc(cs->cpu_index, index, value);
}

bool lab_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *value)
{
    CPUState *cs = env_cpu(env);
    if (lab_is_off()) {
        return false;
    }
    if (lab_energy_read(cs, msr, value)) {
        return true;
    }
    if (lab_options()->kind == LAB_P4) {
        if (msr == MSR_IA32_MISC_ENABLE) {
            /* PMU available; neither branch traces nor PEBS. */
            *value = env->msr_ia32_misc_enable | 1 << 7 | 1 << 11 | 1 << 12;
            return true;
        }
        lab_sync(env);
        return lab_p4_read(cs, msr, value);
    }
    /* Counters advance between reads: account first, which is cheap. */
    lab_sync(env);
    return lab_arch_read(cs->cpu_index, msr, value);
}

bool lab_wrmsr(CPUX86State *env, uint32_t msr, uint64_t value)
{
    CPUState *cs = env_cpu(env);
    if (lab_is_off()) {
        return false;
    }
    /* The old setting holds up to this instruction. */
    lab_sync(env);
    bool known = lab_options()->kind == LAB_P4
        ? lab_p4_write(cs, msr, value)
        : lab_arch_write(cs->cpu_index, msr, value);
    if (known && lab_options()->trace) {
        fprintf(lab_options()->trace, "cpu%d wrmsr %#x %#" PRIx64 "\n",
                cs->cpu_index, msr, value);
    }
    if (known) {
        lab_bound(cs, false);
    }
    return known;
}
