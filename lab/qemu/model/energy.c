/*
 * RAPL: energy counters, which multiply virtual time by the doorbell's power.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"

/* 1/2^14 J a count, as on Intel's clients and on Zen. */
#define ENERGY_UNIT 14
/* DRAM of servers has another unit, which no register contains; Linux knows the models. */
#define SERVER_DRAM_UNIT 16
#define UNITS (10 << 16 | ENERGY_UNIT << 8 | 3)

enum { PACKAGE, CORES, GRAPHICS, DRAM, PLATFORM, DOMAINS };

/* Milliwatts until a program rings the doorbell; Linux ignores a counter that reads 0 at boot. */
static const uint32_t at_first[DOMAINS] = { 20000, 12000, 1000, 3000, 30000 };

typedef struct {
    uint64_t milliwatts;
    /* In 1e-12 J, which is a milliwatt nanosecond. */
    unsigned __int128 used;
} Domain;

static Domain domains[LAB_MAX_CPUS][DOMAINS];
static int64_t since[LAB_MAX_CPUS];
static bool started[LAB_MAX_CPUS];

static int package_of(CPUState *cs)
{
    int threads = lab_threads(cs) * MAX(cs->nr_cores, 1);
    return MIN(cs->cpu_index / threads, LAB_MAX_CPUS - 1);
}

static void account(int package)
{
    int64_t now = lab_icount_now(current_cpu);
    if (!started[package]) {
        started[package] = true;
        for (int d = 0; d < DOMAINS; d++) {
            domains[package][d].milliwatts = at_first[d];
        }
    }
    int64_t ns = MAX(now - since[package], 0);
    since[package] = now;
    for (int d = 0; d < DOMAINS; d++) {
        domains[package][d].used +=
            (unsigned __int128)ns * domains[package][d].milliwatts;
    }
}

static int unit_of(CPUState *cs, int domain)
{
    uint32_t version = X86_CPU(cs)->env.cpuid_version;
    int model = (version >> 4 & 0xf) | (version >> 12 & 0xf0);
    if (lab_options()->amd) {
        return ENERGY_UNIT;
    }
    switch (model) {
    case 0x8f: case 0xcf:
        /* From Sapphire Rapids on, the platform counts whole joules. */
        if (domain == PLATFORM) {
            return 0;
        }
        /* fall through */
    case 0x3f: case 0x4f: case 0x55: case 0x57: case 0x85: case 0x6a: case 0x6c:
        return domain == DRAM ? SERVER_DRAM_UNIT : ENERGY_UNIT;
    }
    return ENERGY_UNIT;
}

static int domain_of(uint32_t msr)
{
    if (lab_options()->amd) {
        return msr == 0xc001029b ? PACKAGE : msr == 0xc001029a ? CORES : -1;
    }
    switch (msr) {
    case 0x611: return PACKAGE;
    case 0x639: return CORES;
    case 0x641: return GRAPHICS;
    case 0x619: return DRAM;
    case 0x64d: return PLATFORM;
    }
    return -1;
}

bool lab_energy_read(CPUState *cs, uint32_t msr, uint64_t *value)
{
    if (!lab_options()->energy) {
        return false;
    }
    if (msr == (lab_options()->amd ? 0xc0010299 : 0x606)) {
        *value = UNITS;
        return true;
    }
    int domain = domain_of(msr);
    if (domain < 0) {
        return false;
    }
    int package = package_of(cs);
    account(package);
    *value = (uint32_t)((domains[package][domain].used << unit_of(cs, domain)) /
                        1000000000000ULL);
    return true;
}

bool lab_energy_ring(CPUState *cs, uint32_t domain, uint64_t milliwatts)
{
    if (!lab_options()->energy || domain >= DOMAINS || milliwatts > UINT32_MAX) {
        return false;
    }
    account(package_of(cs));
    domains[package_of(cs)][domain].milliwatts = milliwatts;
    return true;
}
