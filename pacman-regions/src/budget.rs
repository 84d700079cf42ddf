//! The overhead budget.

use std::fmt;
use std::str::FromStr;

/// The part of a region's time that observing it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverheadBudget {
    parts_per_million: u32,
}

const MILLION: u32 = 1_000_000;

impl OverheadBudget {
    /// One percent.
    pub const DEFAULT: OverheadBudget = OverheadBudget { parts_per_million: MILLION / 100 };

    /// The budget as a part of 1.
    pub fn part(self) -> f64 {
        f64::from(self.parts_per_million) / f64::from(MILLION)
    }

    /// Whether every execution is timed, whatever it costs.
    pub fn times_all(self) -> bool {
        self.parts_per_million == MILLION
    }
}

/// In percent.
impl fmt::Display for OverheadBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.parts_per_million) / 1e4)
    }
}

impl FromStr for OverheadBudget {
    type Err = String;

    fn from_str(text: &str) -> Result<OverheadBudget, String> {
        let percent = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>().ok();
        let parts = percent.map(|percent| (percent * 1e4).round());
        match parts.filter(|parts| (1.0..=f64::from(MILLION)).contains(parts)) {
            Some(parts) => Ok(OverheadBudget { parts_per_million: parts as u32 }),
            None => Err(format!(
                "the overhead must be from 0.0001 to 100 percent, got {text:?}; 100 times every \
                 execution"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_percentage_above_zero() {
        let parsed = |text: &str| text.parse::<OverheadBudget>();
        assert_eq!(parsed("1"), Ok(OverheadBudget::DEFAULT));
        assert_eq!(parsed("0.25%").map(OverheadBudget::part), Ok(0.0025));
        assert!(parsed("100").is_ok_and(OverheadBudget::times_all));
        for text in ["0", "-1", "101", "", "nan", "inf", "1 s", "0.00001"] {
            assert!(parsed(text).is_err_and(|why| why.contains("100 percent")), "{text}");
        }
        for text in ["0.0001", "1", "12.5", "100"] {
            let budget = parsed(text).expect("a budget");
            assert_eq!(budget.to_string().parse(), Ok(budget));
            assert_eq!(budget.to_string(), text);
        }
    }
}
