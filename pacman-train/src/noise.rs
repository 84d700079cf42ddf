//! Whether the recorded times show what training looks for: differences between configurations.

use std::collections::BTreeMap;

use pacman_adapt::predict::Configuration;

/// The times of the runs, by phase and configuration.
#[derive(Debug, Default)]
pub(crate) struct Times(BTreeMap<String, BTreeMap<Configuration, Vec<f64>>>);

impl Times {
    pub(crate) fn add(&mut self, phase: &str, on: Configuration, seconds: f64) {
        self.0.entry(phase.to_owned()).or_default().entry(on).or_default().push(seconds);
    }

    /// A line if noise hides the differences between the configurations of some phases.
    pub(crate) fn line(&self) -> Option<String> {
        let judged: Vec<bool> = self.0.values().filter_map(is_hidden).collect();
        let hidden = judged.iter().filter(|hidden| **hidden).count();
        (hidden > 0).then(|| {
            format!(
                "in {hidden} of {} phases the runs of one configuration differ more than the \
                 configurations do: a model cannot learn from them; use an idle machine, longer \
                 phases or more --runs",
                judged.len()
            )
        })
    }
}

/// Whether runs of one configuration differ more than the medians of the configurations; `None` if
/// there are not two runs of two configurations.
fn is_hidden(phase: &BTreeMap<Configuration, Vec<f64>>) -> Option<bool> {
    let repeated: Vec<&Vec<f64>> = phase.values().filter(|times| times.len() > 1).collect();
    if repeated.len() < 2 {
        return None;
    }
    let medians: Vec<f64> = repeated.iter().map(|times| median(times)).collect();
    let spreads: Vec<f64> = repeated.iter().map(|times| range(times)).collect();
    Some(median(&spreads) > range(&medians))
}

fn range(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most - values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        0 => (sorted[middle - 1] + sorted[middle]) / 2.0,
        _ => sorted[middle],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A phase, and the seconds of its runs by configuration.
    type Phase<'a> = (&'a str, &'a [(&'a str, &'a [f64])]);

    fn times(phases: &[Phase<'_>]) -> Times {
        let mut times = Times::default();
        for (phase, configurations) in phases {
            for (on, runs) in *configurations {
                let on = on.parse().expect("a configuration");
                runs.iter().for_each(|seconds| times.add(phase, on, *seconds));
            }
        }
        times
    }

    #[test]
    fn noise_above_the_differences_is_said() {
        let clear: Phase<'_> = ("clear", &[("1x1", &[2.0, 2.1, 2.0]), ("2x1", &[1.0, 1.1, 1.05])]);
        let noisy: (&str, &[(&str, &[f64])]) =
            ("noisy", &[("1x1", &[2.0, 1.0, 1.5]), ("2x1", &[1.3, 1.4, 0.9])]);
        assert_eq!(times(&[clear]).line(), None);
        let line = times(&[clear, noisy]).line().expect("one is noisy");
        assert!(line.starts_with("in 1 of 2 phases the runs of one configuration"), "{line}");
    }

    #[test]
    fn a_single_run_says_nothing_about_noise() {
        let once: (&str, &[(&str, &[f64])]) = ("once", &[("1x1", &[2.0]), ("2x1", &[1.0])]);
        let alone: (&str, &[(&str, &[f64])]) = ("alone", &[("1x1", &[2.0, 9.0])]);
        assert_eq!(times(&[once, alone]).line(), None);
    }
}
