//! Help that several commands share.

/// The columns of every table, for `--help`.
pub(super) const TABLE: &str = "\
Tables (CSV, long form, a header, one execution a line):
  machine   whose times; --measured-on can say it instead
  app       the program
  phase     a part of it, if there is such a column
  threads   12, or 6x2 for 6 cores with 2 threads each; the largest is all contexts
  time_s    seconds
  run       numbers the runs at one configuration, of which the median counts; without this
            column there is one
  others    counts of events, summed over threads; instructions is what they are set in
            proportion to, cycles is needed for IPC. A blank was not counted. Columns that end
            in _j (energies) are not used, nor is executions.
pacman-pmu record writes such a table.";
