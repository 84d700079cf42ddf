#!/usr/bin/env python3
"""Compares this project's codes with the newest tables of libpfm4 and of Intel's perfmon.

    git clone https://github.com/wcohen/libpfm4 && make -C libpfm4 lib
    git clone https://github.com/intel/perfmon
    cargo build -p pacman-events --example encodings
    tests/tool_names/oracles.py target/debug/examples/encodings --libpfm4 libpfm4 --perfmon perfmon

libpfm4 has the tables of one architecture. `make -C lib ARCH=arm64 libpfm.a` builds those of Arm on any
machine, and `ARCH=powerpc` those of POWER. `--libpfm4` may be repeated.

Each name of an oracle resolves to the oracle's registers, or a row of docs/names.md, or a row of
oracles.tsv beside this script, says why not. The script fails if a difference has no row.
"""
import argparse
import collections
import csv
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent

# libpfm4's PMUs and the tables of their processors.
PMUS = {
    "netburst": "p4-northwood", "netburst_p": "p4-prescott", "core": "core2", "atom": "bnl",
    "nhm": "nhm-ep", "nhm_ex": "nhm-ex", "wsm": "wsm-ep-sp", "wsm_dp": "wsm-ep-dp", "snb": "snb",
    "snb_ep": "jkt", "ivb": "ivb", "ivb_ep": "ivt", "hsw": "hsw", "hsw_ep": "hsx", "bdw": "bdw",
    "bdw_ep": "bdx", "skl": "skl", "skx": "skx", "clx": "clx", "icl": "icl", "icx": "icx",
    "spr": "spr", "emr": "emr", "gnr": "gnr", "adl_glc": "adl-goldencove",
    "adl_grt": "adl-gracemont", "slm": "slm", "glm": "glm", "tmt": "snr", "knl": "knl",
    "knm": "knl", "knc": "knc", "amd64_k7": "k7", "amd64_k8_revg": "k8",
    "amd64_fam10h_istanbul": "fam10h", "amd64_fam11h_turion": "fam11h",
    "amd64_fam12h_llano": "fam12h", "amd64_fam14h_bobcat": "fam14h",
    "amd64_fam15h_interlagos": "fam15h", "amd64_fam16h": "fam16h", "amd64_fam17h_zen1": "zen1",
    "amd64_fam17h_zen2": "zen2", "amd64_fam19h_zen3": "zen3", "amd64_fam19h_zen4": "zen4",
    "amd64_fam1ah_zen5": "zen5", "amd64_fam1ah_zen6": "zen6",
    "arm_ac72": "cortex-a72", "arm_ac76": "cortex-a76", "arm_n1": "neoverse-n1",
    "arm_n2": "neoverse-n2", "arm_n3": "neoverse-n3", "arm_v1": "neoverse-v1",
    "arm_v2": "neoverse-v2", "arm_v3": "neoverse-v3", "arm_thunderx2": "thunderx2",
    "arm_a64fx": "a64fx", "arm_monaka": "monaka", "arm_kunpeng": "tsv110",
    "arm_olympus": "olympus", "power8": "power8", "power9": "power9", "power10": "power10",
}

# USR, OS, INT and EN of PERFEVTSEL, and the rings of both threads of an ESCR.
FLAGS = 0x73_0000 & ~0x20_0000
RINGS = 0xF
# The bits of PMEVTYPER above the event, and none of a code of POWER.
MASKS = {"netburst": RINGS, "arm": ~0xFFFF, "power": 0}


def ours(encoder, names):
    """The states and words of (table, name) pairs."""
    text = "".join(f"{table}\t{name}\n" for table, name in names)
    run = subprocess.run([encoder], input=text, text=True, stdout=subprocess.PIPE, check=True)
    rows = [line.split("\t") for line in run.stdout.splitlines()]
    return {(t, n): (state, int(a, 16), int(b, 16)) for t, n, state, a, b in rows}


def libpfm4(source):
    """(table, name, code, register) of all that the library encodes."""
    with tempfile.TemporaryDirectory() as folder:
        lister = pathlib.Path(folder) / "list"
        compile_ = ["cc", "-std=gnu11", "-I", source / "include", "-o", lister,
                    HERE / "libpfm4.c", source / "lib" / "libpfm.a"]
        subprocess.run(compile_, check=True)
        environment = {**os.environ, "LIBPFM_ENCODE_INACTIVE": "1"}
        run = subprocess.run([lister, "--pairs", *PMUS], env=environment, text=True,
                             stdout=subprocess.PIPE, check=True)
    for line in run.stdout.splitlines():
        pmu, name, error, first, second = line.split("\t")
        if error == "0":
            mask = next((mask for kind, mask in MASKS.items() if pmu.startswith(kind)), FLAGS)
            yield PMUS[pmu], name, int(first, 16) & ~mask, int(second, 16)


