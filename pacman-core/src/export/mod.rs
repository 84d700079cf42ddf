//! Reports as text: a table for people, CSV for data frames, JSON for programs.
//!
//! | function | one row or entry is | for |
//! |---|---|---|
//! | [`table`] | a thread, in a block per phase | reading in a terminal |
//! | [`csv`] | a phase on a thread | spreadsheets and data frames |
//! | [`csv_log`] | one logged execution | timelines, distributions |
//! | [`json`] | everything, one document | programs |
//!
//! All four follow the same rule: a count has a value or is absent, and an absent count is never
//! written as 0. Absent are the counts of a group that the kernel never put on the counters, and of
//! a set that was not on the counters. So is everything about a phase without a finished execution.
//! The table shows a dash and gives the reason below, CSV leaves the field empty, JSON has `null`
//! and the reason.
//!
//! Writers never panic and print nothing on their own. They return the errors of the
//! underlying writer unchanged. A closed pipe is an error of kind
//! [`BrokenPipe`](std::io::ErrorKind::BrokenPipe), on which a command that feeds a pager
//! should end quietly. They write line by line and flush at the end. Give them a
//! [`BufWriter`](std::io::BufWriter) if each line costs a system call.
//!
//! ```
//! use pacman_core::{Session, export};
//!
//! let session = Session::builder("doc-export").events("task-clock,page-faults").start()?;
//! let thread = session.attach()?;
//! thread.run(session.phase("fill")?, || std::hint::black_box(vec![1u8; 1 << 20]))?;
//!
//! let report = session.report();
//! let mut text = Vec::new();
//! export::table(&report, &export::TableStyle::default(), &mut text)?;
//! let text = String::from_utf8(text)?;
//! assert!(text.contains("fill") && text.contains("page-faults"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod csv;
mod environment;
mod json;
mod style;
mod table;
mod values;

#[cfg(test)]
mod tests;

pub use csv::{csv, csv_log};
#[doc(hidden)] // For the command and the C library.
pub use environment::Environment;
pub use json::json;
pub use style::TableStyle;
#[doc(hidden)] // For the command's tables.
pub use table::grid;
pub use table::table;
