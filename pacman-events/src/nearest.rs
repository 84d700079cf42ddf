//! Edit distance: the names that a misspelt one may have meant.

use crate::db::fold;

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
}
