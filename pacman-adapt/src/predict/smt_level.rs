//! The SMT levels of a machine among its configurations.

use pacman_events::few;

use super::Forecast;

/// The forecasts on all cores, one for each number of contexts of a core, quickest first.
///
/// The first one is the SMT level to run at. The list is empty if the configurations name no cores, or if
/// all cores have one level only.
///
/// ```
/// use pacman_adapt::predict::{Forecast, smt_levels};
/// let forecast = |on: &str, seconds| Forecast {
///     configuration: on.parse().unwrap(),
///     seconds,
///     low: seconds,
///     high: seconds,
///     measured: true,
/// };
/// let all = [forecast("4x1", 0.5), forecast("3x2", 0.4), forecast("4x2", 0.6)];
/// let levels = smt_levels(&all);
/// assert_eq!(levels.iter().map(|one| one.seconds).collect::<Vec<_>>(), [0.5, 0.6]);
/// ```
pub fn smt_levels(forecasts: &[Forecast]) -> Vec<Forecast> {
    let cores = |one: &Forecast| one.configuration.cores();
    let all = forecasts.iter().filter_map(cores).max();
    let mut levels: Vec<Forecast> =
        forecasts.iter().filter(|one| all.is_some() && cores(one) == all).copied().collect();
    if levels.len() < 2 {
        return Vec::new();
    }
    few::sort_by(&mut levels, |a, b| a.seconds.total_cmp(&b.seconds));
    levels
}
