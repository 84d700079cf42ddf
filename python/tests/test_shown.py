"""The frame of phases prints as a table of at most 100 columns."""

from __future__ import annotations

import unittest

import pandas as pd

from pacman_pmu.shown import WIDTH, PhaseFrame, count, seconds


def frame(events: int) -> PhaseFrame:
    columns = {
        "phase": ["fit", "a name that is much longer than a table should have to bear"],
        "thread": [0, 12],
        "executions": [1, 1_000_000],
        "open": [0, 0],
        "time_ns": [9_075_205, 0],
        "time_min_ns": [1, 0],
        "time_max_ns": [2, 0],
        "CYCLES [cycles]": pd.array([1_003_000_000, 0], dtype="UInt64"),
        "INSTRUCTIONS? [instructions]": pd.array([334_200_000, 7], dtype="UInt64"),
    }
    for at in range(events):
        columns[f"SOME_LONG_EVENT_{at} [events]"] = pd.array([at, pd.NA], dtype="Int64")
    columns["task-clock [ns]"] = pd.array([1_500, pd.NA], dtype="Int64")
    columns["absent"] = [None, "task-clock: refused"]
    return PhaseFrame(columns)


class Shown(unittest.TestCase):
    def test_a_table_has_units_and_nothing_missing_is_0(self) -> None:
        self.assertEqual(
            str(frame(0)),
            "phase                             thread  executions      time   CYCLES  INSTRUCTIONS?"
            "  task-clock\n"
            "fit                                    0           1  9.075 ms  1.003 G        334.2 M"
            "      1.5 µs\n"
            "a name that is much longer than…      12   1,000,000       0 s        0              7"
            "           -\n\n"
            "phase                             thread    IPC\n"
            "fit                                    0  0.333\n"
            "a name that is much longer than…      12      -\n\n"
            "task-clock: refused",
        )

    def test_no_line_is_wider_than_100_columns(self) -> None:
        for events in range(9):
            text = str(frame(events))
            self.assertTrue(all(len(line) <= WIDTH for line in text.split("\n")), text)
            for at in range(events):
                self.assertEqual(text.count(f"SOME_LONG_EVENT_{at}"), 1, text)

    def test_parts_of_it_are_plain_frames(self) -> None:
        whole = frame(1)
        self.assertIs(type(whole[whole["thread"] == 0]), pd.DataFrame)
        self.assertEqual(int(whole["time_ns"].sum()), 9_075_205)
        self.assertIn("<td>fit</td>", whole._repr_html_())
        noted = frame(0)
        noted.attrs["notes"] = ["<not> counted", "word " * 40]
        self.assertIn("\n\n<not> counted\n\nword ", str(noted))
        self.assertTrue(all(len(line) <= WIDTH for line in str(noted).split("\n")))
        self.assertIn("&lt;not&gt; counted", noted._repr_html_())

    def test_figures_have_four_digits(self) -> None:
        figures = [0, 999, 12_345, 2**63]
        self.assertEqual([count(value) for value in figures], ["0", "999", "12.35 k", "9.223 E"])
        times = [0.0, 2.5e-10, 1e-9, 1.23456e-3, 75.0]
        expected = ["0 s", "0.25 ns", "1 ns", "1.235 ms", "75 s"]
        self.assertEqual([seconds(value) for value in times], expected)


if __name__ == "__main__":
    unittest.main()
