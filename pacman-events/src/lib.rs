//! Hardware event names, their legal encodings per CPU model, and exact
//! allocation of counters between the hardware contexts of a core.
#![forbid(unsafe_code)]

pub mod allocate;
mod counter;
mod cpu;
mod db;
pub mod encode;
pub mod partition;

pub use counter::CounterSet;
pub use cpu::{AnyThread, CoreKind, CpuId, CpuModel, Family, PmuFacts};
pub use db::{Event, EventFlags};
pub use encode::Encoding;
