//! Compares names in any spelling.

use std::cmp::Ordering;

/// Order of names: case folded, and `:` equal to `.`.
pub(crate) fn compare(one: &str, other: &str) -> Ordering {
    // Most bytes are equal already; only the others need folding.
    for (one, other) in one.bytes().zip(other.bytes()) {
        if one != other {
            match fold(one).cmp(&fold(other)) {
                Ordering::Equal => {}
                order => return order,
            }
        }
    }
    one.len().cmp(&other.len())
}

pub(crate) fn fold(byte: u8) -> u8 {
    if byte == b':' { b'.' } else { byte.to_ascii_lowercase() }
}
