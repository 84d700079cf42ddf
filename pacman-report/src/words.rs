//! Numbers in sentences, in every format.

/// A part of a whole.
pub fn share(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0 %".into(),
        ..0.1 => "<0.1 %".into(),
        percent @ 10.0.. => format!("{percent:.0} %"),
        percent => format!("{percent:.1} %"),
    }
}

/// A time with the unit that suits it.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{} s", three_digits(seconds)),
        1e-3.. => format!("{} ms", three_digits(seconds * 1e3)),
        1e-6.. => format!("{} µs", three_digits(seconds * 1e6)),
        _ => format!("{} ns", rounded(seconds * 1e9, 0)),
    }
}

/// A number with so many decimals. A difference or an empty sum may be -0, and -0.04 rounds to it: it
/// is written without a sign.
pub fn rounded(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|digit| "0.".contains(digit)) => zero.to_owned(),
        _ => text,
    }
}

/// `+1.5`, `-0.3`, and `+0.0` where nothing is left of the difference.
pub fn signed(value: f64, decimals: usize) -> String {
    let text = rounded(value, decimals);
    if text.starts_with('-') { text } else { format!("+{text}") }
}

/// A metric's value in any unit.
pub fn metric(value: f64) -> String {
    if value >= 1e5 { scaled(value) } else { format!("{value:.3}") }
}

/// A number with k, M or G.
pub fn scaled(value: f64) -> String {
    match value {
        1e9.. => format!("{} G", three_digits(value / 1e9)),
        1e6.. => format!("{} M", three_digits(value / 1e6)),
        1e3.. => format!("{} k", three_digits(value / 1e3)),
        _ => three_digits(value),
    }
}

pub(crate) fn three_digits(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Digits in groups of three.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Names are the command's, and shall not drive the terminal.
pub fn clean(text: &str) -> String {
    pacman_events::shown::line(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_sign() {
        let empty: f64 = [0.0; 0].iter().sum();
        assert_eq!([empty, -1e-12, 0.0].map(seconds), ["0 ns"; 3]);
        assert_eq!([-0.0, -0.04, 0.04].map(|value| rounded(value, 1)), ["0.0"; 3]);
        assert_eq!([-0.0, -0.04, 0.04].map(|value| signed(value, 1)), ["+0.0"; 3]);
        assert_eq!([-0.06, 0.06].map(|value| signed(value, 1)), ["-0.1", "+0.1"]);
        assert_eq!([share(empty), share(0.0)], ["0 %"; 2]);
    }
}
