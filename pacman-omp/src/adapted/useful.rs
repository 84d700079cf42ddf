//! The useful share of a region's time, as its search measures it.

/// The shares that are kept, and the most executions between two that are measured.
const KEPT: usize = 4;
const DISTANCE: u64 = 64;

/// A limit below this lets one thread be tried after a few executions.
const CLOSE: f64 = 1.05;

/// The useful share of a region at its default.
///
/// The 1st, 2nd, 4th, 8th, … execution of a search is measured, and each 64th. The others count with the
/// highest of the latest shares.
#[derive(Debug, Default)]
pub(crate) struct UsefulShare {
    /// The executions since the search began.
    executions: u64,
    latest: [f64; KEPT],
    measured: usize,
    /// Of the latest execution measured, the share of its threads' time that is not useful, and the useful
    /// time over the execution's.
    noted: Option<(f64, f64)>,
}

impl UsefulShare {
    /// Whether the next execution should be measured.
    pub(crate) fn is_due(&self) -> bool {
        let next = self.executions + 1;
        next.is_power_of_two() || next % DISTANCE == 0
    }

    /// An execution has ended, in which `busy` of `threads` were in the body on average. `measured` is the
    /// useful share of their time. Answers the share that counts for the execution.
    pub(crate) fn executed(
        &mut self,
        busy: f64,
        threads: f64,
        measured: Option<f64>,
    ) -> Option<f64> {
        self.executions += 1;
        if let Some(share) = measured {
            self.latest[self.measured % self.latest.len()] = share;
            self.measured += 1;
        }
        let known = &self.latest[..self.measured.min(self.latest.len())];
        let useful = known.iter().copied().reduce(f64::max)?;
        if measured.is_some() {
            let most = useful * busy;
            self.noted = Some((1.0 - most / threads, most));
        }
        Some(useful)
    }

    /// The words about it in a report; `None` where it limits nothing.
    pub(crate) fn words(&self) -> Option<String> {
        let (waited, most) = self.noted.filter(|(_, most)| *most < CLOSE)?;
        Some(format!(
            "threads waited {:.0} % of the time, so the work of all takes one thread at most {most:.2} of the \
             default",
            waited * 100.0
        ))
    }

    /// The next search measures again.
    pub(crate) fn search_anew(&mut self) {
        (self.executions, self.measured) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_executions_of_a_search_are_measured_and_then_fewer() {
        let mut share = UsefulShare::default();
        let mut measured = Vec::new();
        for execution in 1..=200 {
            if share.is_due() {
                measured.push(execution);
            }
            share.executed(2.0, 2.0, None);
        }
        assert_eq!(measured, [1, 2, 4, 8, 16, 32, 64, 128, 192]);
        share.search_anew();
        assert!(share.is_due());
    }

    #[test]
    fn the_highest_of_the_latest_shares_counts() {
        let mut share = UsefulShare::default();
        assert_eq!((share.executed(2.0, 2.0, None), share.words()), (None, None));
        assert_eq!(share.executed(2.0, 2.0, Some(0.3)), Some(0.3));
        let words = share.words().expect("it limits the cost");
        assert!(words.starts_with("threads waited 70 % of the time"), "{words}");
        assert!(words.contains("at most 0.60 of the default"), "{words}");
        assert_eq!(share.executed(2.0, 2.0, None), Some(0.3));
        assert_eq!(share.executed(2.0, 2.0, Some(0.9)), Some(0.9));
        assert_eq!(share.words(), None, "one thread may cost 1.8 of the default");
        let later: Vec<_> = (0..4).map(|_| share.executed(2.0, 2.0, Some(0.5))).collect();
        assert_eq!(later, [Some(0.9), Some(0.9), Some(0.9), Some(0.5)]);
    }
}
