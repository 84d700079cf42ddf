//! A simulated machine.

pub mod hardware;
