//! Hardware event names, their legal encodings per CPU model, and exact
//! allocation of counters between the hardware contexts of a core.
//!
//! A name such as `STALL_CYCLES` resolves to register fields for one model, and to counters that
//! are legal for one context. If that is impossible, there is an error with the reason. The crate
//! uses no operating system: any machine can encode for every model.
//!
//! ```
//! use pacman_events::{CpuId, CpuModel, Resolver};
//!
//! // A Pentium 4 Prescott with Hyper-Threading, as CPUID shows it.
//! let p4 = CpuModel::detect(&CpuId::new("GenuineIntel", 15, 3, 4)).unwrap();
//! let resolver = Resolver::new(p4);
//! let misses = resolver.resolve("L2_MISSES").unwrap();
//! let event = misses.encoding().unwrap();
//! let setup = event.netburst.unwrap();
//! assert_eq!(setup.escr(0, true, false), 0x1802_0004);
//! assert_eq!(setup.cccr(), 0x0003_f000);
//!
//! // An expression: non-halted clocks minus the clocks that retired something.
//! let stalls = resolver.resolve("STALL_CYCLES").unwrap();
//! let coefficients: Vec<_> = stalls.terms().map(|term| term.coefficient).collect();
//! assert_eq!(coefficients, [1, -1]);
//! assert_eq!(stalls.value([1000, 600]), 400);
//! ```
//!
//! # Overview
//!
//! - [`CpuModel`] is a table of events: by CPUID, by name, or [`CpuModel::all`].
//! - [`resolve`] and [`Resolver`] turn a name into [`Encoding`]s. The grammar is
//!   `NAME[:modifier…]`: a [`Preset`], a vendor's name with unit masks after `.` or `:`,
//!   a raw code (`r01c3010e`), `cpu/event=0x3c,umask=0/`, or a software event. Modifiers:
//!   `u`, `k`, `e` edge, `i` invert, `c=N` counter mask, `any`; NetBurst `thr=N`, `cmpl`.
//! - [`ResolveError`] gives the reason: an unknown name (with the nearest names), an event of
//!   other models, a missing requirement, or a limit of the hardware. [`allocate`] finds events
//!   that are legal alone but not together.
//! - [`catalog`] lists the names of a table; `data/README.md` names the source of every fact.
//!
//! # Costs
//!
//! The tables are 0.4 MB, searched in place. A name of a table needs no heap, and
//! less than a microsecond once the table is cached. An expression allocates one vector.
#![forbid(unsafe_code)]

mod admission;
mod alias;
pub mod allocate;
mod catalog;
mod counter;
mod cpu;
mod cpu_id;
mod db;
pub mod encode;
mod error;
mod event_group;
mod event_names;
mod expression;
#[doc(hidden)]
pub mod few;
mod installed_table;
mod list_source;
mod name;
mod names;
mod nearest;
mod netburst_tables;
mod overcount;
pub mod partition;
#[cfg(feature = "perfmon-json")]
mod perfmon_json;
#[doc(hidden)]
pub mod plural;
mod preset;
mod raw;
mod refusal;
pub mod registers;
mod resolve;
mod resolve_error;
mod scope;
#[doc(hidden)]
pub mod shown;
mod spelling;
mod sysfs;
mod unit_masks;
mod user_table;

pub use alias::all as aliases;
pub use catalog::{CatalogEntry, EntryKind, catalog};
pub use counter::CounterSet;
pub use cpu::{AnyThread, CpuModel, Family, PmuFacts};
pub use cpu_id::{CoreKind, CpuId};
pub use db::{Event, EventFlags};
pub use encode::Encoding;
pub use error::{Error, ErrorKind, Result};
pub use event_group::EventGroup;
pub use event_names::EventName;
pub use installed_table::InstalledTable;
pub use list_source::ListSource;
pub use nearest::among as nearest;
pub use overcount::{Overcount, all as overcounts};
pub use preset::{Preset, PresetAnswer};
pub use resolve::{Resolved, Resolver, Term, resolve};
pub use resolve_error::{ResolveError, ResolveErrorKind};
pub use sysfs::SysfsPmu;
pub use user_table::UserTable;

// The examples of README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
