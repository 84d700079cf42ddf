//! Preloaded into OpenMP programs.

mod worksharing;
