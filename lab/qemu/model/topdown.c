/*
 * Intel's top-down method, level 1 and 2: fixed counter 3 counts issue slots,
 * PERF_METRICS has the share of each use.
 *
 * The model keeps the slots of each field since the last reset exactly. The
 * register shows them as fractions of fixed counter 3, in 1/255, as hardware
 * does: a program multiplies the two.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state.h"

#define METRICS_ON (1ULL << 48)

bool lab_has_topdown(int cpu)
{
    return lab_options()->slots && lab_fixed(cpu) > LAB_SLOTS;
}

static uint64_t fraction(const LabLoad *load, int field)
{
    /* Quarters, and a level-2 field has half of its parent's. */
    if (!load->fractions_set) {
        return field < 4 ? LAB_FRACTION / 4 : LAB_FRACTION / 8;
    }
    return load->fraction[field];
}

void lab_topdown_add(int cpu, bool user, uint64_t cycles)
{
    LabArch *a = &lab_arch[cpu];
    if (!lab_has_topdown(cpu) || !lab_fixed_on(cpu, LAB_SLOTS, user)) {
        return;
    }
    uint64_t slots = cycles * lab_options()->slots;
    if (a->global_ctrl & METRICS_ON) {
        for (int f = 0; f < lab_options()->metrics; f++) {
            a->part[f] += (unsigned __int128)slots * fraction(&lab_load[cpu], f);
        }
    }
    lab_fixed_bump(cpu, LAB_SLOTS, slots);
}

static uint64_t metric(int cpu, int field, uint64_t slots)
{
    unsigned __int128 whole = (unsigned __int128)slots * LAB_FRACTION;
    if (!whole) {
        return 0;
    }
    uint64_t shown = (lab_arch[cpu].part[field] * 255 + whole / 2) / whole;
    return MIN(shown, 255);
}

uint64_t lab_topdown_metrics(int cpu)
{
    uint64_t value = 0;
    for (int f = 0; f < lab_options()->metrics; f++) {
        value |= metric(cpu, f, lab_arch[cpu].fixed[LAB_SLOTS]) << (8 * f);
    }
    return value;
}

static void restart(int cpu, uint64_t slots, uint64_t metrics)
{
    for (int f = 0; f < LAB_FIELDS; f++) {
        lab_arch[cpu].part[f] =
            (unsigned __int128)slots * (metrics >> (8 * f) & 0xff) * LAB_FRACTION / 255;
    }
}

/*
 * Linux writes both registers, to zero or to what it saved of a thread, slots
 * first. A write of either keeps the other's value, so both orders are valid.
 */
void lab_topdown_slots_written(int cpu, uint64_t value)
{
    restart(cpu, value, lab_topdown_metrics(cpu));
}

void lab_topdown_metrics_written(int cpu, uint64_t value)
{
    restart(cpu, lab_arch[cpu].fixed[LAB_SLOTS], value);
}

/* The doorbell: four fields of 16 bits each, in 1/LAB_FRACTION of the slots. */
bool lab_topdown_ring(int cpu, uint64_t level1, uint64_t level2)
{
    LabLoad *load = &lab_load[cpu];
    if (!lab_has_topdown(cpu)) {
        return false;
    }
    for (int f = 0; f < 4; f++) {
        uint16_t one = level1 >> (16 * f), two = level2 >> (16 * f);
        if (one > LAB_FRACTION || two > LAB_FRACTION) {
            return false;
        }
    }
    for (int f = 0; f < 4; f++) {
        load->fraction[f] = level1 >> (16 * f);
        load->fraction[4 + f] = level2 >> (16 * f);
    }
    load->fractions_set = true;
    return true;
}
