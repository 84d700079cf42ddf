//! Sorts lists of a few elements, at most some dozens.
//!
//! The standard library's sorts are for lists of any length and take 5 to 8 kB of code for each type. The
//! library that is preloaded into programs had 40 of them. These are stable and take 100 bytes.

use std::cmp::Ordering;

/// Sorts `items` by their own order.
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// Sorts `items` by a key.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |one, other| key(one).cmp(&key(other)));
}

/// Sorts `items`; equal ones stay in their order.
///
/// ```
/// let mut shares = [0.5, 0.125, 0.25];
/// pacman_events::few::sort_by(&mut shares, f64::total_cmp);
/// assert_eq!(shares, [0.125, 0.25, 0.5]);
/// ```
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && compare(&items[at - 1], &items[at]).is_gt() {
            items.swap(at - 1, at);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_sorts_as_the_standard_library_does(mut few: Vec<(u8, u8)>) {
            let mut expected = few.clone();
            expected.sort_by_key(|(key, _)| *key);
            super::sort_by_key(&mut few, |(key, _)| *key);
            prop_assert_eq!(&few, &expected);
            expected.sort();
            super::sort(&mut few);
            prop_assert_eq!(few, expected);
        }
    }
}
