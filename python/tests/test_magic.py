"""Cells of a notebook as phases."""

from __future__ import annotations

import unittest
import warnings
from typing import Any, List
from unittest import mock

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import pacman_pmu


class Cells(unittest.TestCase):
    def setUp(self) -> None:
        warnings.simplefilter("ignore", pacman_pmu.CounterWarning)
        pacman_pmu.stop()
        self.addCleanup(pacman_pmu.stop)
        self.shell = InteractiveShell.instance()
        self.addCleanup(InteractiveShell.clear_instance)
        self.shell.run_line_magic("load_ext", "pacman_pmu")

    def run_cell(self, text: str) -> Any:
        with capture_output() as shown:
            result = self.shell.run_cell(text, store_history=True)
        return result, shown

    def test_a_cell_is_a_phase_with_the_names_and_the_value_of_the_notebook(self) -> None:
        self.run_cell("start = 20")
        result, shown = self.run_cell("%%pacman sums\ntotal = sum(range(start))\ntotal + 1")
        self.assertTrue(result.success, result.error_in_exec)
        self.assertEqual((result.result, self.shell.user_ns["total"]), (191, 190))
        self.run_cell("%%pacman sums\ntotal += 1;")
        frame = pacman_pmu.report()
        self.assertEqual(list(frame["phase"]), ["sums"])
        self.assertEqual(list(frame["executions"]), [2])
        [output] = [one for one in shown.outputs if "sums" in one.data.get("text/plain", "")]
        self.assertIn("time", output.data["text/html"])

    def test_a_cell_without_a_name_has_its_own(self) -> None:
        for _ in range(2):
            result, _ = self.run_cell("%%pacman\npass")
            self.assertTrue(result.success, result.error_in_exec)
        names: List[str] = list(pacman_pmu.report()["phase"])
        self.assertEqual(len(set(names)), 2, names)
        self.assertTrue(all(name.startswith("cell ") for name in names), names)

    def test_a_machine_that_counts_nothing_says_why_and_the_cell_does_not_run(self) -> None:
        refusal = pacman_pmu.CounterError("no library")
        with mock.patch("pacman_pmu.phases.Session", side_effect=refusal):
            result, _ = self.run_cell("%%pacman refused\nran = True")
        self.assertIs(result.error_in_exec, refusal)
        self.assertNotIn("ran", self.shell.user_ns)

    def test_an_error_of_the_cell_is_its_own_and_ends_the_phase(self) -> None:
        result, _ = self.run_cell("%%pacman broken\nbefore = 1\n1 / 0")
        self.assertIsInstance(result.error_in_exec, ZeroDivisionError)
        self.assertEqual(self.shell.user_ns["before"], 1)
        frame = pacman_pmu.report()
        self.assertEqual((list(frame["executions"]), list(frame["open"])), ([1], [0]))
        result, _ = self.run_cell("%%pacman silent\n1 + 1;")
        self.assertIsNone(result.result)


if __name__ == "__main__":
    unittest.main()
