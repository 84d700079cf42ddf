"""Where the tests find reports."""

from __future__ import annotations

import os
from pathlib import Path
from typing import List

SAMPLES = Path(__file__).resolve().parent.parent / "samples"

#: Reports that the test of the command has just made, or the samples.
REPORTS = Path(os.environ.get("PACMAN_TEST_REPORTS", SAMPLES))


def files(*endings: str) -> List[Path]:
    """The reports with these endings."""
    found = sorted(path for path in REPORTS.iterdir() if path.suffix in endings)
    assert found, f"no {endings} in {REPORTS}"
    return found


def report(start: str) -> Path:
    """The first report whose name starts so."""
    return next(path for path in files(".json") if path.name.startswith(start))
