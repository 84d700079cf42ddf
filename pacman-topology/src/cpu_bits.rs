//! CPU numbers as bits, read from the kernel's two notations.

/// Eight times the CPU limit of any kernel. The limit keeps a mistyped number from taking much memory.
pub(crate) const LAST_CPU: u32 = 65_535;

/// A set of CPU numbers up to [`LAST_CPU`] with one bit each, so that repeated numbers cost
/// nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct CpuBits(Vec<u64>);

impl CpuBits {
    /// Adds a number; false if it was in the set.
    pub(crate) fn insert(&mut self, cpu: u32) -> bool {
        let (word, bit) = (cpu as usize / 64, 1 << (cpu % 64));
        self.reach(word);
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    pub(crate) fn contains(&self, cpu: u32) -> bool {
        self.0.get(cpu as usize / 64).is_some_and(|word| word >> (cpu % 64) & 1 == 1)
    }

    fn insert_run(&mut self, first: u32, last: u32) {
        let (low, high) = (first as usize / 64, last as usize / 64);
        self.reach(high);
        for word in low..=high {
            let from = if word == low { first % 64 } else { 0 };
            let to = if word == high { last % 64 } else { 63 };
            self.0[word] |= (u64::MAX << from) & (u64::MAX >> (63 - to));
        }
    }

    fn reach(&mut self, word: usize) {
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
    }

    /// The members in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.0.len() as u32 * 64)
            .filter(|&cpu| self.0[cpu as usize / 64] >> (cpu % 64) & 1 == 1)
    }

    /// The number of CPUs in both.
    pub(crate) fn count_common(&self, other: &CpuBits) -> usize {
        self.0.iter().zip(&other.0).map(|(one, other)| (one & other).count_ones() as usize).sum()
    }

    /// The lowest member that is also in `other`.
    pub(crate) fn first_common(&self, other: &CpuBits) -> Option<u32> {
        let both = |at: usize| self.0[at] & other.0[at];
        let word = (0..self.0.len().min(other.0.len())).find(|&at| both(at) != 0)?;
        Some(word as u32 * 64 + both(word).trailing_zeros())
    }

    /// Reads the list notation; the error is the first malformed item.
    pub(crate) fn from_list(text: &str) -> Result<CpuBits, &str> {
        let mut bits = CpuBits::default();
        for item in text.trim().split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let range = Range::read(item).ok_or(item)?;
            range.runs().for_each(|(first, last)| bits.insert_run(first, last));
        }
        Ok(bits)
    }

    /// Reads the mask notation; the error is the first malformed group.
    pub(crate) fn from_mask(text: &str) -> Result<CpuBits, &str> {
        let mut bits = CpuBits::default();
        for (word, digits) in text.trim().rsplit(',').enumerate() {
            let base =
                u32::try_from(word).ok().and_then(|word| word.checked_mul(32)).unwrap_or(LAST_CPU);
            let is_hex = digits.trim().bytes().all(|byte| byte.is_ascii_hexdigit());
            let group =
                u32::from_str_radix(digits.trim(), 16).ok().filter(|_| is_hex && base < LAST_CPU);
            let group = group.ok_or(digits)?;
            (0..32).filter(|bit| group >> bit & 1 == 1).for_each(|bit| {
                bits.insert(base + bit);
            });
        }
        Ok(bits)
    }
}

impl FromIterator<u32> for CpuBits {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> CpuBits {
        let mut bits = CpuBits::default();
        cpus.into_iter().filter(|cpu| *cpu <= LAST_CPU).for_each(|cpu| {
            bits.insert(cpu);
        });
        bits
    }
}

/// An item of a list: `5`, `0-3`, or `0-31:2/8` (the first 2 of every 8).
pub(crate) struct Range {
    first: u32,
    last: u32,
    used: u32,
    group: u32,
}

impl Range {
    pub(crate) fn read(item: &str) -> Option<Range> {
        let (range, (used, group)) = match item.split_once(':') {
            Some((range, stride)) => {
                let (used, group) = stride.split_once('/')?;
                (range, (number(used)?, number(group)?))
            }
            None => (item, (1, 1)),
        };
        let (first, last) = match range.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(range)?, number(range)?),
        };
        if first > last || used == 0 || used > group {
            return None;
        }
        Some(Range { first, last, used, group })
    }

    /// The members in ascending order.
    pub(crate) fn cpus(&self) -> impl Iterator<Item = u32> + use<> {
        let Range { first, last, used, group } = *self;
        (first..=last).filter(move |cpu| (cpu - first) % group < used)
    }

    /// First and last of each run of consecutive members.
    fn runs(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let Range { first, last, used, group } = *self;
        let step = if used == group { last - first + 1 } else { group };
        (first..=last).step_by(step as usize).map(move |start| {
            (start, if used == group { last } else { last.min(start + used - 1) })
        })
    }
}

fn number(digits: &str) -> Option<u32> {
    let digits = digits.trim();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|&cpu| cpu <= LAST_CPU)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_what_the_notation_says() {
        for (item, cpus) in [
            ("5", vec![5]),
            ("62-66", vec![62, 63, 64, 65, 66]),
            ("0-9:2/4", vec![0, 1, 4, 5, 8, 9]),
            ("0-8:2/4", vec![0, 1, 4, 5, 8]),
            ("3-5:4/4", vec![3, 4, 5]),
            ("7-7:1/65535", vec![7]),
            ("65535", vec![65_535]),
        ] {
            assert_eq!(Range::read(item).unwrap().cpus().collect::<Vec<_>>(), cpus, "{item}");
            let bits = CpuBits::from_list(item).unwrap();
            assert_eq!(bits.iter().collect::<Vec<_>>(), cpus, "{item}");
        }
        for item in ["0-7:0/4", "0-7:5/4", "0-7:1", "65536", "1-0", "", "-", ":", "1:1/0"] {
            assert!(Range::read(item).is_none(), "{item}");
        }
    }

    #[test]
    fn the_lowest_that_both_have() {
        let [one, other] = ["64-200", "3,130-131"].map(|list| CpuBits::from_list(list).unwrap());
        assert_eq!(one.first_common(&other), Some(130));
        assert_eq!(one.first_common(&CpuBits::default()), None);
    }
}
