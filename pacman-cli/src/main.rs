//! The command `pacman-pmu`.
fn main() {}
