"""Reports as frames: nothing is left out, and values are those of the documents."""

from __future__ import annotations

import collections
import json
import tempfile
import unittest
from pathlib import Path
from typing import Any, Counter, Iterator, List

import pandas as pd
from places import REPORTS, SAMPLES, files, report

import pacman_pmu
from pacman_pmu import shapes
from pacman_pmu.columns import shape_of_rows
from pacman_pmu.frames import Builder
from pacman_pmu.layouts import layout
from pacman_pmu.report import read_bytes


def documents(path: Path) -> List[Any]:
    text = path.read_text(encoding="utf-8")
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part)
    elif value is not None:
        yield value


def cells(read: pacman_pmu.Report) -> Counter[Any]:
    found: Counter[Any] = collections.Counter()
    for frame in read.frames.values():
        for name in frame.columns:
            for cell in frame[name]:
                if isinstance(cell, list):
                    found.update(leaves(cell))
                elif not pd.isna(cell):
                    found[cell] += 1
    return found


class Completeness(unittest.TestCase):
    def test_every_value_of_a_document_is_in_a_frame(self) -> None:
        formats = set()
        for path in files(".json"):
            with self.subTest(path.name):
                read = pacman_pmu.read(path)
                formats.add(read.format)
                # Small integers may be positions, for which frames have names.
                values = [
                    value
                    for value in leaves(documents(path))
                    if isinstance(value, (str, float)) or value > 300
                ]
                self.assertEqual(collections.Counter(values) - cells(read), {})
        if REPORTS != SAMPLES:
            self.assertEqual(formats, {*shapes.NAMED, *shapes.UNNAMED})

    def test_every_column_of_every_format_has_a_description_and_a_place_of_its_own(self) -> None:
        for format in (*shapes.NAMED, *shapes.UNNAMED):
            for kind in ("object", "array"):
                known = layout(format)
                builder = Builder(shape_of_rows(shapes.shape(format, kind), known), known)
                for frame, texts in builder.descriptions().items():
                    for column, text in texts.items():
                        self.assertTrue(text, f"{format} {kind}: {frame}.{column}")
                        self.assertFalse(column.endswith("_member"), f"{format}: {frame}.{column}")

    def test_every_layout_names_members_that_the_schema_has(self) -> None:
        for format in (*shapes.NAMED, *shapes.UNNAMED):
            known = layout(format)
            for path in (*known.rows, *known.lifted):
                if path == "notes":
                    continue
                whole = shapes.shape(format, "object")
                for name in path.split("."):
                    if whole.kind == "list" and whole.item is not None:
                        whole = whole.item
                    if name not in whole.members:
                        # An object whose members are rows.
                        whole = next(iter(whole.members.values()))
                    self.assertIn(name, whole.members, f"{format}: {path}")
                    whole = whole.members[name]

    def test_members_that_the_schema_does_not_know_become_columns_and_frames(self) -> None:
        document = documents(report("waits"))[0]
        document["new"] = {"total_s": 1.5, "parts": [{"part": "a", "count": 3}]}
        document["processes"][0]["regions"][0]["new_share"] = 0.25
        read = read_bytes(json.dumps(document).encode())
        self.assertEqual(read.document["new_total_s"].iloc[0], 1.5)
        self.assertEqual(list(read.parts["part"]), ["a"])
        self.assertEqual(read.regions["new_share"].iloc[0], 0.25)


