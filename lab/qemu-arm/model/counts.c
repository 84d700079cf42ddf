/*
 * Lab PMU: what each vCPU did, for QEMU's own model of the Arm PMU under
 * -icount, written to check a counter library against the guest kernel's
 * own driver.
 *
 *   instructions, branches: exact, per vCPU; QEMU's registers filter them by
 *     exception level
 *   cycles: 3 per instruction unless the doorbell sets another ratio. With
 *     LAB_PMU_TIME=1 they follow virtual time while a vCPU is not halted
 *   PMCCNTR: the core's clock. Threads of one core take turns on it, so it is
 *     the sum of their cycles
 * All other events happen only when a program rings the doorbell (doorbell.c).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"

LabCpu lab_cpu[LAB_MAX_CPUS];

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

const LabOptions *lab_options(void)
{
    static LabOptions options;
    static bool known;
    if (!known) {
        known = true;
        options.by_time = number("LAB_PMU_TIME", 0);
        options.gp = number("LAB_PMU_GP", 0);
        options.slots = number("LAB_PMU_SLOTS", 0);
        options.events = 1ULL << LAB_SW_INCR | 1ULL << LAB_INST_RETIRED |
                         1ULL << LAB_CPU_CYCLES | 1ULL << LAB_INST_SPEC |
                         1ULL << LAB_CHAIN | 1ULL << LAB_BR_RETIRED;
        /* Numbers with commas between them. */
        for (const char *at = getenv("LAB_PMU_EVENTS"); at && *at; ) {
            unsigned long event = strtoul(at, NULL, 0);
            options.events |= event < 0x40 ? 1ULL << event : 0;
            at = strchr(at, ',');
            at = at ? at + 1 : NULL;
        }
    }
    return &options;
}

void lab_announce(ARMCPU *cpu)
{
    const LabOptions *o = lab_options();
    if (o->gp) {
        cpu->isar.reset_pmcr_el0 =
            deposit64(cpu->isar.reset_pmcr_el0, PMCRN_SHIFT, 5, MIN(o->gp, 31));
    }
    cpu->pmceid0 = (uint32_t)o->events;
    cpu->pmceid1 = o->events >> 32;
}

LabCpu *lab_of(CPUState *cs)
{
    g_assert(cs->cpu_index < LAB_MAX_CPUS);
    LabCpu *lab = &lab_cpu[cs->cpu_index];
    if (!lab->rung) {
        lab->rung = g_new0(uint64_t, 0x10000);
    }
    return lab;
}

int lab_threads(CPUState *cs)
{
    return cs->nr_threads ? cs->nr_threads : 1;
}

static int first_sibling(CPUState *cs)
{
    return cs->cpu_index / lab_threads(cs) * lab_threads(cs);
}

static LabCpu *core_of(CPUState *cs)
{
    return &lab_cpu[first_sibling(cs)];
}

static bool runs(CPUState *cs)
{
    return cs && !cs->halted && ARM_CPU(cs)->power_state == PSCI_ON;
}

bool lab_sibling_runs(CPUState *cs)
{
    int first = first_sibling(cs);
    for (int cpu = first; cpu < first + lab_threads(cs); cpu++) {
        if (cpu != cs->cpu_index && runs(qemu_get_cpu(cpu))) {
            return true;
        }
    }
    return false;
}

uint64_t lab_cycles_per_1000(const LabCpu *lab)
{
    return lab->milli_cpi ? lab->milli_cpi : 3000;
}

static void add_cycles(CPUState *cs, uint64_t cycles)
{
    LabCpu *lab = lab_of(cs);
    lab->cycles += cycles;
    /* In SMT mode a thread has every other slot of the core. */
    lab->half_slots += cycles * lab_options()->slots * (lab_sibling_runs(cs) ? 1 : 2);
}

/* Accounts the time of this core up to now; called before anything changes. */
static void clock_by_time(CPUState *cs)
{
    LabCpu *core = core_of(cs);
    int64_t now = lab_icount_now(current_cpu), ns = now - core->core_last;
    uint64_t cycles = MAX(ns, 0) * 3 / 2;
    /* Half a cycle stays for the next time. */
    core->core_last += cycles * 2 / 3;
    bool any = false;
    int first = first_sibling(cs);
    for (int cpu = first; cpu < first + lab_threads(cs); cpu++) {
        CPUState *one = qemu_get_cpu(cpu);
        if (runs(one)) {
            add_cycles(one, cycles);
            any = true;
        }
    }
    core->core_cycles += any ? cycles : 0;
}

/* Instructions that this vCPU retired since the last call. */
static uint64_t newly_retired(CPUState *cs)
{
    LabCpu *lab = lab_of(cs);
    uint64_t retired = cs->lab_done;
    if (cs->running) {
        retired += cs->icount_budget -
                   (cpu_neg(cs)->icount_decr.u16.low + cs->icount_extra);
    }
    int64_t d = retired - lab->last;
    lab->last = retired;
    return MAX(d, 0);
}

/* Accounts everything up to now, at the exception level that held until now. */
void lab_sync(CPUARMState *env)
{
    CPUState *cs = env_cpu(env);
    LabCpu *lab = lab_of(cs);
    uint64_t d = newly_retired(cs);
    bool user = arm_current_el(env) == 0;
    lab->insns[user] += d;
    for (int r = 0; user && r < lab->rates; r++) {
        LabRate *rate = &lab->rate[r];
        uint64_t n = d * rate->per_million + rate->rest;
        lab->rung[rate->event] += n / 1000000;
        rate->rest = n % 1000000;
    }
    if (lab_options()->by_time) {
        clock_by_time(cs);
        return;
    }
    uint64_t milli = d * lab_cycles_per_1000(lab) + lab->cycle_rest;
    lab->cycle_rest = milli % 1000;
    add_cycles(cs, milli / 1000);
    core_of(cs)->core_cycles += milli / 1000;
}

void lab_halt_change(CPUState *cs)
{
    if (lab_options()->by_time) {
        clock_by_time(cs);
    }
}

uint64_t lab_core_cycles(CPUARMState *env)
{
    lab_sync(env);
    return core_of(env_cpu(env))->core_cycles;
}

static uint64_t by_itself(CPUARMState *env, const LabCpu *lab, uint16_t event)
{
    switch (event) {
    case LAB_INST_RETIRED:
    /* Nothing is speculated, so both are the same. */
    case LAB_INST_SPEC:
        return lab->insns[false] + lab->insns[true];
    case LAB_CPU_CYCLES:
        return lab->cycles;
    case LAB_BR_RETIRED:
        return env->lab_branches;
    case LAB_CPU_SLOT:
        return lab->half_slots / 2;
    default:
        return 0;
    }
}

uint64_t lab_count(CPUARMState *env, uint16_t event)
{
    lab_sync(env);
    LabCpu *lab = lab_of(env_cpu(env));
    return by_itself(env, lab, event) + lab->rung[event];
}
