/*
 * One counter of an architectural or AMD PMU: whether it counts, its event and
 * its overflow.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"

#define ENABLE (1ULL << 22)
#define USER (1ULL << 16)
#define KERNEL (1ULL << 17)

int lab_gp(int cpu)
{
    const LabOptions *o = lab_options();
    return o->hybrid ? (o->atom[cpu] ? 6 : 8) : o->gp;
}

int lab_fixed(int cpu)
{
    const LabOptions *o = lab_options();
    return o->hybrid ? (o->atom[cpu] ? 3 : 4) : o->fixed;
}

bool lab_arch_on(int cpu, int i, bool user)
{
    LabArch *a = &lab_arch[cpu];
    uint64_t e = a->evtsel[i];
    return (e & ENABLE) && (e & (user ? USER : KERNEL)) &&
           (lab_options()->version < 2 || (a->global_ctrl & (1ULL << i)));
}

bool lab_fixed_on(int cpu, int i, bool user)
{
    LabArch *a = &lab_arch[cpu];
    return (a->fixed_ctrl >> (4 * i) & (user ? 2 : 1)) &&
           (a->global_ctrl & (1ULL << (32 + i)));
}

int lab_arch_source(uint64_t e)
{
    if (e & LAB_SHAPE) {
        return LAB_BELL;
    }
    if (lab_options()->amd) {
        switch ((e & 0xff) | (e >> 24 & 0xf00)) {
        case 0x0c0: return LAB_INSN;
        case 0x076: return LAB_CYC;
        }
        return LAB_BELL;
    }
    switch (e & 0xffff) {
    case 0x00c0: return LAB_INSN;
    case 0x003c: return LAB_CYC;
    case 0x013c: return LAB_REF;
    }
    return LAB_BELL;
}

void lab_arch_bump(int cpu, int i, uint64_t n)
{
    LabArch *a = &lab_arch[cpu];
    int width = lab_options()->width;
    uint64_t sum = a->pmc[i] + n;
    a->pmc[i] = sum & lab_mask(width);
    if (sum >> width) {
        a->global_status |= 1ULL << i;
        if (a->evtsel[i] & LAB_INTERRUPT) {
            lab_pmi(cpu);
        }
    }
}

void lab_fixed_bump(int cpu, int i, uint64_t n)
{
    LabArch *a = &lab_arch[cpu];
    int width = lab_options()->width;
    uint64_t sum = a->fixed[i] + n;
    a->fixed[i] = sum & lab_mask(width);
    if (sum >> width) {
        a->global_status |= 1ULL << (32 + i);
        if (a->fixed_ctrl >> (4 * i) & 8) {
            lab_pmi(cpu);
        }
    }
}
