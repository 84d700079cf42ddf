//! The answer of `pacman-pmu stat`: counts by thread, core or context, their sums, and its forms.

mod answer;
mod count;
mod csv;
mod figures;
mod grouping;
mod json;
mod repeat;
mod slots;
mod text;
mod usage;
mod writer;

pub use answer::{Answer, By, Form, Interval};
pub use count::Count;
pub use figures::{Column, Columns, Figures, Row, Run, Seat, Who};
#[cfg(test)]
pub(crate) use json::Whole;
pub use repeat::row;
pub use usage::Usage;
