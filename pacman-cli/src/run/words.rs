//! Numbers in sentences, in every format.

/// A part of a whole.
pub(crate) fn share(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0 %".into(),
        ..0.1 => "<0.1 %".into(),
        percent @ 10.0.. => format!("{percent:.0} %"),
        percent => format!("{percent:.1} %"),
    }
}

/// A time with the unit that suits it.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{} s", three_digits(seconds)),
        1e-3.. => format!("{} ms", three_digits(seconds * 1e3)),
        1e-6.. => format!("{} µs", three_digits(seconds * 1e6)),
        // A difference or an empty sum may be -0.
        _ => format!("{:.0} ns", seconds * 1e9 + 0.0),
    }
}

pub(super) fn three_digits(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
