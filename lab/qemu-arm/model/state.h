/*
 * The state of the Arm lab's PMU, and who changes it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef LAB_STATE_H
#define LAB_STATE_H

#include "qemu/osdep.h"
#include "cpu.h"
#include "internals.h"
#include "hw/core/cpu.h"
#include "lab.h"

#define LAB_MAX_CPUS 8

/* The events that count by themselves. */
enum {
    LAB_SW_INCR = 0x00,
    LAB_INST_RETIRED = 0x08,
    LAB_CPU_CYCLES = 0x11,
    LAB_INST_SPEC = 0x1b,
    LAB_CHAIN = 0x1e,
    LAB_BR_RETIRED = 0x21,
    LAB_CPU_SLOT = 0x1e1,
};

/* Requests of the boot script, from the environment. */
typedef struct {
    bool by_time;
    /* Event counters; 0 for as many as the processor has. */
    int gp;
    /* Slots a cycle; 0 without CPU_SLOT. */
    int slots;
    /* Announced events beyond those that count by themselves: a bit for each number. */
    uint64_t events;
} LabOptions;

typedef struct {
    uint16_t event;
    uint64_t per_million, rest;
} LabRate;

/* The work of one vCPU until its last synchronisation. */
typedef struct {
    uint64_t last;
    /* By privilege: kernel, user. */
    uint64_t insns[2];
    uint64_t cycles, half_slots;
    /* Of the core, kept by its first thread. */
    uint64_t core_cycles;
    int64_t core_last;
    /* By the doorbell. */
    uint64_t *rung;
    LabRate *rate;
    int rates;
    uint64_t milli_cpi, cycle_rest;
} LabCpu;

extern LabCpu lab_cpu[LAB_MAX_CPUS];

/* counts.c */
const LabOptions *lab_options(void);
LabCpu *lab_of(CPUState *cs);
void lab_sync(CPUARMState *env);
int lab_threads(CPUState *cs);
bool lab_sibling_runs(CPUState *cs);
uint64_t lab_cycles_per_1000(const LabCpu *lab);

#endif
