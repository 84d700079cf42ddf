"""Pictures: what is drawn is what the frames say."""

from __future__ import annotations

import unittest

import matplotlib
import pandas as pd
from places import REPORTS, SAMPLES, report

import pacman_pmu
from pacman_pmu import plot

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

WAITS = report("waits")


class Pictures(unittest.TestCase):
    def tearDown(self) -> None:
        plt.close("all")

    def test_a_bar_is_as_long_as_its_threads_states_are(self) -> None:
        read = pacman_pmu.read(WAITS)
        for region in (None, *read.regions["name"]):
            frame = plot.thread_states(read, region)
            ax = plot.states(read, region)
            drawn = sum(bar.get_width() for bar in ax.patches)
            states = [name for name, _, _ in plot.STATES]
            self.assertAlmostEqual(drawn, frame[states].sum().sum(), places=9)
            self.assertEqual(len(ax.get_yticks()), len(frame))
        whole = read.threads[["useful_s", "starting_s", "end_s"]].sum().sum()
        whole += read.waits["time_s"].sum()
        self.assertAlmostEqual(plot.thread_states(read)[states].sum().sum(), whole, places=9)

    def test_what_is_said_of_the_run_is_under_the_picture(self) -> None:
        read = pacman_pmu.read(WAITS)
        said = "Threads had no processor of their own: they ran 12 % of the time"
        rows = pd.DataFrame({"process": [pd.NA, 0], "text": [said, "of a process only"]})
        read.frames["notes"] = rows.astype({"process": read.frames["notes"]["process"].dtype})
        for ax in (plot.states(read), plot.scaling([read]), plot.comparison(read, read)):
            texts = " ".join(text.get_text() for text in ax.texts)
            self.assertIn(said, texts.replace("\n", " "))
            self.assertNotIn("of a process only", texts)

    def test_siblings_are_side_by_side(self) -> None:
        read = pacman_pmu.read(WAITS)
        threads = read.frames["threads"]
        one = threads[threads["region"] == 0].head(1)
        places = [(0, 1, 1), (0, 0, 0), (0, 1, 0), (0, 0, 1)]
        rows = []
        for number, (package, core, sibling) in enumerate(places):
            row = one.copy()
            row["thread"], row["package"], row["core"], row["sibling"] = (
                number,
                package,
                core,
                sibling,
            )
            rows.append(row)
        read.frames["threads"] = pd.concat(rows)
        read.frames["waits"] = read.waits.head(0)
        frame = plot.thread_states(read, read.regions["name"].iloc[0])
        self.assertEqual(list(frame.index), [1, 3, 2, 0])
        first, second, third, fourth = plot.states(read, read.regions["name"].iloc[0]).get_yticks()
        self.assertLess(second - first, third - second)
        self.assertAlmostEqual(second - first, fourth - third)

    def test_scaling_takes_the_median_of_repeated_runs(self) -> None:
        read = pacman_pmu.read(WAITS)
        reports = []
        for threads, time in ((1, 8.0), (2, 5.0), (2, 4.0), (2, 4.5), (4, 4.0)):
            run = pacman_pmu.read(WAITS)
            run.frames["processes"] = read.processes.assign(threads=threads)
            run.frames["document"] = read.document.assign(time_s=time)
            reports.append(run)
        frame = plot.scaling_frame(reports).set_index("threads")
        self.assertEqual(list(frame["runs"]), [1, 3, 1])
        self.assertEqual(frame.loc[2, "time_s"], 4.5)
        self.assertEqual(frame.loc[4, "efficiency"], 0.5)
        self.assertEqual(frame.loc[4, "speedup"], 2.0)
        for value in ("time_s", "speedup", "efficiency"):
            ax = plot.scaling(reports, value=value)
            drawn = ax.get_lines()[1]
            self.assertEqual(list(drawn.get_xdata()), [1, 2, 4])
            self.assertEqual(list(drawn.get_ydata()), list(frame[value]))
        region = read.regions["name"].iloc[0]
        self.assertEqual(
            plot.scaling_frame([read], region)["time_s"].iloc[0], read.regions["time_s"].iloc[0]
        )

    def test_a_comparison_has_all_regions(self) -> None:
        read = pacman_pmu.read(WAITS)
        names = {tick.get_text() for tick in plot.comparison(read, read).get_yticklabels()}
        self.assertEqual(names, set(read.regions["name"]))
        compared = pacman_pmu.read(report("compare"))
        ax = plot.comparison(compared)
        names = [tick.get_text() for tick in ax.get_yticklabels()]
        self.assertEqual(names, ["whole program", *compared.regions["name"]])

    def test_a_report_of_another_kind_is_refused(self) -> None:
        topo = pacman_pmu.read(report("stat" if REPORTS != SAMPLES else "counts"))
        for draw in (plot.states, plot.comparison, lambda it: plot.scaling([it])):
            with self.assertRaisesRegex(pacman_pmu.ReportError, "this picture needs a pacman-"):
                draw(topo)
        with self.assertRaisesRegex(pacman_pmu.ReportError, "run the program with --waits"):
            plot.states(pacman_pmu.read(report("slots")))
        with self.assertRaisesRegex(pacman_pmu.ReportError, "has no region 'none'; there are: "):
            plot.states(pacman_pmu.read(WAITS), "none")


if __name__ == "__main__":
    unittest.main()
