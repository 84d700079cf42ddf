#!/usr/bin/env python3
"""Rewrite the tables of Arm, POWER and s390x from checkouts of their sources.

    git clone https://github.com/icl-utk-edu/papi
    git clone https://github.com/ARM-software/data arm-data
    python3 import_codes.py papi/src/libpfm4 arm-data

An event of these processors is one code. The tables are arm/*.tsv, power/*.tsv and
s390x/*.tsv. Their rows of models.tsv and cpuid.tsv replace those that are there; other
families' rows stay. Names of libpfm4 that Arm's lists spell otherwise become aliases.
"""
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
EVENT_COLUMNS = ["event", "select", "counters", "smt_off", "fixed", "value", "flags", "errata"]

# The bit of PMCNTENSET_EL0 that PMCCNTR_EL0 has, and the event that it counts.
CYCLE_COUNTER, CPU_CYCLES = 31, 0x11
# The event that makes two counters one. Linux pairs them itself and refuses it.
CHAIN = 0x1E

# Arm: table, aliases, MIDR implementer and parts, counters, contexts of a core, groups, list of
# ARM-software/data, list of libpfm4, title. Counters: libpfm4's num_cntrs, but Arm's own list
# where that has them. Contexts: the vendors' manuals.
ARM = [
    ("cortex-a65", "a65", 0x41, [0xD06], 6, 2, "", "cortex-a65", None, "Cortex-A65"),
    ("cortex-a65ae", "a65ae", 0x41, [0xD43], 6, 2, "", "cortex-a65ae", None, "Cortex-A65AE"),
    ("cortex-a72", "a72", 0x41, [0xD08], 6, 1, "", "cortex-a72", "arm_cortex_a57", "Cortex-A72"),
    ("cortex-a76", "a76", 0x41, [0xD0B], 6, 1, "", "cortex-a76", "arm_cortex_a76", "Cortex-A76"),
    ("neoverse-e1", "e1", 0x41, [0xD4A], 6, 2, "", "neoverse-e1", None, "Neoverse E1"),
    ("neoverse-n1", "n1,graviton2,altra", 0x41, [0xD0C], 6, 1, "", "neoverse-n1",
     "arm_neoverse_n1", "Neoverse N1"),
    ("neoverse-n2", "n2,cobalt100", 0x41, [0xD49], 6, 1, "armslots", "neoverse-n2", "arm_neoverse_n2",
     "Neoverse N2"),
    ("neoverse-n3", "n3", 0x41, [0xD8E], 6, 1, "armslots", "neoverse-n3", "arm_neoverse_n3",
     "Neoverse N3"),
    ("neoverse-v1", "v1,graviton3", 0x41, [0xD40], 6, 1, "armslots", "neoverse-v1",
     "arm_neoverse_v1", "Neoverse V1"),
    ("neoverse-v2", "v2,grace,graviton4", 0x41, [0xD4F], 6, 1, "armslots", "neoverse-v2",
     "arm_neoverse_v2", "Neoverse V2"),
    # V3AE has the events of V3.
    ("neoverse-v3", "v3,v3ae", 0x41, [0xD84, 0xD83], 6, 1, "armslots", "neoverse-v3", "arm_neoverse_v3",
     "Neoverse V3"),
    ("thunderx2", "tx2,vulcan", 0x43, [0xAF], 6, 4, "", None, "arm_cavium_tx2", "ThunderX2"),
    ("a64fx", "-", 0x46, [0x1], 8, 1, "", None, "arm_fujitsu_a64fx", "A64FX"),
    ("monaka", "-", 0x46, [0x3], 8, 1, "", None, "arm_fujitsu_monaka", "FUJITSU-MONAKA"),
    ("tsv110", "kunpeng,kunpeng920", 0x48, [0xD01], 12, 1, "", None, "arm_hisilicon_kunpeng",
     "Kunpeng 920 (TaiShan v110)"),
    ("olympus", "vera,nvidia-olympus", 0x4E, [0x10], 6, 2, "armslots", None,
     "arm_nvidia_olympus", "NVIDIA Olympus (Vera)"),
]
# Armv9, which has 64-bit event counters (PMUv3p5). Those before have 32 bits; the cycle counter has 64.
WIDE = {"neoverse-n2", "neoverse-n3", "neoverse-v2", "neoverse-v3", "monaka", "olympus"}
# Broadcom's number of the processor that Cavium bought, and Microsoft's Azure Cobalt 100.
MORE_PARTS = {"thunderx2": [(0x42, 0x516)], "neoverse-n2": [(0x6D, 0xD49)]}

