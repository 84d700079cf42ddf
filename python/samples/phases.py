"""A session's report: two phases of a numpy program."""

import numpy as np

import pacman_pmu

with pacman_pmu.Session("task-clock,page-faults,context-switches", name="fit") as session:
    for step in range(20):
        with session.phase("make"):
            matrix = np.random.default_rng(step).random((120, 120))
        with session.phase("solve"):
            np.linalg.solve(matrix, matrix[0])
    session.save("session.json")
