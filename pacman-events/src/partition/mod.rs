//! Partition: the counters of a core, planned for all its hardware contexts together.
