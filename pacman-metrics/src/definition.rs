//! The description of a metric.

/// The unit, formula, events and source of a metric.
///
/// ```
/// for definition in pacman_metrics::definitions() {
///     println!("{}: {} [{}]", definition.name, definition.formula, definition.unit);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Definition {
    /// The metric's name, in lower case with hyphens.
    pub name: &'static str,
    /// The unit of the value.
    pub unit: &'static str,
    /// The formula, with names as in [`needs`](Definition::needs).
    pub formula: &'static str,
    /// The events and clocks of the formula.
    pub needs: &'static [&'static str],
    /// The document, and the place in it.
    pub source: &'static str,
}
