//! The reason for the next configuration. Each decision has one, and few are read: so it becomes text only
//! on request.

use crate::predict::Configuration;

/// The reason for the next configuration. Costs are over the default's.
#[derive(Clone, Debug)]
pub(crate) enum Reason {
    /// It needs no figure.
    Fixed(&'static str),
    /// An execution takes that many seconds, below a limit.
    TooShort(f64, f64),
    /// The budget allows no sample of a configuration: its risk, the credit, and how many were measured.
    Unpaid { target: Configuration, risk: f64, credit: f64, measured: usize },
    /// Executions have changed by a factor.
    Changed(f64),
    /// A predictor expects this cost.
    Predicted(f64),
    /// Laws expect this cost.
    Expected(f64),
    /// It has this cost, the least of all measured configurations.
    Best(f64, usize),
    /// The best so far had this cost.
    RolledBack(Configuration, f64),
    /// No other of the measured configurations is better.
    NoneBetter(usize),
    /// A predictor said so, or an event that is rare.
    Said(String),
}

impl Reason {
    /// One line.
    #[cold]
    pub(crate) fn text(&self, default: Configuration) -> String {
        match self {
            Reason::Fixed(text) => (*text).to_owned(),
            Reason::TooShort(seconds, limit) => format!(
                "{:.3} ms is too short: below {:.3} ms adapting costs more than it may gain",
                seconds * 1e3,
                limit * 1e3
            ),
            Reason::Unpaid { target, risk, credit, measured } => {
                let so_far = match measured {
                    1 => String::new(),
                    _ => format!("the best of {measured} measured on average; "),
                };
                format!(
                    "{so_far}a sample of {target} may cost as much as {risk:.3} more executions; the \
                     budget allows {credit:.3} now"
                )
            }
            Reason::Changed(factor) => {
                let change = (factor - 1.0) * 100.0;
                format!("executions have changed by {change:+.0} %: measured again")
            }
            Reason::Predicted(cost) => format!("predicted to cost {cost:.3} of {default}"),
            Reason::Expected(cost) => {
                format!("expected to cost {cost:.3} of {default}, and less with luck")
            }
            Reason::Best(cost, measured) => {
                format!("costs {cost:.3} of {default} on average, the best of {measured} measured")
            }
            Reason::RolledBack(on, cost) => {
                format!("{on} cost {cost:.3} of it on average: rolled back")
            }
            Reason::NoneBetter(measured) => {
                format!("of {measured} measured no other is clearly better")
            }
            Reason::Said(text) => text.clone(),
        }
    }
}
