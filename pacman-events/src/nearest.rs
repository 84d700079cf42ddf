//! The names that a misspelt one may have meant.

use std::borrow::Cow;

use crate::db::{self, fold};
use crate::encode::{netburst_encoder, perf};
use crate::netburst_tables::{EVENTS, METRICS};
use crate::{CpuModel, Family, Preset};

/// Up to five names of the table and presets, nearest first.
pub(crate) fn names(cpu: CpuModel, asked: &str) -> Vec<String> {
    let mut all: Vec<Cow<'static, str>> = Vec::new();
    if cpu.family() == Family::NetBurst {
        all.extend(netburst(cpu, asked).into_iter().map(Cow::Owned));
    }
    all.extend(db::events(cpu).map(|event| Cow::Borrowed(event.name())));
    all.extend(Preset::all().map(|preset| Cow::Borrowed(preset.name())));
    all.extend(perf::NAMED.iter().map(|row| Cow::Borrowed(row.0)));
    among(asked, all.iter().map(|name| &**name))
}

/// NetBurst's names: with unit masks where the question has one.
fn netburst(cpu: CpuModel, asked: &str) -> Vec<String> {
    let events = EVENTS.iter().filter(|row| netburst_encoder::has(cpu, row));
    let metrics = METRICS.iter().map(|row| row.name.to_owned());
    if asked.contains([':', '.']) {
        let with_masks =
            events.flat_map(|row| row.masks.iter().map(|(_, mask)| format!("{}:{mask}", row.name)));
        with_masks.chain(metrics).collect()
    } else {
        events.map(|row| row.name.to_owned()).chain(metrics).collect()
    }
}

/// Up to five of `names` that are near to `asked`, nearest first, in any case.
///
/// ```
/// let near = pacman_events::nearest("l2-mpik", ["ipc", "l1d-mpki", "l2-mpki"].into_iter());
/// assert_eq!(near, ["l2-mpki"]);
/// ```
pub fn among<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let sought: Vec<u8> = asked.bytes().take(96).map(fold).collect();
    // A third of the letters wrong is another word.
    let limit = (sought.len() / 3).max(2);
    let mut found: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let letters: Vec<u8> = name.bytes().map(fold).collect();
            let distance = match distance(&sought, &letters, limit) {
                Some(distance) => distance,
                // Half a name is a question too: those that hold it, after the near ones.
                None if sought.len() >= 3 && holds(&letters, &sought) => {
                    limit + letters.len() - sought.len()
                }
                None => return None,
            };
            Some((distance, name))
        })
        .collect();
    found.sort();
    found.dedup_by_key(|(_, name)| *name);
    found.into_iter().take(5).map(|(_, name)| name.to_owned()).collect()
}

fn holds(letters: &[u8], sought: &[u8]) -> bool {
    letters.windows(sought.len()).any(|window| window == sought)
}

/// Letters to insert, delete, replace or swap with the next; `None` above `limit`.
fn distance(one: &[u8], other: &[u8], limit: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for i in 1..=one.len() {
        let mut row = vec![i; other.len() + 1];
        for j in 1..=other.len() {
            let replace = last[j - 1] + usize::from(one[i - 1] != other[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        if row.iter().min() > Some(&limit) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    Some(last[other.len()]).filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_a_swap_as_one() {
        assert_eq!(distance(b"cylces", b"cycles", 2), Some(1));
        assert_eq!(distance(b"uops", b"uop", 2), Some(1));
        assert_eq!(distance(b"abcdef", b"uvwxyz", 2), None);
    }

    #[test]
    fn the_meant_name_comes_first() {
        let skl = CpuModel::named("skl").unwrap();
        assert_eq!(names(skl, "uops_isued.any")[0], "UOPS_ISSUED.ANY");
        assert_eq!(names(skl, "STAL_CYCLES")[0], "STALL_CYCLES");
        let p4 = CpuModel::named("p4").unwrap();
        let near = names(p4, "bsq_cache_referense:RD_2ndL_MISS");
        assert_eq!(near[0], "BSQ_cache_reference:RD_2ndL_MISS");
        assert_eq!(names(p4, "inst_retired")[0], "instr_retired");
        assert!(names(skl, "zzzzqqqq").is_empty());
        assert!(names(skl, "STALLS_L3").iter().any(|n| n == "CYCLE_ACTIVITY.STALLS_L3_MISS"));
    }
}
