//! Edit distance: names similar to a misspelt one.

use strsim::osa_distance;

use crate::spelling::fold;

/// Up to five of `names` that are similar to `asked`, nearest first. Case does not matter.
///
/// ```
/// let near = pacman_events::nearest("l2-mpik", ["ipc", "l1d-mpki", "l2-mpki"].into_iter());
/// assert_eq!(near, ["l2-mpki"]);
/// ```
pub fn among<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let sought: String = folded(asked).take(96).collect();
    let length = sought.chars().count();
    // With a third of the letters wrong it is a different word.
    let limit = (length / 3).max(2);
    let mut found: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let letters: String = folded(name).collect();
            let more = letters.chars().count().saturating_sub(length);
            let distance = match more <= limit {
                true => osa_distance(&sought, &letters),
                false => usize::MAX,
            };
            match distance {
                near if near <= limit => Some((near, name)),
                // The user may ask with a part of a name. Names that contain it follow the similar
                // ones.
                _ if length >= 3 && letters.contains(&sought) => Some((limit + more, name)),
                _ => None,
            }
        })
        .collect();
    found.sort_unstable();
    found.dedup_by_key(|(_, name)| *name);
    found.into_iter().take(5).map(|(_, name)| name.to_owned()).collect()
}

/// The letters by which names are compared.
fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars().map(|letter| match u8::try_from(letter) {
        Ok(byte) if byte.is_ascii() => fold(byte).into(),
        _ => letter,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_is_one_error_and_a_third_of_the_letters_another_word() {
        let near = |asked: &str| among(asked, ["cycles", "uop", "uops_issued.any"].into_iter());
        assert_eq!(near("Cylces"), ["cycles"]);
        assert_eq!(near("uops"), ["uop", "uops_issued.any"]);
        assert_eq!(near("ISSUED:ANY"), ["uops_issued.any"]);
        assert!(near("größe").is_empty());
    }
}