# POWER: table, aliases, versions of the PVR, title. PMC1 to PMC4 are general, PMC5 and PMC6 count
# instructions and cycles.
POWER = [
    ("power8", "-", [0x4B, 0x4C, 0x4D], "POWER8"),
    ("power9", "-", [0x4E], "POWER9"),
    ("power10", "power11", [0x80, 0x82], "POWER10 and POWER11"),
]

# s390x: table, machine types, first version of the counter facility, whether the crypto set has the
# counters of elliptic curves, contexts of a core, title.
S390X = [
    ("z10", [2097, 2098], 1, False, 1, "IBM System z10"),
    ("z196", [2817, 2818], 1, False, 1, "IBM zEnterprise 196 and 114"),
    ("zec12", [2827, 2828], 1, False, 1, "IBM zEnterprise EC12 and BC12"),
    ("z13", [2964, 2965], 1, False, 2, "IBM z13"),
    ("z14", [3906, 3907], 3, False, 2, "IBM z14"),
    ("z15", [8561, 8562], 3, True, 2, "IBM z15"),
    ("z16", [3931, 3932], 3, True, 2, "IBM z16"),
    ("z17", [9175, 9176], 3, True, 2, "IBM z17"),
]


def fold(name):
    return name.lower().replace(":", ".")


def revision(checkout):
    """The commit of a checkout, so that the tables say what they were made from."""
    run = subprocess.run(["git", "-C", checkout, "rev-parse", "--short", "HEAD"],
                         capture_output=True, text=True)
    return run.stdout.strip() or "unknown revision"


def header(libpfm4, name):
    """A header of libpfm4 without comments."""
    text = (libpfm4 / f"lib/events/{name}_events.h").read_text()
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def arm_entries(libpfm4, name):
    pattern = r'\.name\s*=\s*"([^"]+)".*?\.code\s*=\s*(0x[0-9a-fA-F]+|\d+)'
    found = re.findall(pattern, header(libpfm4, name), re.S)
    return [(event, int(code, 0)) for event, code in found]


def power_entries(libpfm4, name):
    pattern = r'\.pme_name\s*=\s*"([^"]+)",\s*\.pme_code\s*=\s*(0x[0-9a-fA-F]+|\d+)'
    return [(event, int(code, 0)) for event, code in re.findall(pattern, header(libpfm4, name))]


def s390x_sets(libpfm4):
    text = header(libpfm4, "s390x_cpumf")
    sets = re.findall(r"pme_cpumf_ctr_t cpumcf_(\w+)_counters\[\] = \{(.*?)\n\};", text, re.S)
    pattern = r'\.ctrnum\s*=\s*(\d+),.*?\.name\s*=\s*"([^"]+)"'
    return {name: [(event, int(number)) for number, event in re.findall(pattern, body, re.S)]
            for name, body in sets}


def write(path, rows, comments):
    path.parent.mkdir(exist_ok=True)
    with open(path, "w", newline="\n") as file:
        file.writelines(f"# {comment}\n" for comment in comments)
        file.write("\t".join(EVENT_COLUMNS) + "\n")
        for row in sorted(rows, key=lambda row: fold(row["event"])):
            file.write("\t".join(str(row.get(column, "-")) for column in EVENT_COLUMNS) + "\n")


def replace(file, column, values, lines):
    """Rewrites the rows of a file whose column has one of the values; the table `linux` stays last."""
    path = HERE / file
    old = path.read_text().splitlines()
    columns = next(line for line in old if not line.startswith("#")).split("\t")
    at = columns.index(column)
    kept = [line for line in old if line.startswith("#") or line.split("\t")[at] not in values]
    end = next((i for i, line in enumerate(kept) if line.startswith("linux\t")), len(kept))
    path.write_text("\n".join(kept[:end] + lines + kept[end:]) + "\n")


def model(table, aliases, family, groups, smt, general, fixed, width, title):
    return "\t".join([table, aliases or "-", family, groups, str(smt), hex(general), hex(general),
                      hex(fixed), str(width), "-", "no", "no", "-", title])


