//! Sets of CPU numbers, in the two notations the kernel writes.

use std::fmt;

use crate::error::{Error, ErrorKind, Result};

/// A set of CPU numbers, kept in ascending order.
///
/// ```
/// use pacman_core::topology::CpuSet;
/// let set: CpuSet = [3, 0, 1, 2, 8].into_iter().collect();
/// assert_eq!(set.to_string(), "0-3,8");
/// assert_eq!(CpuSet::from_list("0-3,8")?, set);
/// assert_eq!(CpuSet::from_mask("0000010f")?, set);
/// # Ok::<(), pacman_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CpuSet(Vec<u32>);

impl CpuSet {
    /// The set that the kernel's list notation describes, such as `0-3,8` or `0-31:2/8`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if the text is not such a list or names a CPU above 65535.
    pub fn from_list(text: &str) -> Result<CpuSet> {
        let mut cpus = Vec::new();
        for item in text.trim().split(',').map(str::trim).filter(|item| !item.is_empty()) {
            push_range(item, &mut cpus).ok_or_else(|| {
                Error::new(
                    ErrorKind::InvalidInput,
                    format!(
                        "cannot read cpu list {text:?}: {item:?} is not a cpu or range from 0 to \
                         {LAST_CPU}; write it like 0-3,8"
                    ),
                )
            })?;
        }
        Ok(cpus.into_iter().collect())
    }

    /// The set that the kernel's mask notation describes: groups of 32 bits in hexadecimal, highest first.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if the text is not such a mask or names a CPU above 65535.
    pub fn from_mask(text: &str) -> Result<CpuSet> {
        let mut cpus = Vec::new();
        for (word, digits) in text.trim().rsplit(',').enumerate() {
            let base =
                u32::try_from(word).ok().and_then(|word| word.checked_mul(32)).unwrap_or(LAST_CPU);
            let is_hex = digits.trim().bytes().all(|byte| byte.is_ascii_hexdigit());
            let bits =
                u32::from_str_radix(digits.trim(), 16).ok().filter(|_| is_hex && base < LAST_CPU);
            let Some(bits) = bits else {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    format!(
                        "cannot read cpu mask {text:?}: {digits:?} is not a group of 32 bits below \
                         cpu {LAST_CPU}; write it like ff,0000000f"
                    ),
                ));
            };
            cpus.extend((0..32).filter(|bit| bits >> bit & 1 == 1).map(|bit| base + bit));
        }
        Ok(cpus.into_iter().collect())
    }

    /// Whether `cpu` is a member.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.binary_search(&cpu).is_ok()
    }

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// The lowest member.
    pub fn first(&self) -> Option<u32> {
        self.0.first().copied()
    }

    /// The highest member.
    pub fn last(&self) -> Option<u32> {
        self.0.last().copied()
    }

    /// How many CPUs the set holds.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set holds no CPU.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members that `other` holds too.
    pub fn intersection(&self, other: &CpuSet) -> CpuSet {
        CpuSet(self.iter().filter(|&cpu| other.contains(cpu)).collect())
    }

    /// The members that `other` does not hold.
    pub fn difference(&self, other: &CpuSet) -> CpuSet {
        CpuSet(self.iter().filter(|&cpu| !other.contains(cpu)).collect())
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> CpuSet {
        let mut cpus: Vec<u32> = cpus.into_iter().collect();
        cpus.sort_unstable();
        cpus.dedup();
        CpuSet(cpus)
    }
}

/// Writes the list notation; the empty set is `none`.
impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        let mut rest = self.0.as_slice();
        let mut separator = "";
        while let Some(&first) = rest.first() {
            let run = rest.iter().zip(first..).take_while(|&(&cpu, next)| cpu == next).count();
            let last = rest[run - 1];
            match run {
                1 => write!(f, "{separator}{first}")?,
                2 => write!(f, "{separator}{first},{last}")?,
                _ => write!(f, "{separator}{first}-{last}")?,
            }
            separator = ",";
            rest = &rest[run..];
        }
        Ok(())
    }
}

/// Appends what `item` names: `5`, `0-3`, or `0-31:2/8` (the first 2 of every 8).
pub(crate) fn push_range(item: &str, cpus: &mut Vec<u32>) -> Option<()> {
    let (range, stride) = match item.split_once(':') {
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
    let (used, group) = stride;
    if first > last || used == 0 || used > group {
        return None;
    }
    cpus.extend((first..=last).filter(|cpu| (cpu - first) % group < used));
    Some(())
}

fn number(digits: &str) -> Option<u32> {
    let digits = digits.trim();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|&cpu| cpu <= LAST_CPU)
}

/// Eight times what any kernel can be configured for; keeps a typo from filling memory.
pub(crate) const LAST_CPU: u32 = 65_535;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_notation_goes_there_and_back() {
        for text in ["0", "0,1", "0-3", "0-3,8", "1,3,5,7", "0-1023,2047"] {
            let set = CpuSet::from_list(text).unwrap();
            assert_eq!(CpuSet::from_list(&set.to_string()).unwrap(), set, "{text}");
        }
        assert_eq!(CpuSet::from_list("0-7:2/4").unwrap().to_string(), "0,1,4,5");
        assert_eq!(CpuSet::from_list("\n").unwrap().to_string(), "none");
    }

    #[test]
    fn mask_notation_counts_groups_from_the_right() {
        assert_eq!(CpuSet::from_mask("ff").unwrap().to_string(), "0-7");
        assert_eq!(CpuSet::from_mask("00000001,00000000\n").unwrap().to_string(), "32");
        assert_eq!(CpuSet::from_mask("80000000,00000001").unwrap().to_string(), "0,63");
    }

    #[test]
    fn malformed_notation_is_named() {
        for (text, item) in [
            ("0-", "0-"),
            ("3-1", "3-1"),
            ("a", "a"),
            ("+1", "+1"),
            ("0-4294967295", "0-4294967295"),
        ] {
            let error = CpuSet::from_list(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert_eq!(
                error.to_string(),
                format!(
                    "cannot read cpu list {text:?}: {item:?} is not a cpu or range from 0 to 65535; \
                     write it like 0-3,8"
                )
            );
        }
        for text in ["+f", "", "1ffffffff", "-1"] {
            assert!(CpuSet::from_mask(text).is_err(), "{text}");
        }
        assert!(CpuSet::from_mask(&("1".to_owned() + &",0".repeat(3000))).is_err());
        assert_eq!(
            CpuSet::from_mask("xyz").unwrap_err().to_string(),
            "cannot read cpu mask \"xyz\": \"xyz\" is not a group of 32 bits below cpu 65535; \
             write it like ff,0000000f"
        );
    }
}
