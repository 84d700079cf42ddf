//! Preloaded into OpenMP programs.
