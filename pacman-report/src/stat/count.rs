//! One count of a row: exact, or an estimate from a part of the time.

/// A count, with the times of the event set that has it.
///
/// Times are of the threads that ran: sums over rows are scaled as one count, so that a thread that
/// ended before its set was on the counters does not make the sum too small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The count itself.
    pub raw: u64,
    /// Nanoseconds in which the set was to be counted; 0 for a set that is always on the counters.
    pub enabled_ns: u64,
    /// Nanoseconds of these in which it was on the counters.
    pub running_ns: u64,
}

impl Count {
    /// A count of an event that was always on its counter.
    pub fn exact(raw: u64) -> Count {
        Count { raw, enabled_ns: 0, running_ns: 0 }
    }

    /// The count for the whole time; `None` if the event was never on a counter.
    pub fn value(self) -> Option<u64> {
        if self.running_ns == self.enabled_ns {
            return Some(self.raw);
        }
        let scaled = u128::from(self.raw) * u128::from(self.enabled_ns);
        let half = u128::from(self.running_ns / 2);
        let value = (scaled + half).checked_div(self.running_ns.into())?;
        Some(u64::try_from(value).unwrap_or(u64::MAX))
    }

    /// The part of the time in which the event was counted.
    pub fn share(self) -> f64 {
        match self.enabled_ns {
            enabled if enabled == self.running_ns => 1.0,
            enabled => self.running_ns as f64 / enabled as f64,
        }
    }

    /// The count since an earlier reading.
    pub fn since(self, earlier: Count) -> Count {
        self.with(earlier, u64::wrapping_sub)
    }

    /// The sum of two counts.
    pub fn plus(self, other: Count) -> Count {
        self.with(other, u64::saturating_add)
    }

    /// The middle of two counts.
    pub fn midpoint(self, other: Count) -> Count {
        self.with(other, u64::midpoint)
    }

    fn with(self, other: Count, of: fn(u64, u64) -> u64) -> Count {
        Count {
            raw: of(self.raw, other.raw),
            enabled_ns: of(self.enabled_ns, other.enabled_ns),
            running_ns: of(self.running_ns, other.running_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_time_is_scaled_and_told() {
        let count = |raw, enabled_ns, running_ns| Count { raw, enabled_ns, running_ns };
        let quarter = count(25, 400, 100);
        assert_eq!((quarter.value(), quarter.share()), (Some(100), 0.25));
        assert_eq!((Count::exact(7).value(), Count::exact(7).share()), (Some(7), 1.0));
        let never = count(0, 50, 0);
        assert_eq!((never.value(), never.share()), (None, 0.0), "0 would be wrong");
        let sum = quarter.plus(never);
        assert_eq!((sum.value(), sum.share()), (Some(113), 100.0 / 450.0));
        assert_eq!(quarter.since(count(5, 200, 60)), count(20, 200, 40));
        let all = count(u64::MAX / 2, u64::MAX / 2, u64::MAX / 4);
        assert_eq!(all.value(), Some(u64::MAX), "no wrapping");
    }
}
