//! Numbers for people: grouped digits, four significant digits, a unit.

/// Digits in groups of three: `1,234,567`.
pub(super) fn grouped(value: u128) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count: all digits below a million, then four and a suffix: `12.35 M`.
pub(super) fn count(value: u128) -> String {
    if value < 1_000_000 {
        return grouped(value);
    }
    large(value as f64)
}

/// A ratio or a rate: four digits, and 0 only for a value of 0.
pub(super) fn ratio(value: f64) -> String {
    if value == 0.0 {
        "0".to_string()
    } else if value < 0.001 {
        "<0.001".to_string()
    } else if value < 999.95 {
        four_digits(value)
    } else if value < 999_999.5 {
        grouped(value.round() as u128)
    } else {
        large(value)
    }
}

/// Nanoseconds in the unit that leaves one to three digits before the point.
pub(super) fn duration(nanos: u128, unicode: bool) -> String {
    let micro = if unicode { "µs" } else { "us" };
    if nanos < 1000 {
        return format!("{nanos} ns");
    }
    let mut value = nanos as f64 / 1e3;
    for unit in [micro, "ms"] {
        if value < 999.95 {
            return format!("{} {unit}", four_digits(value));
        }
        value /= 1e3;
    }
    if value < 999.95 {
        return format!("{} s", four_digits(value));
    }
    format!("{} s", grouped(value.round() as u128))
}

/// A part of a whole: `65.0 %`; `whole` is not 0.
pub(super) fn percent(part: u128, whole: u128) -> String {
    let share = part as f64 * 100.0 / whole as f64;
    if part > 0 && share < 0.05 { "<0.1 %".to_string() } else { format!("{share:.1} %") }
}

/// A value of a million or more, as four digits and a suffix.
fn large(value: f64) -> String {
    let mut value = value / 1e6;
    for suffix in ['M', 'G', 'T', 'P'] {
        if value < 999.95 {
            return format!("{} {suffix}", four_digits(value));
        }
        value /= 1e3;
    }
    if value < 999.95 {
        return format!("{} E", four_digits(value));
    }
    format!("{} E", grouped(value.round() as u128))
}

/// Four significant digits of a value below 999.95; three decimals below 1.
fn four_digits(value: f64) -> String {
    if value < 9.9995 {
        format!("{value:.3}")
    } else if value < 99.995 {
        format!("{value:.2}")
    } else {
        format!("{value:.1}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_group_from_the_right() {
        let texts = [0, 12, 999, 1000, 999_999, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "12", "999", "1,000", "999,999", "1,234,567"]);
    }

    #[test]
    fn counts_keep_four_digits_across_the_suffixes() {
        let texts = [999_999, 1_000_000, 12_345_678, 999_949_999, 999_950_000, 1 << 64].map(count);
        assert_eq!(texts, ["999,999", "1.000 M", "12.35 M", "999.9 M", "1.000 G", "18.45 E"]);
        assert_eq!(count(5000 << 64), "92,234 E");
    }

    #[test]
    fn ratios_never_round_to_zero() {
        let texts = [0.0, 0.0004, 0.001, 0.98, 9.9996, 2500.4, 2.4e9].map(ratio);
        assert_eq!(texts, ["0", "<0.001", "0.001", "0.980", "10.00", "2,500", "2.400 G"]);
    }

    #[test]
    fn durations_change_units_where_four_digits_end() {
        let texts =
            [0, 999, 1000, 999_949, 999_950, 203_400_000, 1_204_000_000, 86_400_000_000_000]
                .map(|nanos| duration(nanos, true));
        assert_eq!(
            texts,
            [
                "0 ns",
                "999 ns",
                "1.000 µs",
                "999.9 µs",
                "1.000 ms",
                "203.4 ms",
                "1.204 s",
                "86,400 s"
            ]
        );
        assert_eq!(duration(1500, false), "1.500 us");
    }

    #[test]
    fn shares_never_round_to_zero() {
        assert_eq!(percent(0, 7), "0.0 %");
        assert_eq!(percent(1, 1_000_000), "<0.1 %");
        assert_eq!(percent(2, 3), "66.7 %");
        assert_eq!(percent(u128::from(u64::MAX), u128::from(u64::MAX)), "100.0 %");
    }
}
