//! From predicted times to a decision that rests on measured ones.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::sample::{Measured, Sample};
use super::step::{self, Forecast, Step};
use pacman_events::{Error, ErrorKind, Result};

/// The rule that decides whether a recommendation is worth an execution to verify it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Rule {
    /// The least predicted gain, as a part of the best measured time.
    pub(super) worth: f64,
    /// The most executions for verification.
    pub(super) executions: usize,
}

impl Default for Rule {
    /// One execution for a gain of 1 %: a controller may lose that much anyway.
    fn default() -> Rule {
        Rule { worth: 0.01, executions: 1 }
    }
}

impl Rule {
    /// The step that follows from the forecasts after `planned` configurations were sampled.
    pub(super) fn settle(
        self,
        forecasts: &[Forecast],
        measured: &Measured,
        planned: usize,
    ) -> Result<Step> {
        let Some(best) = measured.best() else {
            return Err(Error::new(ErrorKind::Empty, "no sample to decide by"));
        };
        let (count, seconds) = (measured.len(), best.seconds());
        let verified = count.saturating_sub(planned);
        let predicted = forecasts.iter().filter(|forecast| !forecast.measured);
        let promising = predicted.min_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let Some(promising) = promising.filter(|one| self.pays(one.seconds, seconds)) else {
            let why =
                format!("best of {count} measured; no other promises {:.0} %", self.worth * 1e2);
            return Ok(step::decide(best, why));
        };
        if verified >= self.executions {
            return Ok(step::decide(
                best,
                format!("best of {count} measured, {verified} to verify"),
            ));
        }
        let why = compared(promising, best);
        Ok(Step::Verify { configuration: promising.configuration, why })
    }

    /// Whether a predicted time is enough below the best measured one.
    pub(super) fn pays(self, predicted: f64, best: f64) -> bool {
        predicted < best * (1.0 - self.worth)
    }
}

/// A forecast, and the best that was measured.
pub(super) fn compared(forecast: &Forecast, best: &Sample) -> String {
    format!(
        "predicted {} ({} to {}); the best measured is {} at {}",
        time(forecast.seconds),
        time(forecast.low),
        if forecast.high.is_finite() { time(forecast.high) } else { "any".into() },
        time(best.seconds()),
        best.configuration(),
    )
}

/// A time with a unit that suits it.
fn time(seconds: f64) -> String {
    format!("{:.3?}", Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}
