//! Numbers with their nouns and verbs: the only place that decides between singular and plural.

use std::fmt::Display;

/// A count, of any type.
pub trait Count: Display + PartialEq + From<u8> + Copy {}

impl<T: Display + PartialEq + From<u8> + Copy> Count for T {}

fn is_one<T: Count>(count: T) -> bool {
    count == T::from(1)
}

/// `1 thread`, `2 threads`.
pub fn number<T: Count>(count: T, one: &str) -> String {
    format!("{count} {}", noun(count, one))
}

/// `thread` for one, else `threads`. The last word of `one` changes: `other region`, `other regions`.
pub fn noun<T: Count>(count: T, one: &str) -> String {
    let hisses = ["s", "x", "ch", "sh"].iter().any(|end| one.ends_with(end));
    match is_one(count) {
        true => one.to_owned(),
        false if hisses => format!("{one}es"),
        false => format!("{one}s"),
    }
}

/// The verb after this number: `is` or `are`.
pub fn is<T: Count>(count: T) -> &'static str {
    if is_one(count) { "is" } else { "are" }
}

/// The verb after this number: `was` or `were`.
pub fn was<T: Count>(count: T) -> &'static str {
    if is_one(count) { "was" } else { "were" }
}

/// The verb after this number: `has` or `have`.
pub fn has<T: Count>(count: T) -> &'static str {
    if is_one(count) { "has" } else { "have" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_alone_is_singular() {
        assert_eq!(number(1_u32, "thread"), "1 thread");
        assert_eq!(number(0_usize, "thread"), "0 threads");
        assert_eq!(number(11_u64, "core"), "11 cores");
        assert_eq!(number(1_u8, "process"), "1 process");
        assert_eq!(
            [1_u8, 2].map(|count| noun(count, "more process")),
            ["more process", "more processes"]
        );
    }

    #[test]
    fn verbs_agree_with_their_numbers() {
        assert_eq!([1_u64, 0, 2].map(is), ["is", "are", "are"]);
        assert_eq!([1_u64, 0, 2].map(was), ["was", "were", "were"]);
        assert_eq!([1_u64, 0, 2].map(has), ["has", "have", "have"]);
    }
}