def perfmon_tables(source):
    """The table of each core event file of mapfile.csv."""
    with open(source / "mapfile.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["EventType"] not in ("core", "hybridcore", "atom", "core experimental"):
                continue
            path = row["Filename"].lstrip("/")
            model = path.split("/")[0].lower()
            core = path.rsplit("_", 2)[-2] if row["EventType"] == "hybridcore" else None
            # Alder Lake-N has efficient cores alone, and their list.
            yield path, f"{model}-{core}" if core else "adl-gracemont" if model == "adl" else model


def number(text):
    return int(text.split(",")[0].strip(), 0)


def perfmon(source):
    """(table, name, code, register) of all core events of the newest lists."""
    for path, table in sorted(set(perfmon_tables(source))):
        document = json.loads((source / path).read_text())
        for event in document["Events"] if isinstance(document, dict) else document:
            name, code, umask = event["EventName"], number(event["EventCode"]), number(event["UMask"])
            counter = event["Counter"]
            register = number(event.get("MSRValue", "0")) if number(event.get("MSRIndex", "0")) else 0
            select = (code | umask << 8 | number(event.get("EdgeDetect", "0")) << 18
                      | number(event.get("AnyThread", "0")) << 21
                      | number(event.get("Invert", "0")) << 23
                      | number(event.get("CounterMask", "0")) << 24
                      | number(event.get("Equal", "0")) << 36
                      | number(event.get("UMaskExt", "0")) << 40)
            fixed = re.search(r"fixed counter *(\d)", counter, re.IGNORECASE)
            yield table, name, None if fixed or (code == 0 and umask) else select, register


def explained():
    """The rows of both tables of differences: {(name, table): ours}."""
    rows = {}
    for line in (PROJECT / "docs/names.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 5:
            for table in cells[1].split(", "):
                rows[cells[0].strip("`"), table] = cells[2].strip("`").split()[0]
    with open(HERE / "oracles.tsv", newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        for row in csv.DictReader(lines, delimiter="\t"):
            for table in row["tables"].split(","):
                for name in row["names"].split(","):
                    rows[name, table] = row["ours"]
    return rows


def has_row(rows, name, table):
    """Whether the name has a row for the table, itself or by a pattern with `*`."""
    if (name, table) in rows:
        return True
    return any(place == table and "*" in pattern and fnmatch.fnmatchcase(name, pattern)
               for pattern, place in rows)


def compare(title, encoder, oracle, rows):
    oracle = list(oracle)
    mine = ours(encoder, {(table, name) for table, name, _, _ in oracle})
    counts = collections.defaultdict(lambda: [0, 0, 0])
    lacking = []
    for table, name, code, register in oracle:
        state, first, second = mine[table, name]
        sums = [counts[table], counts["all"]]
        for count in sums:
            count[0] += 1
        if state not in ("ok", "sum"):
            if not has_row(rows, name, table):
                lacking.append(f"{table}\t{name}\t{state}\t{code or 0:#x}\t{register:#x}")
            continue
        mask = RINGS if table.startswith("p4") else 0
        same = state == "ok" and (code is None or (first & ~mask, second) == (code, register))
        for count in sums:
            count[1] += 1
            count[2] += same
        if not same and not has_row(rows, name, table):
            lacking.append(f"{table}\t{name}\t{first & ~mask:#x} {second:#x}\t{code or 0:#x}\t{register:#x}")
    for table, (names, resolve, same) in counts.items():
        print(f"{title} {table}: {names} names, {resolve} resolve ({100 * resolve / names:.2f} %), "
              f"{same} to the same registers ({100 * same / names:.2f} %)")
    for line in lacking:
        print(f"{title} without a row: {line}")
    return len(lacking)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("encoder", type=pathlib.Path, help="target/debug/examples/encodings")
    arguments.add_argument("--libpfm4", type=pathlib.Path, action="append", default=[],
                           help="a source tree with lib/libpfm.a")
    arguments.add_argument("--perfmon", type=pathlib.Path, help="a checkout of intel/perfmon")
    options = arguments.parse_args()
    rows = explained()
    lacking = 0
    for source in options.libpfm4:
        lacking += compare("libpfm4", options.encoder, libpfm4(source), rows)
    if options.perfmon:
        lacking += compare("perfmon", options.encoder, perfmon(options.perfmon), rows)
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
