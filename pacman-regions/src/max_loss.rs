//! The loss that adaptation may cause.

use std::fmt;
use std::str::FromStr;

/// The most that adaptation may cost, as a part of what the program takes without it.
///
/// ```
/// use pacman_regions::MaxLoss;
/// let most: MaxLoss = "2.5%".parse()?;
/// assert_eq!((most.part(), most.to_string()), (0.025, "2.5%".to_owned()));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MaxLoss {
    /// Hundredths of a percent.
    hundredths: u32,
}

impl MaxLoss {
    /// The part, from 0 to 1.
    pub fn part(self) -> f64 {
        f64::from(self.hundredths) / 1e4
    }
}

impl fmt::Display for MaxLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", f64::from(self.hundredths) / 100.0)
    }
}

impl FromStr for MaxLoss {
    type Err = String;

    fn from_str(text: &str) -> Result<MaxLoss, String> {
        let percent = text.strip_suffix('%').and_then(|number| number.trim_end().parse().ok());
        match percent {
            Some(percent) if (0.0..=100.0f64).contains(&percent) => {
                Ok(MaxLoss { hundredths: (percent * 100.0).round() as u32 })
            }
            _ => Err(format!("a loss must be from 0% to 100%, got {text:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_in_percent() {
        for (text, part) in [("1%", 0.01), ("0%", 0.0), ("100%", 1.0), ("0.25 %", 0.0025)] {
            let most: MaxLoss = text.parse().expect(text);
            assert_eq!(most.part(), part, "{text}");
            assert_eq!(most.to_string().parse(), Ok(most), "{text}");
        }
        for text in ["", "%", "5", "0.05", "-1%", "101%", "nan%", "inf%", "five%"] {
            let error = text.parse::<MaxLoss>().expect_err(text);
            assert!(error.starts_with("a loss must be from 0% to 100%"), "{error}");
        }
    }
}