class Values(unittest.TestCase):
    def test_columns_are_the_same_whether_or_not_a_report_has_values(self) -> None:
        full = pacman_pmu.read(report("waits"))
        document = documents(report("waits"))[0]
        document["processes"] = []
        empty = read_bytes(json.dumps(document).encode())
        self.assertEqual(list(full.frames), list(empty.frames))
        for name, frame in full.frames.items():
            self.assertEqual(list(frame.columns), list(empty[name].columns), name)

    def test_states_and_waits_add_up_to_the_time_of_a_thread(self) -> None:
        read = pacman_pmu.read(report("waits"))
        keys = ["process", "region", "thread"]
        self.assertGreater(len(read.waits), 0)
        waited = read.waits.groupby(keys)["time_s"].sum().rename("waited_s").reset_index()
        threads = read.threads.merge(waited, on=keys, how="left").fillna({"waited_s": 0.0})
        whole = threads[["useful_s", "starting_s", "end_s", "waited_s"]].sum(axis=1)
        times = threads.merge(
            read.regions[["process", "region", "time_s"]], on=["process", "region"]
        )
        for mine, region in zip(whole, times["time_s"]):
            self.assertAlmostEqual(mine / region, 1.0, delta=0.05)

    def test_integers_keep_all_digits(self) -> None:
        document = documents(report("stat" if REPORTS != SAMPLES else "counts"))[0]
        document["rows"][0]["counts"][0] = 2**53 + 1
        read = read_bytes(json.dumps(document).encode())
        self.assertEqual(read.counts["count"].iloc[0], 2**53 + 1)
        document["rows"][0]["counts"][0] = 2**64 - 1
        read = read_bytes(json.dumps(document).encode())
        self.assertEqual(read.counts["count"].iloc[0], 2**64 - 1)

    def test_missing_values_are_missing_and_not_zero(self) -> None:
        document = documents(report("stat" if REPORTS != SAMPLES else "counts"))[0]
        document["rows"][0]["counts"][0] = None
        document["rows"][0]["ipc"] = None
        read = read_bytes(json.dumps(document).encode())
        self.assertTrue(pd.isna(read.counts["count"].iloc[0]))
        self.assertTrue(pd.isna(read.rows["ipc"].iloc[0]))

    def test_counts_have_the_names_and_units_of_their_events(self) -> None:
        read = pacman_pmu.read(report("stat" if REPORTS != SAMPLES else "counts"))
        units = dict(zip(read.counts["event"], read.counts["unit"]))
        self.assertEqual(units["task-clock"], "ns")

    def test_an_older_report_of_run_lacks_values_only(self) -> None:
        document = documents(report("waits"))[0]
        document["version"] = 1
        del document["provenance"], document["ranks"]
        read = read_bytes(json.dumps(document).encode())
        self.assertEqual(read.version, 1)
        self.assertTrue(pd.isna(read.document["provenance_host"].iloc[0]))
        self.assertGreater(len(read.regions), 0)

    def test_reports_whose_threads_are_rows_have_the_same_frames(self) -> None:
        now = pacman_pmu.read(report("waits"))
        for name, filled in (("waits-1", "waits"), ("slots", "slots")):
            old = pacman_pmu.read(SAMPLES / f"{name}.json")
            self.assertLess(old.version, 3)
            for frame in ("threads", filled, "counts"):
                self.assertGreater(len(old[frame]), 0, frame)
                self.assertEqual(list(old[frame].columns), list(now[frame].columns), frame)
                self.assertEqual(list(old[frame].dtypes), list(now[frame].dtypes), frame)
        slots = pacman_pmu.read(SAMPLES / "slots.json").slots
        self.assertEqual(list(slots["slot_core"].head(2)), [0, 0], "two threads of the core")

    def test_a_value_of_all_threads_is_one_of_each(self) -> None:
        document = documents(report("waits"))[0]
        document["version"] = 3
        document["processes"][0]["regions"][0]["threads"] = {
            "thread": [4, 5, 6],
            "moves": 7,
            "beside": [[5], [], []],
            "states": {"useful_s": [0.5, None, 1.5], "waits": {"0": {"count": [1, None, 3]}}},
        }
        read = read_bytes(json.dumps(document).encode())
        threads, waits = (
            frame[(frame["process"] == 0) & (frame["region"] == 0)]
            for frame in (read.threads, read.waits)
        )
        self.assertEqual(list(threads["thread"]), [4, 5, 6])
        self.assertEqual(list(threads["moves"]), [7, 7, 7])
        kinds = {"busy_s": "float64", "useful_s": "float64", "moves": "Int64", "cpu": "Int64"}
        for name, kind in kinds.items():
            self.assertEqual(str(read.threads[name].dtype), kind, name)
        self.assertEqual(str(read.waits["time_s"].dtype), "float64")
        self.assertTrue(pd.isna(threads["useful_s"].iloc[1]))
        self.assertEqual(threads["beside"].iloc[0], [5])
        found = list(zip(waits["thread"], waits["site"], waits["count"]))
        self.assertEqual(found, [(4, 0, 1), (6, 0, 3)])

    def test_a_frame_that_is_not_there_is_an_error_with_the_names_of_those_that_are(self) -> None:
        read = pacman_pmu.read(report("waits"))
        with self.assertRaisesRegex(AttributeError, "no frame tasks, but document, processes"):
            read.tasks  # noqa: B018
        described = read.columns("regions").set_index("column")
        self.assertEqual(described.loc["time_s", "dtype"], "float64")


@unittest.skipIf(REPORTS == SAMPLES, "the samples have JSON only")
class Tables(unittest.TestCase):
    def test_csv_and_json_of_one_run_have_the_same_figures(self) -> None:
        table, read = (pacman_pmu.read(REPORTS / name) for name in ("waits.csv", "waits.json"))
        self.assertEqual(table.format, "pacman-run-csv")
        threads = read.threads.merge(
            read.regions[["process", "region", "name"]], on=["process", "region"]
        )
        own = table.rows.set_index(["name", "thread"])
        self.assertEqual(len(own), len(threads))
        for row in threads.itertuples(index=False):
            line = own.loc[(row.name, row.thread)]
            self.assertAlmostEqual(line["busy_s"], row.busy_s, places=6)
            self.assertEqual(line["thread_executions"], row.executions)
            count = read.counts.query(
                f"region == {row.region} and thread == {row.thread} and event == 'task-clock'",
                engine="python",
            )
            self.assertEqual(line["task-clock [ns]"], count["count"].iloc[0])

    def test_every_table_is_known_and_whole(self) -> None:
        formats = set()
        for path in files(".csv"):
            with self.subTest(path.name):
                read = pacman_pmu.read(path)
                formats.add(read.format)
                lines = path.read_text(encoding="utf-8").count("\n")
                self.assertLessEqual(len(read.rows), lines - 1)
                self.assertGreater(len(read.rows), 0)
        self.assertEqual(len(formats), 8)

    def test_intervals_have_a_number_and_the_whole_run_none(self) -> None:
        path = REPORTS / "intervals.json"
        read = pacman_pmu.read(path)
        numbers = list(range(len(documents(path)) - 1))
        self.assertGreater(len(numbers), 0)
        self.assertEqual(list(read.document["interval"].dropna()), numbers)
        # The last document is the whole run: its counts are the sum of the others.
        intervals, whole = (
            read.counts[part]
            for part in (read.counts["interval"].notna(), read.counts["interval"].isna())
        )
        self.assertEqual(intervals["count"].sum(), whole["count"].sum())

    def test_counts_in_tables_keep_all_digits_beside_empty_fields(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "t.csv")
            path.write_text(f"machine,app,threads,time_s,cycles\nM,a,1,2,{2**53 + 1}\nM,a,2x1,1,\n")
            rows = pacman_pmu.read(path).rows
        self.assertEqual(rows["cycles"].iloc[0], 2**53 + 1)
        self.assertTrue(pd.isna(rows["cycles"].iloc[1]))
        self.assertEqual(list(rows["threads"]), ["1", "2x1"])


if __name__ == "__main__":
    unittest.main()
