/*
 * The state of the lab's performance monitoring units, and the functions that
 * change it, by file.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef LAB_STATE_H
#define LAB_STATE_H

#include "qemu/osdep.h"
#include "cpu.h"
#include "hw/core/cpu.h"
#include "lab.h"

#define LAB_MAX_CPUS 64
#define LAB_MAX_GP 8
#define LAB_MAX_FIXED 4
#define LAB_RATES 16
#define LAB_P4_COUNTERS 18
/* The fields of PERF_METRICS. */
#define LAB_FIELDS 8
/* Bits of an event select: interrupt on overflow; edge, invert and counter mask. */
#define LAB_INTERRUPT (1ULL << 20)
#define LAB_SHAPE 0xff840000ULL

typedef enum { LAB_NONE, LAB_ARCH, LAB_P4 } LabKind;

/* The events that count by themselves, by the index of their fixed counter. */
enum { LAB_INSN, LAB_CYC, LAB_REF, LAB_SLOTS, LAB_BELL = -1 };

/* Requests of the boot script, from the environment. */
typedef struct {
    LabKind kind;
    bool amd;
    bool by_time;
    int version;
    int gp, fixed;
    int width;
    int any_deprecated;
    int xclk_ratio;
    /* Slots a cycle; 0 without top-down. */
    int slots;
    int metrics;
    bool energy;
    /* The small cores of a hybrid, by vCPU. */
    bool hybrid;
    bool atom[LAB_MAX_CPUS];
    FILE *trace;
} LabOptions;

/* Architectural and AMD registers, and the instructions retired, of one vCPU. */
typedef struct {
    uint64_t evtsel[LAB_MAX_GP], pmc[LAB_MAX_GP], fixed[LAB_MAX_FIXED];
    uint64_t fixed_ctrl, global_ctrl, global_status;
    uint64_t offcore[2], frontend, load_latency;
    uint64_t last, insns[2];
    /* Slots of each PERF_METRICS field since the reset, in 1/LAB_FRACTION. */
    unsigned __int128 part[LAB_FIELDS];
    bool pmi_pending;
} LabArch;

/* NetBurst's registers, shared by the hardware threads of a core. */
typedef struct {
    uint64_t ctr[LAB_P4_COUNTERS], cccr[LAB_P4_COUNTERS], escr[0x44];
    uint64_t pebs_enable, pebs_matrix;
} LabP4;

typedef struct {
    uint64_t selector, per_million, rest;
} LabRate;

/* Requests of a program at the doorbell, for one vCPU. */
typedef struct {
    LabRate rate[LAB_RATES];
    uint64_t milli_cpi, cycle_rest;
    uint16_t fraction[LAB_FIELDS];
    bool fractions_set;
} LabLoad;

/* The unit of the doorbell's top-down fractions. */
#define LAB_FRACTION 10000

extern LabArch lab_arch[LAB_MAX_CPUS];
extern LabP4 lab_p4[LAB_MAX_CPUS];
extern LabLoad lab_load[LAB_MAX_CPUS];

/* The files follow in their order of calls: each calls earlier files only. */

/* state.c */
const LabOptions *lab_options(void);
bool lab_is_off(void);
int lab_threads(CPUState *cs);
int lab_first_sibling(CPUState *cs);
uint64_t lab_cycles_per_1000(const LabLoad *load);

static inline uint64_t lab_mask(int width)
{
    return (1ULL << width) - 1;
}

/* pmi.c */
void lab_pmi(int cpu);
void lab_pmi_deliver(CPUState *cs);

/* energy.c */
bool lab_energy_read(CPUState *cs, uint32_t msr, uint64_t *value);
bool lab_energy_ring(CPUState *cs, uint32_t domain, uint64_t milliwatts);

/* counters.c */
int lab_gp(int cpu);
int lab_fixed(int cpu);
bool lab_arch_on(int cpu, int i, bool user);
bool lab_fixed_on(int cpu, int i, bool user);
int lab_arch_source(uint64_t evtsel);
void lab_arch_bump(int cpu, int i, uint64_t n);
void lab_fixed_bump(int cpu, int i, uint64_t n);

/* topdown.c */
bool lab_has_topdown(int cpu);
void lab_topdown_add(int cpu, bool user, uint64_t cycles);
void lab_topdown_slots_written(int cpu, uint64_t value);
void lab_topdown_metrics_written(int cpu, uint64_t value);
uint64_t lab_topdown_metrics(int cpu);
bool lab_topdown_ring(int cpu, uint64_t level1, uint64_t level2);

/* arch.c */
void lab_arch_add(int who, int cpu, bool user, uint64_t insns, uint64_t cycles);
void lab_arch_bell(int who, int cpu, uint64_t selector, uint64_t n);
uint64_t lab_arch_left(int cpu, bool user);
bool lab_arch_read(int cpu, uint32_t msr, uint64_t *value);
bool lab_arch_write(int cpu, uint32_t msr, uint64_t value);
bool lab_arch_rdpmc(int cpu, uint32_t index, uint64_t *value);

/* netburst.c */
bool lab_p4_counts(LabP4 *p, int i, int thread, bool user, int active,
                   int *escr_msr, uint32_t *escr);
bool lab_p4_non_sleep(uint32_t cccr);
int lab_p4_active(CPUState *cs);
void lab_p4_bump(int core, int i, uint64_t n);
void lab_p4_add(CPUState *cs, bool user, uint64_t insns, uint64_t cycles);
void lab_p4_bell(CPUState *cs, uint64_t selector, uint64_t n);
uint64_t lab_p4_left(CPUState *cs, bool user);
bool lab_p4_read(CPUState *cs, uint32_t msr, uint64_t *value);
bool lab_p4_write(CPUState *cs, uint32_t msr, uint64_t value);
bool lab_p4_rdpmc(CPUState *cs, uint32_t index, uint64_t *value);

/* clock.c */
void lab_clock(CPUState *cs);

/* account.c */
void lab_sync(CPUX86State *env);
void lab_bell(CPUState *cs, uint64_t selector, uint64_t n);

/* turns.c */
void lab_bound(CPUState *cs, bool user);

#endif
