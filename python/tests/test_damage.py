"""Damaged and foreign files: one line that says what is wrong, and no other error."""

from __future__ import annotations

import copy
import json
import random
import tempfile
import unittest
from pathlib import Path
from typing import Any, Iterator, Tuple

from places import files, report

import pacman_pmu
from pacman_pmu.report import read_bytes


def places(value: Any) -> Iterator[Tuple[Any, Any]]:
    """Each member and each item of a document, with what holds it."""
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


def columns(document: Any, threads: Any) -> bytes:
    """The report with these columns of the first region's threads."""
    changed = copy.deepcopy(document)
    changed["version"] = 3
    changed["processes"][0]["regions"][0]["threads"] = threads
    return json.dumps(changed).encode()


class Damage(unittest.TestCase):
    def refused(self, data: bytes) -> str:
        with self.assertRaises(pacman_pmu.ReportError) as caught:
            read_bytes(data, "x.json")
        text = str(caught.exception)
        self.assertNotIn("\n", text)
        self.assertTrue(text.startswith("cannot read x.json: "), text)
        return text

    def test_the_error_says_what_is_wrong(self) -> None:
        whole = json.loads(report("waits").read_text(encoding="utf-8"))
        for data, words in (
            (b"", "the file is empty"),
            (b"\xff\xfe", "byte 0 is not UTF-8"),
            (b"{", "damaged JSON at line 1"),
            (b"{}", "not a report of pacman-pmu"),
            (b"[1]", "not a report of pacman-pmu"),
            (b"[" * 100_000, "too many levels"),
            (b'{"traceEvents": []}', "pacman-pmu run -o FILE.json"),
            (b'{"format": "other"}', "format 'other' is not a format of reports"),
            (b'{"format": [1]}', "is not a format of reports"),
            (b"<!doctype html>", "pacman-pmu run -o FILE.json"),
            (b"# HELP a b", "pacman-pmu run -o FILE.json"),
            (b"a,b\n1,2\n", "neither JSON nor a CSV table"),
            (b"machine,app,threads,time_s\nM,a,1\n", "record 2 has 3 fields, the header 4"),
            (b"machine,app,threads,time_s,time_s\n", "column time_s is there twice"),
            (b'{"format": "pacman-run", "version": 2}', "there is no list processes"),
            (b'{"a": 1, "a": 2}', "member a is there twice"),
            (b'{"a": NaN}', "NaN is not a number of JSON"),
            (b'{"a": [-1e400]}', "-1e400 is not a number of JSON"),
            (json.dumps({**whole, "version": 4}).encode(), "has version 4"),
            (columns(whole, {"thread": [0, 1], "busy_s": [0.5]}), "busy_s has 1 values, and another"),
            (columns(whole, {"thread": 0}), "has no column that is a list"),
            (columns(whole, {"thread": ["x", 1]}), "threads.thread is a text"),
            (
                columns(whole, {"thread": [0], "states": {"waits": {"x": {"count": [1]}}}}),
                "waits has a name that is no number",
            ),
            (json.dumps({**whole, "processes": {}}).encode(), "there is no list processes"),
            (json.dumps({**whole, "time_s": "1"}).encode(), "member time_s is a text"),
            (json.dumps({**whole, "command": "x"}).encode(), "member command is a text"),
        ):
            with self.subTest(words):
                self.assertIn(words, self.refused(data))

    def test_a_file_that_is_not_there_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "none.json")
            with self.assertRaisesRegex(pacman_pmu.ReportError, "none.json: No such file"):
                pacman_pmu.read(path)
            with self.assertRaisesRegex(pacman_pmu.ReportError, "Is a directory"):
                pacman_pmu.read(folder)

    def test_no_beginning_of_a_report_passes_for_all_of_it(self) -> None:
        data = report("waits").read_bytes().rstrip()
        for length in range(1, len(data), max(1, len(data) // 60)):
            self.refused(data[:length])

    def test_any_change_of_a_member_is_read_or_refused(self) -> None:
        dice = random.Random(23)
        read = refused = 0
        for path in files(".json"):
            if path.stat().st_size > 100_000 or path.name == "intervals.json":
                continue
            document = json.loads(path.read_text(encoding="utf-8"))
            for _ in range(10):
                changed = copy.deepcopy(document)
                holder, key = dice.choice(list(places(changed)))
                if dice.random() < 0.3:
                    del holder[key]
                else:
                    holder[key] = dice.choice(
                        [None, {}, [], "x", 1.5, -1, 10**30, True, [[]], [None], {"a": [{}]}]
                    )
                try:
                    read_bytes(json.dumps(changed).encode())
                    read += 1
                except pacman_pmu.ReportError as error:
                    self.assertNotIn("\n", str(error))
                    refused += 1
        self.assertGreater(read, 0)
        self.assertGreater(refused, 0)


if __name__ == "__main__":
    unittest.main()
