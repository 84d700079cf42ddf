//! The measured costs of a phase, for the next run of the program.

use crate::predict::Configuration;

/// The costs that the executions of a phase had, in a run of the program.
///
/// [`Controller::evidence`](crate::Controller::evidence) gives it at the end of a run, and
/// [`Controller::recall`](crate::Controller::recall) takes it at the start of the next one.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The cost of an execution at the default.
    pub default_cost: f64,
    /// The other measured configurations, each with its cost over the default's.
    pub ratios: Vec<(Configuration, f64)>,
    /// Whether the present run does the same work, as where the program has the same arguments.
    /// Otherwise the cost of the default decides it.
    pub is_same_work: bool,
}

/// Costs of the default up to this factor apart are of the same work.
const ALIKE: f64 = 1.25;

impl Evidence {
    /// Whether two costs of the default may be of the same work.
    ///
    /// ```
    /// use pacman_adapt::Evidence;
    /// assert!(Evidence::are_alike(1.0, 1.2) && !Evidence::are_alike(1.0, 1.3));
    /// ```
    pub fn are_alike(one: f64, other: f64) -> bool {
        difference(one, other) <= ALIKE.ln()
    }

    /// The evidence for a default that costs `cost`; `None` if all of it is of other work.
    pub(crate) fn nearest(all: &[Evidence], cost: f64) -> Option<&Evidence> {
        let of_work = all.iter().filter(|one| {
            cost.is_finite() && (one.is_same_work || Evidence::are_alike(one.default_cost, cost))
        });
        let key = |one: &Evidence| (!one.is_same_work, difference(one.default_cost, cost));
        of_work.min_by(|a, b| {
            let ((a, from_a), (b, from_b)) = (key(a), key(b));
            a.cmp(&b).then(from_a.total_cmp(&from_b))
        })
    }
}

/// The distance between two costs: 0 for equal ones.
fn difference(one: f64, other: f64) -> f64 {
    (one / other).ln().abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(default_cost: f64) -> Evidence {
        Evidence { default_cost, ratios: Vec::new(), is_same_work: false }
    }

    #[test]
    fn evidence_is_of_work_that_costs_about_the_same() {
        let all = [of(1.0), of(1.2), of(9.0)];
        assert_eq!(Evidence::nearest(&all, 1.15), Some(&all[1]));
        assert_eq!(Evidence::nearest(&all, 0.9), Some(&all[0]));
        assert_eq!(Evidence::nearest(&all, 9.9), Some(&all[2]));
        for other in [0.7, 2.0, 7.0, 12.0, f64::INFINITY, f64::NAN] {
            assert_eq!(Evidence::nearest(&all, other), None, "{other}");
        }
        let same = Evidence { is_same_work: true, ..of(100.0) };
        let all = [of(1.0), same.clone()];
        assert_eq!(Evidence::nearest(&all, 1.0), Some(&same), "whatever it costs now");
    }
}
