//! Amounts as people read them.

use crate::run::report::{Count, MOSTLY_READINGS, Unit};
use crate::words::grouped;
use pacman_events::plural::is;
pub(in crate::run) use pacman_events::plural::number;

pub(in crate::run) use crate::words::metric;
pub(crate) use crate::words::{rounded, seconds, share, signed};
use crate::words::{scaled, three_digits};

/// An energy with the unit that suits it.
pub(in crate::run) fn joules(joules: f64) -> String {
    with_prefix(joules, "J")
}

/// A power with the unit that suits it.
pub(in crate::run) fn watts(watts: f64) -> String {
    with_prefix(watts, "W")
}

fn with_prefix(value: f64, unit: &str) -> String {
    match value {
        1e3.. => format!("{} k{unit}", three_digits(value / 1e3)),
        1.0.. => format!("{} {unit}", three_digits(value)),
        1e-3.. => format!("{} m{unit}", three_digits(value * 1e3)),
        0.0 => format!("0 {unit}"),
        _ => format!("{} µ{unit}", three_digits(value * 1e6)),
    }
}

/// A count; one that some executions are missing in is a lower bound. An estimate has half of its interval,
/// and the part of the executions that was counted. One that is mostly of the readings has a mark.
pub(in crate::run) fn quantity(count: Option<Count>, unit: &str) -> String {
    let Some(count) = count else { return "-".into() };
    let Count { value, is_complete, share, margin, .. } = count;
    let mark = if count.is_mostly_readings() { MOSTLY_READINGS } else { "" };
    let at_least = if is_complete { "" } else { ">=" };
    let share = if share < 1.0 { format!(" ({:.1}%)", 100.0 * share) } else { String::new() };
    let amount = |value: u64| match unit {
        "ns" => seconds(value as f64 * 1e-9),
        _ => grouped(value),
    };
    let half =
        if margin > 0.0 { format!(" ±{}", amount(margin.ceil() as u64)) } else { String::new() };
    format!("{at_least}{}{mark}{half}{share}", amount(value))
}

/// A count in a second.
pub(in crate::run) fn rate(rate: f64, unit: &str) -> String {
    match unit {
        // A clock's rate is a part of the time.
        "ns" => share(rate * 1e-9),
        _ => format!("{} / s", scaled(rate)),
    }
}

/// A time won, or lost where it is below 0.
pub(in crate::run) fn difference(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    if value == 0.0 { "0".into() } else { format!("{sign}{}", seconds(value.abs())) }
}

/// A figure in its unit; a share is in percent, without the sign.
pub(crate) fn of_unit(value: Option<f64>, unit: Unit) -> String {
    match unit {
        Unit::Seconds => value.map_or_else(absent, seconds),
        Unit::Share => percent(value),
        Unit::Ratio => value.map_or_else(absent, |value| rounded(value, 2)),
    }
}

/// A part in percent, without the sign.
pub(in crate::run) fn percent(share: Option<f64>) -> String {
    share.map_or_else(absent, |share| rounded(100.0 * share, 1))
}

/// `2 more regions are left out here; -o FILE has all`.
pub(super) fn left_out_here(left_out: usize, one: &str) -> String {
    let (more, are) = (number(left_out, &format!("more {one}")), is(left_out));
    format!("{more} {are} left out here; -o FILE has all\n")
}

/// The text in place of a value that is not there.
pub(super) fn absent() -> String {
    "-".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_three_digits_and_a_unit() {
        let times = [123.4, 12.34, 1.234, 0.01234, 12.3e-6, 123e-9, 0.0].map(seconds);
        assert_eq!(times, ["123 s", "12.3 s", "1.23 s", "12.3 ms", "12.3 µs", "123 ns", "0 ns"]);
        assert_eq!(
            [0.0, 0.0004, 0.004, 0.0951, 0.92, 1.0].map(share),
            ["0 %", "<0.1 %", "0.4 %", "9.5 %", "92 %", "100 %"]
        );
        assert_eq!([12_345.0, 7.5, 0.0125, 4e-6, 0.0].map(joules), ENERGIES);
        assert_eq!([95.0, 0.25].map(watts), ["95.0 W", "250 mW"]);
        assert_eq!([2.4e9, 15e6, 1500.0, 12.0].map(scaled), ["2.40 G", "15.0 M", "1.50 k", "12.0"]);
    }

    const ENERGIES: [&str; 5] = ["12.3 kJ", "7.50 J", "12.5 mJ", "4.00 µJ", "0 J"];

    #[test]
    fn what_is_not_whole_says_so() {
        let count = |is_complete| {
            Some(Count { value: 12345, is_complete, share: 1.0, margin: 0.0, readings: Some(0.5) })
        };
        assert_eq!(
            [count(true), count(false), None].map(|count| quantity(count, "cycles")),
            ["12,345", ">=12,345", "-"]
        );
        assert_eq!(quantity(count(true), "ns"), "12.3 µs");
        let estimate = Count {
            value: 12345,
            is_complete: true,
            share: 1.0 / 3.0,
            margin: 1233.2,
            readings: None,
        };
        assert_eq!(quantity(Some(estimate), "cycles"), "12,345 ±1,234 (33.3%)");
        let doubtful = Count { readings: Some(0.51), share: 1.0, margin: 0.0, ..estimate };
        assert_eq!(quantity(Some(doubtful), "cycles"), "12,345!");
        assert_eq!([0.21, -0.004, 0.0].map(difference), ["+210 ms", "-4.00 ms", "0"]);
        assert_eq!([rate(8.2e8, "ns"), rate(8.2e8, "cycles")], ["82 %", "820 M / s"]);
    }
}
