/*
 * Shared by the probes: programs that run in the lab's guest and hold the emulator against Linux's
 * own drivers. Each prints what it saw and ends with status 0 if all was as it should be.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PROBE_H
#define PROBE_H

#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __aarch64__
#include "probe_arm.h"
#else
#include "probe_x86.h"
#endif

static inline int perf_open(struct perf_event_attr *attr, int pid, int cpu, int leader)
{
    attr->size = sizeof(*attr);
    return syscall(SYS_perf_event_open, attr, pid, cpu, leader, 0);
}

static inline void run_on(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set)) {
        perror("sched_setaffinity");
        exit(2);
    }
}

static int failures;

/* Whether a number lies between two others; the probe fails otherwise. */
static inline void expect(const char *what, double value, double least, double most)
{
    int good = value >= least && value <= most;
    printf("%-4s %s: %.15g, expected %.15g to %.15g\n", good ? "ok" : "BAD", what, value, least, most);
    failures += !good;
}

/* The number in a file of sysfs; -1 without the file. */
static inline int number_in(const char *path)
{
    int number = -1;
    FILE *file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%d", &number) != 1) {
            number = -1;
        }
        fclose(file);
    }
    return number;
}

static inline int finish(void)
{
    printf(failures ? "PROBE FAILED\n" : "PROBE OK\n");
    return failures != 0;
}

#endif
