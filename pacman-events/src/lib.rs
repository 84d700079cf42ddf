//! Hardware event names, their legal encodings per CPU model, and exact
//! allocation of counters between the hardware contexts of a core.
#![forbid(unsafe_code)]

pub mod allocate;
mod catalog;
mod counter;
mod cpu;
mod db;
pub mod encode;
mod name;
mod nearest;
mod netburst_tables;
pub mod partition;
#[cfg(feature = "perfmon-json")]
mod perfmon_json;
mod preset;
mod raw;
mod refusal;
mod resolve;
mod sysfs;
mod unit_masks;
mod user_table;

pub use catalog::{CatalogEntry, EntryKind, catalog};
pub use counter::CounterSet;
pub use cpu::{AnyThread, CoreKind, CpuId, CpuModel, Family, PmuFacts};
pub use db::{Event, EventFlags};
pub use encode::Encoding;
pub use preset::{Preset, PresetAnswer};
pub use refusal::{Refusal, RefusalKind};
pub use resolve::{Resolved, Resolver, Term, resolve};
pub use sysfs::SysfsPmu;
pub use user_table::UserTable;
