/*
 * The doorbell: system registers by which programs in the guest make events
 * happen, at any exception level. ../../README.md has their table.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"
#include "cpregs.h"

#define DOORBELL 0x4c504d00ULL

static uint16_t event_of(uint64_t value)
{
    return value >> 48;
}

static uint64_t times_of(uint64_t value)
{
    return value & MAKE_64BIT_MASK(0, 48);
}

/* Counters up to now. */
static LabCpu *settled(CPUARMState *env)
{
    pmu_op_start(env);
    pmu_op_finish(env);
    return lab_of(env_cpu(env));
}

static uint64_t identify(CPUARMState *env, const ARMCPRegInfo *ri)
{
    CPUState *cs = env_cpu(env);
    return DOORBELL << 32 | lab_threads(cs) << 16 | cs->cpu_index;
}

static void ring(CPUARMState *env, const ARMCPRegInfo *ri, uint64_t value)
{
    settled(env)->rung[event_of(value)] += times_of(value);
    settled(env);
}

static uint64_t truth(CPUARMState *env, const ARMCPRegInfo *ri)
{
    lab_sync(env);
    return lab_of(env_cpu(env))->insns[ri->opc2 == 2];
}

static void set_rate(CPUARMState *env, const ARMCPRegInfo *ri, uint64_t value)
{
    LabCpu *lab = settled(env);
    int r = 0;
    while (r < lab->rates && lab->rate[r].event != event_of(value)) {
        r++;
    }
    if (r == lab->rates) {
        lab->rate = g_renew(LabRate, lab->rate, ++lab->rates);
    }
    lab->rate[r] = (LabRate) { .event = event_of(value), .per_million = times_of(value) };
    settled(env);
}

static void set_cycles(CPUARMState *env, const ARMCPRegInfo *ri, uint64_t value)
{
    settled(env)->milli_cpi = value;
    settled(env);
}

static void forget(CPUARMState *env, const ARMCPRegInfo *ri, uint64_t value)
{
    LabCpu *lab = settled(env);
    lab->rates = 0;
    lab->milli_cpi = 0;
    settled(env);
}

#define REGISTER(n, access_, ...)                                             \
    { .name = "LAB" #n, .state = ARM_CP_STATE_AA64, .opc0 = 3, .opc1 = 3,     \
      .crn = 15, .crm = 0, .opc2 = n, .access = access_,                      \
      .type = ARM_CP_IO | ARM_CP_NO_RAW, __VA_ARGS__ }

void lab_define_doorbell(ARMCPU *cpu)
{
    static const ARMCPRegInfo registers[] = {
        REGISTER(0, PL0_R, .readfn = identify),
        REGISTER(1, PL0_W, .writefn = ring),
        REGISTER(2, PL0_R, .readfn = truth),
        REGISTER(3, PL0_W, .writefn = set_rate),
        REGISTER(4, PL0_W, .writefn = set_cycles),
        REGISTER(5, PL0_W, .writefn = forget),
        REGISTER(6, PL0_R, .readfn = truth),
    };
    define_arm_cp_regs(cpu, registers);
}
