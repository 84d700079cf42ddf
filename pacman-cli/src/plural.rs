//! Numbers with their nouns: the only place that decides between singular and plural.

use std::fmt::Display;

/// `1 thread`, `2 threads`.
pub(crate) fn number<T: Display + PartialEq + From<u8>>(count: T, one: &str) -> String {
    if count == T::from(1) { format!("{count} {one}") } else { format!("{count} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn one_alone_is_singular() {
        assert_eq!(number(1_u32, "thread"), "1 thread");
        assert_eq!(number(0_usize, "thread"), "0 threads");
        assert_eq!(number(11_u64, "core"), "11 cores");
    }
}
