//! Sets of CPU numbers, in the kernel's two notations.

use std::fmt;

use pacman_events::shown::excerpt;

use crate::cpu_bits::{CpuBits, LAST_CPU};
use pacman_events::{Error, ErrorKind, Result};

/// A set of CPU numbers, kept in ascending order.
///
/// ```
/// use pacman_topology::CpuSet;
/// let set: CpuSet = [3, 0, 1, 2, 8].into_iter().collect();
/// assert_eq!(set.to_string(), "0-3,8");
/// assert_eq!(CpuSet::from_list("0-3,8")?, set);
/// assert_eq!(CpuSet::from_mask("0000010f")?, set);
/// # Ok::<(), pacman_topology::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CpuSet(Vec<u32>);

impl CpuSet {
    /// The set in the kernel's list notation, such as `0-3,8` or `0-31:2/8`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if the text is not such a list or names a CPU above 65535.
    pub fn from_list(text: &str) -> Result<CpuSet> {
        let bits = CpuBits::from_list(text).map_err(|item| {
            Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "cannot read cpu list {}: {} is not a cpu or range from 0 to {LAST_CPU}; write \
                     it like 0-3,8",
                    excerpt(text),
                    excerpt(item)
                ),
            )
        })?;
        Ok(bits.into())
    }

    /// The set in the kernel's mask notation: groups of 32 bits in hexadecimal, highest first.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if the text is not such a mask or names a CPU above 65535.
    pub fn from_mask(text: &str) -> Result<CpuSet> {
        let bits = CpuBits::from_mask(text).map_err(|group| {
            Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "cannot read cpu mask {}: {} is not a group of 32 bits below cpu {LAST_CPU}; \
                     write it like ff,0000000f",
                    excerpt(text),
                    excerpt(group)
                ),
            )
        })?;
        Ok(bits.into())
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

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members that are also in `other`.
    pub fn intersection(&self, other: &CpuSet) -> CpuSet {
        CpuSet(self.iter().filter(|&cpu| other.contains(cpu)).collect())
    }

    /// The members that are not in `other`.
    pub fn difference(&self, other: &CpuSet) -> CpuSet {
        CpuSet(self.iter().filter(|&cpu| !other.contains(cpu)).collect())
    }
}

impl From<CpuBits> for CpuSet {
    fn from(bits: CpuBits) -> CpuSet {
        CpuSet(bits.iter().collect())
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

/// Writes the list notation, or `none` for the empty set.
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

    #[test]
    fn a_number_that_is_given_often_costs_nothing() {
        // 96 kB that name half a billion CPUs.
        let text = "0-65535,".repeat(12_000);
        let set = CpuSet::from_list(&text).unwrap();
        assert_eq!((set.len(), set.to_string()), (65_536, "0-65535".into()));
        let wrong = CpuSet::from_list(&(text + "x")).unwrap_err().to_string();
        assert!(wrong.len() < 400 && wrong.contains("\"x\" is not a cpu"), "{wrong}");
    }
}
