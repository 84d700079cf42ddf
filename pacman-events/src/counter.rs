//! Sets of the counters of a hardware context.

use std::fmt;

/// A set of counter numbers below 64.
///
/// General counters are numbered as RDPMC numbers them: `PMC0` is 0 on Intel and
/// AMD, `MSR_BPU_COUNTER0` is 0 and `MSR_IQ_COUNTER5` is 17 on NetBurst, `PIC0` is
/// 0 on Niagara. Fixed counters have a set of their own, which starts at 0 again.
///
/// ```
/// use pacman_events::CounterSet;
/// let low = CounterSet::first(4);
/// assert_eq!(low.iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
/// assert!(low.without(1).contains(2));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CounterSet(u64);

impl CounterSet {
    /// The set without any counter: a fixed-only event has no general counters.
    pub const EMPTY: CounterSet = CounterSet(0);

    /// The set whose bit `n` says whether counter `n` is in it.
    pub const fn from_bits(bits: u64) -> Self {
        CounterSet(bits)
    }

    /// The `count` lowest counters.
    pub const fn first(count: u32) -> Self {
        if count >= 64 { CounterSet(u64::MAX) } else { CounterSet((1 << count) - 1) }
    }

    /// The set of this one counter; empty for a number of 64 or more.
    pub const fn only(counter: u8) -> Self {
        if counter < 64 { CounterSet(1 << counter) } else { CounterSet(0) }
    }

    /// The set as bits: bit `n` is 1 if counter `n` is in the set.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The number of counters in the set.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether no counter is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `counter` is in the set.
    pub const fn contains(self, counter: u8) -> bool {
        counter < 64 && self.0 >> counter & 1 == 1
    }

    /// The lowest counter of the set.
    pub const fn lowest(self) -> Option<u8> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros() as u8) }
    }

    /// The counters in both sets.
    pub const fn and(self, other: Self) -> Self {
        CounterSet(self.0 & other.0)
    }

    /// The counters in either set.
    pub const fn or(self, other: Self) -> Self {
        CounterSet(self.0 | other.0)
    }

    /// The counters of this set that are not in `other`.
    pub const fn minus(self, other: Self) -> Self {
        CounterSet(self.0 & !other.0)
    }

    /// The set with `counter` added.
    pub const fn with(self, counter: u8) -> Self {
        self.or(Self::only(counter))
    }

    /// The set with `counter` taken out.
    pub const fn without(self, counter: u8) -> Self {
        self.minus(Self::only(counter))
    }

    /// The counters from the lowest to the highest.
    pub fn iter(self) -> impl Iterator<Item = u8> + use<> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let counter = CounterSet(rest).lowest()?;
            rest &= rest - 1;
            Some(counter)
        })
    }
}

impl FromIterator<u8> for CounterSet {
    fn from_iter<I: IntoIterator<Item = u8>>(counters: I) -> Self {
        counters.into_iter().fold(Self::EMPTY, Self::with)
    }
}

/// Writes runs as ranges, such as `0-3,6`, and the empty set as `none`.
impl fmt::Display for CounterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        let mut separator = "";
        let mut rest = self.0;
        while rest != 0 {
            let start = rest.trailing_zeros();
            let run = (rest >> start).trailing_ones();
            write!(f, "{separator}{start}")?;
            if run > 1 {
                write!(f, "{}{}", if run == 2 { "," } else { "-" }, start + run - 1)?;
            }
            separator = ",";
            rest &= !(Self::first(run).0 << start);
        }
        Ok(())
    }
}

impl fmt::Debug for CounterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CounterSet({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_folds_runs() {
        assert_eq!(CounterSet::from_bits(0b100_1111).to_string(), "0-3,6");
        assert_eq!(CounterSet::from_bits(0b11).to_string(), "0,1");
        assert_eq!(CounterSet::from_bits(u64::MAX).to_string(), "0-63");
        assert_eq!(CounterSet::EMPTY.to_string(), "none");
    }

    #[test]
    fn numbers_from_64_are_in_no_set() {
        assert!(!CounterSet::first(64).contains(64));
        assert_eq!(CounterSet::only(64), CounterSet::EMPTY);
        assert_eq!([0u8, 5, 64].into_iter().collect::<CounterSet>().bits(), 0b10_0001);
    }
}
