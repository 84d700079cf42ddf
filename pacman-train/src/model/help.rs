//! Help that several commands share.

/// The columns of every table, for `--help`.
pub(super) const TABLE: &str = "\
Tables (CSV in long form, with a header and one execution on each line):
  machine   the machine that was measured; or use --measured-on
  app       the program
  phase     a part of the program (optional)
  threads   12, 6x2 for 6 cores with 2 threads each, or 6x2/3 on 3 NUMA nodes; the largest
            is all contexts
  time_s    the time of one execution, in seconds
  run       the number of the run at one configuration (optional); the median of the runs counts
  others    counts of events, summed over threads. A blank was not counted. Rates are counts
            divided by the column instructions, and IPC needs cycles. The commands ignore
            executions and columns that end in _j (energies).
pacman-pmu record writes such a table.";