def arm_list(table, arm_data, libpfm4, ours, theirs):
    """(event, code) of a table, what it is made from, and libpfm4's further spellings."""
    other = arm_entries(libpfm4, theirs) if theirs else []
    if ours is None:
        return other, f"{theirs} of libpfm4 (PAPI {revision(libpfm4)}); MIT", []
    document = json.loads((arm_data / f"pmu/{ours}.json").read_text())
    events = [(event["name"], event["code"]) for event in document["events"] if "name" in event]
    known = {name for name, _ in events}
    source = (f"ARM-software/data {revision(arm_data)}, pmu/{ours}.json; Apache-2.0,"
              " (c) Arm Limited")
    return events, source, [(name, code) for name, code in other if name not in known]


def arm(libpfm4, arm_data):
    models, cpuids, aliases = [], [], {}
    for table, names, implementer, parts, count, smt, group, ours, theirs, title in ARM:
        general = (1 << count) - 1
        # Where threads share a core, PMCCNTR_EL0 counts the clock of the core and not of the thread.
        fixed = 1 << CYCLE_COUNTER if smt == 1 else 0
        events, source, spellings = arm_list(table, arm_data, libpfm4, ours, theirs)
        rows = [dict(event=event, select=hex(code), counters=hex(general), smt_off=hex(general),
                     fixed=CYCLE_COUNTER if code == CPU_CYCLES and fixed else "-")
                for event, code in events if code != CHAIN]
        write(HERE / f"arm/{table}.tsv", rows, [source])
        groups = ",".join(filter(None, ["arm", "armsmt" if smt > 1 else "", group]))
        width = 64 if table in WIDE else 32
        models.append(model(table, names, "arm", groups, smt, general, fixed, width, title))
        for vendor, part in [(implementer, part) for part in parts] + MORE_PARTS.get(table, []):
            cpuids.append(f"0x{vendor:02x}\t8\t{part:#05x}\t-\t-\t{table}")
        named = {code: event for event, code in reversed(events)}
        for name, code in spellings:
            if code != CHAIN:
                aliases.setdefault((name, named.get(code, f"r{code:x}")), []).append(table)
    return models, cpuids, aliases


def power(libpfm4):
    models, cpuids = [], []
    for table, names, versions, title in POWER:
        rows = []
        for event, code in power_entries(libpfm4, table):
            pmc = code >> 16 & 0xF
            general = 0x1E if pmc == 0 else 1 << pmc if pmc < 5 else 0
            rows.append(dict(event=event, select=hex(code), counters=hex(general),
                             smt_off=hex(general), fixed=pmc if pmc > 4 else "-"))
        write(HERE / f"power/{table}.tsv", rows, [
            f"{table} of libpfm4 (PAPI {revision(libpfm4)}), names and codes; MIT",
            "select is Linux's raw code: PMC in bits 19:16, 0 for any of PMC1 to PMC4"])
        # Power ISA: PMCs have 32 bits. A core has up to eight threads.
        models.append(model(table, names, "power", "power", 8, 0x1E, 0x60, 32, title))
        cpuids += [f"POWER\t0\t{version:#06x}\t-\t-\t{table}" for version in versions]
    return models, cpuids


def s390x(libpfm4):
    models, cpuids = [], []
    sets = s390x_sets(libpfm4)
    for table, machines, first, curves, smt, title in S390X:
        crypto = [(name, number) for name, number in sets["svn_generic"] if number < 80 or curves]
        # The set of MT diagnosis counts for the core, whichever thread reads it.
        rows = [dict(event=name, select=number, flags="core" if 448 <= number < 512 else "-")
                for name, number in sets[f"fvn{first}"] + crypto + sets[table]]
        write(HERE / f"s390x/{table}.tsv", rows, [
            f"s390x_cpumf of libpfm4 (PAPI {revision(libpfm4)}); MIT",
            "select is the number of the counter, which counts nothing else"])
        models.append(model(table, "-", "s390x", "s390x", smt, 0, 0, 64, title))
        cpuids += [f"IBM/S390\t0\t{machine}\t-\t-\t{table}" for machine in machines]
    return models, cpuids


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    libpfm4, arm_data = map(pathlib.Path, sys.argv[1:])
    parts = [arm(libpfm4, arm_data), power(libpfm4), s390x(libpfm4)]
    models = [line for part in parts for line in part[0]]
    replace("models.tsv", "family", {"arm", "power", "s390x"}, models)
    tables = {line.split("\t")[0] for line in models}
    replace("cpuid.tsv", "table", tables, [line for part in parts for line in part[1]])
    for (name, event), names in sorted(parts[0][2].items()):
        print("\t".join([name, ",".join(names), event]))


if __name__ == "__main__":
    main()
