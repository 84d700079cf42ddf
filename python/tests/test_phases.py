"""Phases over the C library: counts are the calling thread's, and nothing missing is a 0."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path
from typing import Any, Callable, List

import numpy as np
import pandas as pd

import pacman_pmu
from pacman_pmu import CounterError, CounterWarning, Session, phase

SIMULATED = "PACMAN_MACHINE" in os.environ
EVENTS = "CYCLES,INSTRUCTIONS,task-clock" if SIMULATED else "task-clock,page-faults"


#: Each child of it has another call of the simulated machine fail.
LOST = """
import os, warnings
import pacman_pmu
for call in range(60):
    child = os.fork()
    if child == 0:
        # Its processors read counters by calls.
        os.environ["PACMAN_MACHINE"] = "alderlake"
        os.environ["PACMAN_MACHINE_FAULT"] = f"{call}:5"
        answer = ran = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                pacman_pmu.start("CYCLES")
                with pacman_pmu.phase("one"):
                    ran = True
                answer = "warned" if caught else "counted"
            except pacman_pmu.CounterError as error:
                answer = f"after the work: {error}" if ran else "refused"
        print(answer, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


def work(seconds: float) -> None:
    """Uses the processor for this time of the thread."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        np.sqrt(np.arange(10_000.0)).sum()


def row(frame: pd.DataFrame, name: str, thread: int = 0) -> Any:
    """The one row of a phase and a thread."""
    own = frame[(frame["phase"] == name) & (frame["thread"] == thread)]
    assert len(own) == 1, frame.to_string()
    return own.iloc[0]


class Counts(unittest.TestCase):
    def setUp(self) -> None:
        self.session = Session(EVENTS, name=self.id())
        self.addCleanup(self.session.close)

    def test_a_longer_phase_counts_more(self) -> None:
        for name, seconds in (("short", 0.01), ("long", 0.2)):
            with self.session.phase(name):
                work(seconds)
        frame = self.session.frame()
        short, long = row(frame, "short"), row(frame, "long")
        # The simulated clock of a thread is not that of this machine.
        if not SIMULATED:
            self.assertGreaterEqual(long["task-clock [ns]"], 0.19e9)
            self.assertLess(short["task-clock [ns]"], 0.15e9)
        self.assertGreater(long["task-clock [ns]"], 2 * short["task-clock [ns]"])
        self.assertGreaterEqual(long["time_ns"], 0.19e9)
        self.assertEqual(long["executions"], 1)
        self.assertIsNone(long["absent"])
        if SIMULATED:
            self.assertGreater(long["CYCLES [cycles]"], 2 * short["CYCLES [cycles]"])

    def test_phases_nest_recurse_and_repeat(self) -> None:
        @self.session.phase("inner")
        def fall(depth: int) -> int:
            return fall(depth - 1) + 1 if depth else 0

        self.assertEqual(fall.__name__, "fall")
        for _ in range(3):
            with self.session.phase("outer"):
                self.assertEqual(fall(4), 4)
        frame = self.session.frame()
        outer, inner = row(frame, "outer"), row(frame, "inner")
        self.assertEqual((outer["executions"], inner["executions"]), (3, 3))
        self.assertEqual((outer["open"], inner["open"]), (0, 0))
        self.assertGreaterEqual(outer["task-clock [ns]"], inner["task-clock [ns]"])
        phases = self.session.report().phases.set_index("phase")
        self.assertEqual(phases.loc["inner", "recursions"], 12)

    def test_each_thread_has_its_own_counts(self) -> None:
        shared = self.session.phase("shared")
        with shared:
            pass

        def run(seconds: float) -> None:
            with shared:
                work(seconds)

        threads = [threading.Thread(target=run, args=(seconds,)) for seconds in (0.02, 0.2)]
        for thread in threads:
            thread.start()
            # One after the other, so that their numbers are known.
            thread.join()
        frame = self.session.frame()
        self.assertEqual(list(frame["thread"]), [0, 1, 2])
        idle, short, long = (row(frame, "shared", thread)["task-clock [ns]"] for thread in range(3))
        self.assertLess(idle, short)
        self.assertLess(short, long)

    def test_threads_of_numpy_are_not_in_the_counts_of_the_phase(self) -> None:
        square = np.random.default_rng(1).random((500, 500))
        with self.session.phase("multiply"):
            for _ in range(10):
                square @ square  # noqa: B018
        multiply = row(self.session.frame(), "multiply")
        self.assertGreater(multiply["task-clock [ns]"], 0)
        if not SIMULATED:
            self.assertLess(multiply["task-clock [ns]"], 1.1 * multiply["time_ns"])

    def test_an_exception_of_the_body_passes_and_the_phase_ends(self) -> None:
        with self.assertRaises(ZeroDivisionError):
            with self.session.phase("fails"):
                1 / 0  # noqa: B018
        self.assertEqual(row(self.session.frame(), "fails")["executions"], 1)

    def test_a_report_is_saved_and_read(self) -> None:
        with self.session.phase("saved"):
            pass
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "session.json")
            self.session.save(path)
            frame = pacman_pmu.by_phase(pacman_pmu.read(path))
        self.assertEqual(row(frame, "saved")["executions"], 1)
        with self.assertRaisesRegex(CounterError, "No such file"):
            self.session.save("/nowhere/session.json")


class Misuse(unittest.TestCase):
    def refused(self, name: str, call: Callable[[], Any]) -> None:
        with self.assertRaises(CounterError) as caught:
            call()
        self.assertEqual(caught.exception.name, name)
        self.assertNotIn("\n", str(caught.exception))

    def test_events_that_cannot_be_counted_are_an_error(self) -> None:
        self.refused("PACMAN_E_UNKNOWN_EVENT", lambda: Session("page-fault"))
        self.refused("PACMAN_E_NO_EVENTS", lambda: Session(""))
        with self.assertRaisesRegex(ValueError, "zero character"):
            Session("task-clock\0")
        with self.assertRaisesRegex(ValueError, "per-execution or staggered"):
            Session("task-clock", rotate="often")

    def test_a_phase_ends_on_the_thread_that_began_it(self) -> None:
        with Session("task-clock", name=self.id()) as session:
            part = session.phase("part")
            part.__enter__()
            errors: List[BaseException] = []

            def end() -> None:
                try:
                    part.__exit__(None, None, None)
                except CounterError as error:
                    errors.append(error)

            other = threading.Thread(target=end)
            other.start()
            other.join()
            self.assertIn("this thread has not begun it", str(errors[0]))
            part.__exit__(None, None, None)
            self.assertEqual(row(session.frame(), "part")["executions"], 1)

    def test_a_phase_that_is_not_the_last_one_begun_stays_open(self) -> None:
        with Session("task-clock", name=self.id()) as session:
            outer, inner = session.phase("outer"), session.phase("inner")
            outer.__enter__()
            inner.__enter__()
            self.refused("PACMAN_E_PHASE_ORDER", lambda: outer.__exit__(None, None, None))
            self.assertEqual(row(session.frame(), "outer")["open"], 1)
            inner.__exit__(None, None, None)
            outer.__exit__(None, None, None)
            self.assertEqual(row(session.frame(), "outer")["executions"], 1)

    def test_a_closed_session_refuses(self) -> None:
        session = Session("task-clock", name=self.id())
        session.close()
        self.refused("PACMAN_E_HANDLE", session.report)
        self.refused("PACMAN_E_HANDLE", session.phase("late").__enter__)


class Default(unittest.TestCase):
    def tearDown(self) -> None:
        pacman_pmu.stop()

    def test_without_a_session_there_is_no_report(self) -> None:
        with self.assertRaisesRegex(CounterError, "nothing was counted"):
            pacman_pmu.report()

    def test_refused_hardware_events_are_missing_and_not_zero(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with phase("fit"):
                work(0.02)
        fit = row(pacman_pmu.report(), "fit")
        self.assertGreater(fit["task-clock [ns]"], 0)
        told = [warning for warning in caught if warning.category is CounterWarning]
        for column in ("CYCLES [cycles]", "INSTRUCTIONS [instructions]"):
            if told:
                self.assertTrue(pd.isna(fit[column]))
                self.assertIn(f"{column.split()[0]}: refused", fit["absent"])
            else:
                self.assertGreater(fit[column], 0)
        if told:
            self.assertEqual(told[0].filename, __file__)
            self.assertIn("were not counted: ", pacman_pmu.report().attrs["notes"][-1])
        if SIMULATED:
            self.assertFalse(told)

    def test_a_started_session_serves_phases(self) -> None:
        pacman_pmu.start("page-faults")
        with self.assertRaisesRegex(CounterError, "started already"):
            pacman_pmu.start("page-faults")
        pages = 200
        with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
            # A huge page would take one fault.
            if hasattr(mmap, "MADV_NOHUGEPAGE"):
                memory.madvise(mmap.MADV_NOHUGEPAGE)
            with phase("touch"):
                for page in range(pages):
                    memory[page * mmap.PAGESIZE] = 1
                # Faults of a simulated machine come with the thread's time.
                if SIMULATED:
                    work(0.05)
        faults = row(pacman_pmu.report(), "touch")["page-faults [faults]"]
        self.assertGreaterEqual(faults, 1 if SIMULATED else pages)

    def test_counters_that_are_lost_in_a_phase_are_a_warning_at_its_end(self) -> None:
        told = subprocess.run(
            [sys.executable, "-c", LOST], check=True, capture_output=True, text=True
        )
        answers = told.stdout.split()
        self.assertLessEqual(set(answers), {"counted", "refused", "warned"}, told.stdout)
        self.assertIn("warned", answers)
        self.assertIn("counted", answers)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_a_child_of_fork_counts_for_itself(self) -> None:
        pacman_pmu.start("task-clock")
        with phase("parent"):
            pass
        child = os.fork()
        if child == 0:
            status = 1
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    with phase("child"):
                        work(0.05)
                frame = pacman_pmu.report()
                self.assertGreater(row(frame, "child")["task-clock [ns]"], 0)
                as_asked = "task-clock [ns]" in frame and "CYCLES [cycles]" not in frame
                status = 0 if list(frame["phase"]) == ["child"] and as_asked else 2
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(list(pacman_pmu.report()["phase"]), ["parent"])

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_a_phase_that_a_fork_divides_ends_in_the_parent(self) -> None:
        pacman_pmu.start("task-clock")
        reader, writer = os.pipe()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with phase("divided"):
                child = os.fork()
            if child == 0:
                text = "; ".join(str(warning.message) for warning in caught)
                os.write(writer, text.encode())
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            self.assertIn("divided was begun before fork()", pipe.read())
        os.waitpid(child, 0)
        self.assertEqual(row(pacman_pmu.report(), "divided")["executions"], 1)


class Loading(unittest.TestCase):
    def fails(self, library: str) -> str:
        code = (
            "import pacman_pmu\ntry: pacman_pmu.start('task-clock')\n"
            "except pacman_pmu.CounterError as error: print(error)"
        )
        environment = {**os.environ, "PACMAN_LIBRARY": library}
        words = [sys.executable, "-c", code]
        return subprocess.run(
            words, env=environment, check=True, capture_output=True, text=True
        ).stdout

    def test_a_library_that_cannot_be_loaded_is_named(self) -> None:
        text = self.fails("/nowhere/libpacman.so")
        self.assertRegex(text, "^cannot load libpacman.so: /nowhere/libpacman.so: .*PACMAN_LIBRARY")
        self.assertEqual(text.count("\n"), 1)

    def test_another_library_is_refused(self) -> None:
        text = self.fails("libc.so.6")
        self.assertRegex(text, "^cannot use libc.so.6: it is not libpacman.so")


if __name__ == "__main__":
    unittest.main()
