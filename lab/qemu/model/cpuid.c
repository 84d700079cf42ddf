/*
 * CPUID: the leaves that announce the PMU, and the doorbell by which programs
 * in the guest make events happen. ../../README.md has the doorbell's table.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"

#define DOORBELL 0x4c504d00

#define FEATURE_PDCM (1u << 15)
#define FEATURE_HYBRID (1u << 15)
#define FEATURE_TOPOEXT (1u << 22)
#define FEATURE_PERFCTR_CORE (1u << 23)
#define FEATURE_RAPL (1u << 14)

typedef struct {
    uint32_t a, b, c, d;
} Leaf;

static bool is_atom(CPUState *cs)
{
    return lab_options()->atom[cs->cpu_index];
}

/* Changes the leaf that QEMU returns; false if the leaf stays. */
static bool amend(CPUState *cs, uint32_t leaf, uint32_t sub, Leaf *l)
{
    const LabOptions *o = lab_options();
    bool arch = o->kind == LAB_ARCH && !o->amd;
    switch (leaf) {
    case 0x1:
        l->c |= arch && o->slots ? FEATURE_PDCM : 0;
        return arch && o->slots;
    case 0x7:
        l->d |= sub == 0 ? FEATURE_HYBRID : 0;
        return o->hybrid && sub == 0;
    case 0xa:
        /*
         * A hybrid has the counters of both kinds of core here, as Alder Lake
         * does. Linux adds two general counters and a fixed one to large cores.
         */
        *l = (Leaf) {
            .a = o->version | (o->hybrid ? 6 : o->gp) << 8 | o->width << 16 | 7 << 24,
            .d = (o->hybrid ? 3 : o->fixed) | o->width << 5 | o->any_deprecated << 15,
        };
        if (o->version >= 5) {
            l->c = lab_mask(l->d & 0x1f);
        }
        return arch;
    case 0xb:
        if (is_atom(cs) && sub == 0) {
            l->b = 1;
        }
        return is_atom(cs) && sub == 0;
    case 0x1a:
        *l = (Leaf) { .a = is_atom(cs) ? 0x20000001 : 0x40000001 };
        return o->hybrid;
    case 0x80000001:
        l->c |= FEATURE_TOPOEXT | FEATURE_PERFCTR_CORE;
        return o->amd;
    case 0x80000007:
        l->d |= o->amd && o->energy ? FEATURE_RAPL : 0;
        return o->amd && o->energy;
    case 0x80000022:
        *l = (Leaf) { .a = 1, .b = o->gp };
        return o->amd && o->version >= 2;
    }
    return false;
}

static void truth(CPUState *cs, CPUX86State *env)
{
    env->regs[R_EAX] = lab_arch[cs->cpu_index].insns[true];
    env->regs[R_EBX] = lab_arch[cs->cpu_index].insns[false];
    env->regs[R_ECX] = 0;
    env->regs[R_EDX] = 0;
}

/* Linux's number of a vCPU: a hybrid has unused APIC IDs between its cores. */
static int number(CPUState *cs)
{
    int n = 0;
    CPUState *o;
    CPU_FOREACH(o) {
        n += o->cpu_index < cs->cpu_index;
    }
    return n;
}

static void identify(CPUState *cs, CPUX86State *env)
{
    env->regs[R_EAX] = DOORBELL;
    env->regs[R_EBX] = lab_options()->kind;
    env->regs[R_ECX] = number(cs);
    env->regs[R_EDX] = is_atom(cs) ? 1 : lab_threads(cs);
}

static bool set_rate(LabLoad *load, uint64_t selector, uint64_t per_million)
{
    LabRate *rate = NULL;
    for (int r = 0; r < LAB_RATES; r++) {
        LabRate *one = &load->rate[r];
        if (one->per_million && one->selector == selector) {
            rate = one;
            break;
        }
        if (!one->per_million && !rate) {
            rate = one;
        }
    }
    if (rate) {
        *rate = (LabRate) { .selector = selector, .per_million = per_million };
    }
    return rate;
}

static bool ring(CPUState *cs, CPUX86State *env)
{
    LabLoad *load = &lab_load[cs->cpu_index];
    uint64_t n = env->regs[R_EBX], selector =
        (uint32_t)env->regs[R_ECX] | (uint64_t)(uint32_t)env->regs[R_EDX] << 32;
    bool done = true;
    switch (env->regs[R_EAX] & 0xff) {
    case 0:
        identify(cs, env);
        return true;
    case 1:
        lab_bell(cs, selector, n);
        break;
    case 2:
        truth(cs, env);
        return true;
    case 3:
        done = set_rate(load, selector, n);
        break;
    case 4:
        load->milli_cpi = n;
        break;
    case 5:
        memset(load, 0, sizeof(*load));
        break;
    case 6:
        done = lab_topdown_ring(cs->cpu_index, n, env->regs[R_ECX]);
        break;
    case 7:
        done = lab_energy_ring(cs, env->regs[R_ECX], n);
        break;
    default:
        return false;
    }
    env->regs[R_EAX] = !done;
    lab_bound(cs, (env->hflags & HF_CPL_MASK) == 3);
    return true;
}

bool lab_cpuid(CPUX86State *env)
{
    CPUState *cs = env_cpu(env);
    uint32_t leaf = env->regs[R_EAX], sub = env->regs[R_ECX];
    if (lab_is_off()) {
        return false;
    }
    if ((leaf & 0xffffff00) == DOORBELL) {
        lab_sync(env);
        return ring(cs, env);
    }
    Leaf l;
    cpu_x86_cpuid(env, leaf, sub, &l.a, &l.b, &l.c, &l.d);
    if (!amend(cs, leaf, sub, &l)) {
        return false;
    }
    env->regs[R_EAX] = l.a;
    env->regs[R_EBX] = l.b;
    env->regs[R_ECX] = l.c;
    env->regs[R_EDX] = l.d;
    return true;
}
