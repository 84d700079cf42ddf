//! Numbers of the threads that wait outside of regions, or have phases.

use std::collections::BTreeSet;

use crate::lock::Lock;

/// The numbers in use.
///
/// A thread that ends gives its number back, and with it its rows. So a program that starts a thread for
/// each message takes no more memory than one with as many threads at a time.
pub(crate) static NUMBERS: Lock<BTreeSet<u32>> = Lock::new(BTreeSet::new());

/// Takes `wished` if it is free, and else the lowest free number.
pub(super) fn take(wished: Option<u32>) -> u32 {
    let mut used = NUMBERS.lock();
    if let Some(wished) = wished.filter(|wished| used.insert(*wished)) {
        return wished;
    }
    let free = (0..).zip(used.iter()).find(|(number, used)| number != *used);
    let number = free.map_or(used.len() as u32, |(number, _)| number);
    used.insert(number);
    number
}

/// Gives a number back.
pub(super) fn give_back(number: u32) {
    NUMBERS.lock().remove(&number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_number_is_taken() {
        assert_eq!([take(None), take(None), take(None)], [0, 1, 2]);
        give_back(1);
        assert_eq!([take(None), take(None)], [1, 3]);
        give_back(0);
        assert_eq!([take(Some(7)), take(Some(7)), take(None)], [7, 0, 4]);
    }
}
