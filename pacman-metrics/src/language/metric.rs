//! One metric that was read from text.

use std::cell::Cell;
use std::fmt;

use super::count::{Count, Figure};
use super::expression::{Expression, is_quantity};
use crate::not_computable::not_computable;
use pacman_events::Result;

/// A metric that was read from text.
///
/// `Display` writes a line from which the metric can be read again.
///
/// ```
/// use pacman_metrics::language::Metric;
///
/// let text = "uop-fill | 1 | UOPS_ISSUED.ANY / (4 * CYCLES) | how full the front end was";
/// let metrics = Metric::read_all("mine.metrics", text)?;
/// let count = |name: &str| match name {
///     "UOPS_ISSUED.ANY" => Some(6_000),
///     "CYCLES" => Some(2_000),
///     _ => None,
/// };
/// assert_eq!(metrics[0].value(count)?, 0.75);
/// # Ok::<(), pacman_metrics::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) expression: Expression,
    pub(super) text: String,
    pub(super) source: Option<String>,
    pub(super) origin: Origin,
}

/// The place where a metric was read. All origins are equal, so that two metrics with the same
/// content are equal.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) file: String,
    pub(super) line: usize,
}

impl Metric {
    /// The metric's name, in lower case with hyphens.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The unit of the value.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// The formula of the value.
    pub fn expression(&self) -> &Expression {
        &self.expression
    }

    /// The metric's meaning, in one line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The document and the place in it, if the file has a source.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// `FILE:LINE`, where the metric was read.
    pub fn origin(&self) -> impl fmt::Display + '_ {
        &self.origin
    }

    /// The value from the counts of one sample. `count` returns the count of a name in the
    /// expression.
    ///
    /// # Errors
    /// [`ErrorKind::NotComputable`](pacman_events::ErrorKind::NotComputable) if a count is absent, a
    /// divisor is 0, or the value is below 0 or too large for a number.
    pub fn value(&self, count: impl Fn(&str) -> Option<u64>) -> Result<f64> {
        self.figure(|name| count(name).map(Count::from)).map(|figure| figure.value)
    }

    /// As [`value`](Self::value), from counts of any kind, and whether it is an estimate.
    ///
    /// # Errors
    /// As there; also where a count is a sum that lacks a part.
    pub fn figure(&self, count: impl Fn(&str) -> Option<Count>) -> Result<Figure> {
        let is_estimate = Cell::new(false);
        let known = |name: &str| match count(name) {
            None => Err(format!("{name} was not counted")),
            Some(Count { lacks_a_part: true, .. }) => Err(format!("{name} lacks a part")),
            Some(count) => {
                is_estimate.set(is_estimate.get() || count.is_estimate);
                Ok(count.value)
            }
        };
        let value = self.expression.value(&known).and_then(|value| match value {
            ..0.0 => Err(format!("{} comes out as {value}, below 0", self.expression)),
            // The product of 0 and a negative number is a negative zero; the addition removes its
            // sign.
            _ => Ok(Figure { value: value + 0.0, is_estimate: is_estimate.get() }),
        });
        value.map_err(|because| not_computable(&self.name, because))
    }

    /// The events of the expression in its order, without duplicates and without the clocks.
    pub fn events(&self) -> Vec<&str> {
        let mut names = self.expression.names();
        names.retain(|name| !is_quantity(name));
        names
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Metric { name, unit, expression, text, .. } = self;
        write!(f, "{name} | {unit} | {expression} | {text}")?;
        self.source.iter().try_for_each(|source| write!(f, " | {source}"))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Origin) -> bool {
        true
    }
}
