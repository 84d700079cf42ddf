/*
 * The options of the boot script, and the state of all vCPUs. Every other file
 * may call this one, which calls none.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"

LabArch lab_arch[LAB_MAX_CPUS];
LabP4 lab_p4[LAB_MAX_CPUS];
LabLoad lab_load[LAB_MAX_CPUS];

static LabOptions options;

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static void read_options(void)
{
    const char *kind = getenv("LAB_PMU");
    options.amd = kind && !strcmp(kind, "amd");
    options.kind = !kind ? LAB_NONE : !strcmp(kind, "p4") ? LAB_P4 :
                   options.amd || !strcmp(kind, "arch") ? LAB_ARCH : LAB_NONE;
    bool p4 = options.kind == LAB_P4, amd = options.amd;
    options.version = number("LAB_PMU_VERSION", amd ? 1 : 4);
    options.gp = MIN(number("LAB_PMU_GP", amd ? 6 : 4), LAB_MAX_GP);
    options.fixed = number("LAB_PMU_FIXED", amd ? 0 : 3);
    options.width = p4 ? 40 : amd ? 48 : number("LAB_PMU_WIDTH", 48);
    options.any_deprecated = number("LAB_PMU_ANYDEPRECATED", 0);
    options.by_time = number("LAB_PMU_TIME", 0);
    options.xclk_ratio = MAX(number("LAB_PMU_XCLK_RATIO", 1), 1);
    options.slots = number("LAB_PMU_SLOTS", 0);
    options.metrics = MIN(number("LAB_PMU_METRICS", 4), LAB_FIELDS);
    options.energy = options.kind != LAB_NONE && number("LAB_PMU_ENERGY", 0);
    /* Numbers with commas between them. */
    for (const char *at = getenv("LAB_PMU_ATOMS"); at && *at; ) {
        int cpu = atoi(at);
        if (cpu >= 0 && cpu < LAB_MAX_CPUS) {
            options.atom[cpu] = options.hybrid = true;
        }
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    const char *trace = getenv("LAB_PMU_TRACE");
    options.trace = trace ? fopen(trace, "w") : NULL;
    if (options.trace) {
        setvbuf(options.trace, NULL, _IOLBF, 0);
    }
}

const LabOptions *lab_options(void)
{
    static bool known;
    if (!known) {
        known = true;
        read_options();
    }
    return &options;
}

bool lab_is_off(void)
{
    return lab_options()->kind == LAB_NONE;
}

int lab_threads(CPUState *cs)
{
    return cs->nr_threads ? cs->nr_threads : 1;
}

int lab_first_sibling(CPUState *cs)
{
    return cs->cpu_index / lab_threads(cs) * lab_threads(cs);
}

uint64_t lab_cycles_per_1000(const LabLoad *load)
{
    return load->milli_cpi ? load->milli_cpi : 3000;
}
