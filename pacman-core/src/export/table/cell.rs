//! The content of a table's cell, before it is text.

use std::cmp::Ordering;

use super::quantity;
use crate::export::TableStyle;

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    /// The event was to be counted, but there is no figure.
    Absent,
    /// A rate with nothing to divide, or to divide by.
    Undefined,
    /// A share of time that is no figure, because the clock counted more than the time.
    Excess,
    /// Nothing belongs here.
    Empty,
    Count {
        value: u128,
        unit_ns: bool,
        scaled: bool,
        missing: bool,
    },
    Time(u128),
    Share {
        part: u128,
        whole: u128,
        scaled: bool,
    },
    Ratio {
        value: f64,
        scaled: bool,
    },
}

/// The marks that a table uses, and that are explained below it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    pub(super) absent: bool,
    pub(super) missing: bool,
    pub(super) scaled: bool,
    pub(super) unbound: bool,
    pub(super) undefined: bool,
    pub(super) excess: bool,
}

impl Cell {
    /// The cell's text; notes the marks it uses.
    pub(super) fn text(&self, style: &TableStyle, marks: &mut Marks) -> String {
        match self {
            Cell::Absent => {
                marks.absent = true;
                absent(style).to_string()
            }
            Cell::Undefined => {
                marks.undefined = true;
                UNDEFINED.to_string()
            }
            Cell::Excess => {
                marks.excess = true;
                UNDEFINED.to_string()
            }
            Cell::Empty => String::new(),
            Cell::Count { value, unit_ns, scaled, missing } => {
                marks.scaled |= scaled;
                marks.missing |= missing;
                let number = match (unit_ns, style.exact) {
                    (_, true) => quantity::grouped(*value),
                    (true, false) => quantity::duration(*value, style.unicode),
                    (false, false) => quantity::count(*value),
                };
                let at_least = if *missing { at_least(style) } else { "" };
                format!("{at_least}{}{number}", tilde(*scaled))
            }
            Cell::Time(nanos) => quantity::duration(*nanos, style.unicode),
            Cell::Share { part, whole, scaled } => {
                marks.scaled |= scaled;
                format!("{}{}", tilde(*scaled), quantity::percent(*part, *whole))
            }
            Cell::Ratio { value, scaled } => {
                marks.scaled |= scaled;
                format!("{}{}", tilde(*scaled), quantity::ratio(*value))
            }
        }
    }

    /// Whether it holds a figure that can be the minimum or maximum of its column.
    pub(super) fn is_figure(&self) -> bool {
        matches!(self, Cell::Count { .. } | Cell::Time(_) | Cell::Share { .. } | Cell::Ratio { .. })
    }

    /// The order of two figures of one column.
    pub(super) fn compare(&self, other: &Cell) -> Ordering {
        match (self, other) {
            (Cell::Count { value: one, .. }, Cell::Count { value: two, .. })
            | (Cell::Time(one), Cell::Time(two)) => one.cmp(two),
            (Cell::Ratio { value: one, .. }, Cell::Ratio { value: two, .. }) => one.total_cmp(two),
            (
                Cell::Share { part: one, whole: of_one, .. },
                Cell::Share { part: two, whole: of_two, .. },
            ) => (*one as f64 / *of_one as f64).total_cmp(&(*two as f64 / *of_two as f64)),
            _ => Ordering::Equal,
        }
    }
}

/// The mark of an absent figure.
pub(super) fn absent(style: &TableStyle) -> &'static str {
    if style.unicode { "—" } else { "-" }
}

/// The mark of a sum that lacks a part.
pub(super) fn at_least(style: &TableStyle) -> &'static str {
    if style.unicode { "≥" } else { ">=" }
}

/// The mark of an estimate.
fn tilde(scaled: bool) -> &'static str {
    if scaled { "~" } else { "" }
}

/// The text of a rate that has no value.
pub(super) const UNDEFINED: &str = "n/a";
