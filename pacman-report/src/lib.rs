//! Reports: their data, one rule for values that are absent, and their forms.
//!
//! [`run`] has the report of an OpenMP program, [`stat`] that of a command's counts, and [`compare`] reads reports again.
//! [`document`], [`rows`] and [`records`] are how all documents of the command are written.

pub mod compare;
mod derived;
pub mod document;
pub mod exit;
pub mod implausible;
mod layout;
mod median;
pub mod quota;
pub mod records;
pub mod report_counts;
pub mod rows;
pub mod run;
mod slots;
pub mod stat;
#[cfg(test)]
mod tests;
pub mod words;
