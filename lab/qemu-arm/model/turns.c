/*
 * The length of a turn.
 *
 * A turn ends with the instruction that overflows a counter, so the interrupt
 * has no skid where the counter's event counts by itself.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"
#include "qemu/main-loop.h"

/* QEMU gives a vCPU all the time to the next timer; siblings shall interleave finely. */
#define SLICE 10000

/* Events to the overflow of a counter, from the negative of its value. */
static uint64_t distance(uint64_t n, bool wide)
{
    n = wide ? n : (uint32_t)n;
    return n ? n : wide ? UINT64_MAX : 1ULL << 32;
}

static uint64_t rounded_up(unsigned __int128 n, uint64_t by)
{
    return MIN((n + by - 1) / by, INT64_MAX);
}

/* The fewest instructions in which an event happens n times. */
static uint64_t fewest(CPUState *cs, uint16_t event, uint64_t n)
{
    const LabCpu *lab = lab_of(cs);
    unsigned __int128 events = n;
    for (int r = 0; r < lab->rates; r++) {
        if (lab->rate[r].event == event && lab->rate[r].per_million) {
            return rounded_up(events * 1000000, lab->rate[r].per_million);
        }
    }
    switch (event) {
    case LAB_INST_RETIRED:
    case LAB_INST_SPEC:
    case LAB_BR_RETIRED:
        return MIN(n, INT64_MAX);
    case LAB_CPU_SLOT:
        return rounded_up(events * 1000, lab_cycles_per_1000(lab) * MAX(lab_options()->slots, 1));
    case LAB_CPU_CYCLES:
        return rounded_up(events * 1000, lab_cycles_per_1000(lab));
    default:
        return INT64_MAX;
    }
}

/* Instructions until the next overflow of a counter that counts now. */
static int64_t left(CPUARMState *env)
{
    CPUState *cs = env_cpu(env);
    uint64_t least = INT64_MAX;
    for (int i = 0; i < pmu_num_counters(env); i++) {
        if (pmu_counter_enabled(env, i)) {
            uint16_t event = env->cp15.c14_pmevtyper[i] & PMXEVTYPER_EVTCOUNT;
            uint64_t n = env->cp15.c14_pmevcntr_delta[i] - lab_count(env, event);
            least = MIN(least, fewest(cs, event, distance(n, pmevcntr_is_64_bit(env, i))));
        }
    }
    if (pmu_counter_enabled(env, 31)) {
        /* With the divider PMCCNTR takes longer, and the next turn asks again. */
        uint64_t n = env->cp15.c15_ccnt_delta - lab_core_cycles(env);
        n = distance(n, env->cp15.c9_pmcr & PMCRLC);
        least = MIN(least, fewest(cs, LAB_CPU_CYCLES, n));
    }
    return MAX(least, 1);
}

static bool has_pmu(CPUARMState *env)
{
    return arm_feature(env, ARM_FEATURE_PMU);
}

/* Counters up to now, and the interrupt if one has overflowed. */
static void settle(CPUARMState *env)
{
    bool locked = qemu_mutex_iothread_locked();
    if (!locked) {
        qemu_mutex_lock_iothread();
    }
    pmu_op_start(env);
    pmu_op_finish(env);
    if (!locked) {
        qemu_mutex_unlock_iothread();
    }
}

int64_t lab_slice(CPUState *cs, int64_t limit)
{
    CPUARMState *env = &ARM_CPU(cs)->env;
    limit = MIN(limit, SLICE);
    if (!has_pmu(env)) {
        return limit;
    }
    /* The sibling may have overflowed the clock that both share. */
    settle(env);
    return MIN(limit, left(env));
}

void lab_bound(CPUARMState *env)
{
    CPUState *cs = env_cpu(env);
    if (!cs->running) {
        return;
    }
    int64_t rest = cpu_neg(cs)->icount_decr.u16.low + cs->icount_extra;
    int64_t cut = MAX(rest - left(env), 0);
    int64_t of_extra = MIN(cut, cs->icount_extra);
    /* Both sides of the sum, so that the instructions already executed stay the same. */
    cs->icount_budget -= cut;
    cs->icount_extra -= of_extra;
    cpu_neg(cs)->icount_decr.u16.low -= cut - of_extra;
}

void lab_slice_end(CPUState *cs)
{
    CPUARMState *env = &ARM_CPU(cs)->env;
    if (has_pmu(env)) {
        settle(env);
    }
}
