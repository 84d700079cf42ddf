"""Formulas of the built-in metrics that the table of phases has; tests of pacman-report write this file."""

#: Instructions per cycle, by the names of events.
IPC = "INSTRUCTIONS / CYCLES"
