#!/usr/bin/env python3
"""Checks a file of `pacman-pmu validate -o FILE.json` and prints its rows for overcounts.tsv.

    python3 contributed.py counters.json

A row needs a kernel whose count is known to the last one, and three repeats without disturbance. A file with a field
that the command does not write is refused: it may hold what its owner did not mean to give away.
"""
import json
import pathlib
import re
import statistics
import sys

DOCUMENT = {"processor", "cpu", "repeats", "exit_status", "events"}
PROCESSOR = {"name", "table", "title", "vendor", "family", "model", "stepping"}
EVENT = {"event", "kernel", "unit", "native", "verdict", "text", "factor", "spread", "error", "read_path", "doubt",
         "disturbed", "samples"}
SAMPLE = {"low", "high", "counted"}
# The portable events whose kernels are straight code, and the kernels.
EXACT = {"INSTRUCTIONS": "instructions", "BRANCHES": "branches", "LOADS": "loads", "STORES": "stores"}


class Refused(Exception):
    pass


def fields(what, value, allowed):
    if not isinstance(value, dict):
        raise Refused(f"{what} is no object")
    for odd in sorted(value.keys() ^ allowed):
        raise Refused(f"{what} {'lacks' if odd in allowed else 'has the unknown field'} {odd!r}")


def rows(document, tables):
    fields("the file", document, DOCUMENT)
    processor = document["processor"]
    fields("processor", processor, PROCESSOR)
    if processor["table"] not in tables:
        raise Refused(f"no table {processor['table']!r}")
    name = re.sub(r"\((R|TM|tm)\)|\bCPU\b|@.*", "", str(processor["name"]))
    name = re.sub(r"\s+", " ", name).strip()
    if not re.fullmatch(r"[\w .,+-]{3,80}", name):
        raise Refused(f"the processor's name {name!r} is no processor's")
    for event in document["events"]:
        fields("an event", event, EVENT)
        for sample in event["samples"]:
            fields("a sample", sample, SAMPLE)
            if not all(type(number) is int for number in sample.values()):
                raise Refused(f"{event['event']}: a sample is no whole number")
        if EXACT.get(event["event"]) != event["kernel"] or event["doubt"] or event["disturbed"]:
            continue
        truths = {sample[bound] for sample in event["samples"] for bound in ("low", "high")}
        counts = [sample["counted"] for sample in event["samples"]]
        if len(truths) != 1 or len(counts) < 3:
            continue
        expected = truths.pop()
        over = round(statistics.median(counts)) - expected
        if abs(over) >= expected:
            raise Refused(f"{event['event']} is off by {over} of {expected}, which is no overcount")
        yield [processor["table"], event["event"], expected, over, "-", "-", max(counts) - min(counts), len(counts),
               name]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    path = pathlib.Path(sys.argv[1])
    models = pathlib.Path(__file__).resolve().parent / "models.tsv"
    tables = {line.split("\t")[0] for line in models.read_text().splitlines() if line[:1] != "#"}
    try:
        found = list(rows(json.loads(path.read_text()), tables))
    except (OSError, ValueError, Refused) as error:
        sys.exit(f"cannot take {path}: {error}")
    if not found:
        sys.exit(f"cannot take {path}: no event was counted on an exact kernel without disturbance")
    for row in found:
        print(*row, f"contributed@{path.stem}", sep="\t")


if __name__ == "__main__":
    main()
