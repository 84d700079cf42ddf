"""A program of Python with OpenMP inside and a phase of its own, for the trial of the wheel."""

import numpy
import pacman_pmu
from sklearn.ensemble import HistGradientBoostingClassifier

x = numpy.random.default_rng(1).normal(size=(5000, 8))
with pacman_pmu.phase("fit"):
    HistGradientBoostingClassifier(max_iter=5).fit(x, x[:, 0] + x[:, 1] > 0)
frame = pacman_pmu.report()
assert list(frame["phase"]) == ["fit"], frame
