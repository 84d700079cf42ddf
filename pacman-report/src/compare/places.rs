//! Which region of one report is which of another one.
//!
//! A region is known by its function, its source file without the directory, and its place among the
//! regions of that function. Copies that a compiler made of one source line are one region.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::input::RegionMembers;

/// A region in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// With the template's arguments, where they tell regions of one line apart.
    function: String,
    at: Position,
    /// With the directory.
    pub(super) file: Option<String>,
    number: u64,
}

/// The kind of number that a place has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Position {
    Line,
    /// The number that the compiler gave to the region.
    Region,
    /// The offset in a module without symbols.
    Offset,
    /// Nothing: the function has one region.
    Function,
}

/// The places that may be the same: function, kind of number, file without the directory.
type Group<'p> = (&'p str, Position, Option<&'p str>);

impl Place {
    pub(super) fn of(region: &RegionMembers) -> Place {
        let (function, at, number) = parts(&region.name);
        let number = match at {
            Position::Line => region.line.map_or(number, u64::from),
            _ => number,
        };
        Place { function: without_version(function), at, file: region.file.clone(), number }
    }

    fn group(&self) -> Group<'_> {
        (&self.function, self.at, self.file.as_deref().map(last))
    }

    /// The function, and the file without the directory.
    pub(super) fn shown(&self) -> String {
        match self.file.as_deref() {
            Some(file) => format!("{} in {}", self.function, last(file)),
            None => self.function.clone(),
        }
    }
}

/// The function, and the number of the region in it, of `main, line 12`, `main, region 0`,
/// `libx.so+0x40` and of each with an addition in brackets.
fn parts(name: &str) -> (String, Position, u64) {
    for (word, at) in [(", line ", Position::Line), (", region ", Position::Region)] {
        let Some((function, rest)) = name.rsplit_once(word) else { continue };
        let digits = rest.find(|one: char| !one.is_ascii_digit()).unwrap_or(rest.len());
        if let Ok(number) = rest[..digits].parse() {
            // An instance tells regions apart; an address or the place of a line is known otherwise.
            let addition = rest[digits..].trim();
            let is_place =
                addition.starts_with("(0x") || addition.ends_with(&format!(":{number})"));
            return match addition.is_empty() || is_place {
                true => (function.to_owned(), at, number),
                false => (format!("{function} {addition}"), at, number),
            };
        }
    }
    let offset = |(module, offset): (&str, &str)| Some((module.to_owned(), hex(offset)?));
    match name.rsplit_once("+0x").and_then(offset) {
        Some((module, offset)) => (module, Position::Offset, offset),
        None => (name.to_owned(), Position::Function, 0),
    }
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

/// A library's name without its version: `libx.so` of `libx.so.1.2` and of `libx-1.2.so`.
fn without_version(name: String) -> String {
    let Some(at) = name.find(".so") else { return name };
    let (stem, rest) = (&name[..at], &name[at + ".so".len()..]);
    let is_version = |one: char| one.is_ascii_digit() || one == '.';
    let rest = if rest.starts_with('.') { rest.trim_start_matches(is_version) } else { rest };
    let stem = match stem.rsplit_once('-') {
        Some((stem, version)) if !version.is_empty() && version.chars().all(is_version) => stem,
        _ => stem,
    };
    format!("{stem}.so{rest}")
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The places of `known` that these are. The others are not in `known`, or nobody can tell which of it
/// they are.
pub(super) fn matched(known: &BTreeSet<Place>, own: &BTreeSet<Place>) -> BTreeMap<Place, Place> {
    let mut found = BTreeMap::new();
    let known = groups(known);
    for (group, files) in groups(own) {
        let Some(there) = known.get(&group) else { continue };
        for (file, other) in same_files(there, &files) {
            for (place, own) in in_order(&there[&file], &files[&other]) {
                found.insert(own.clone(), place.clone());
            }
        }
    }
    found
}

/// Functions with other numbers of regions in these places.
pub(super) fn changed(
    before: &BTreeSet<Place>,
    after: &BTreeSet<Place>,
) -> Vec<(String, usize, usize)> {
    let (before, after) = (groups(before), groups(after));
    let count = |files: &Files<'_>| files.values().map(Vec::len).sum::<usize>();
    let both = before.iter().filter_map(|(group, files)| Some((files, after.get(group)?)));
    let both = both.filter_map(|(files, others)| {
        let place = files.values().flatten().next()?;
        Some((place.shown(), count(files), count(others)))
    });
    both.filter(|(_, one, other)| one != other).collect()
}

/// The places of a group in the order of their numbers, by their file with the directory.
type Files<'p> = BTreeMap<Option<&'p str>, Vec<&'p Place>>;

fn groups(places: &BTreeSet<Place>) -> BTreeMap<Group<'_>, Files<'_>> {
    let mut groups: BTreeMap<Group<'_>, Files<'_>> = BTreeMap::new();
    for place in places {
        let files = groups.entry(place.group()).or_default();
        files.entry(place.file.as_deref()).or_default().push(place);
    }
    groups
}

/// Pairs of files of one name. Several of that name are paired by their directories.
fn same_files<'k, 'o>(
    known: &Files<'k>,
    own: &Files<'o>,
) -> Vec<(Option<&'k str>, Option<&'o str>)> {
    let (mut known, mut own): (Vec<_>, Vec<_>) =
        (known.keys().copied().collect(), own.keys().copied().collect());
    let mut pairs = Vec::new();
    while let (false, false) = (known.is_empty(), own.is_empty()) {
        let all = known.iter().flat_map(|file| own.iter().map(move |other| (*file, *other)));
        let all: Vec<_> = all.map(|(file, other)| (alike(file, other), file, other)).collect();
        let most = all.iter().map(|(alike, ..)| *alike).max().unwrap_or(0);
        let best: Vec<_> = all.iter().filter(|(alike, ..)| *alike == most).collect();
        // Of two that are alike as much, nobody can tell.
        let alone = best.iter().find(|(_, file, other)| {
            let rivals = best.iter().filter(|(_, one, another)| one == file || another == other);
            rivals.count() == 1
        });
        let Some(&&(_, file, other)) = alone else { break };
        known.retain(|one| *one != file);
        own.retain(|one| *one != other);
        pairs.push((file, other));
    }
    pairs
}

/// The number of parts at the end of two paths that are the same.
fn alike(one: Option<&str>, other: Option<&str>) -> usize {
    let parts = |path: Option<&'_ str>| -> Vec<String> {
        path.unwrap_or_default().rsplit('/').map(str::to_owned).collect()
    };
    let (one, other) = (parts(one), parts(other));
    one.iter().zip(&other).take_while(|(one, other)| one == other).count()
}

/// Pairs of places of one function. As many on both sides are the same in their order. Otherwise those
/// are that moved by the same number of lines, if more of them did so than by any other.
fn in_order<'k, 'o>(known: &[&'k Place], own: &[&'o Place]) -> Vec<(&'k Place, &'o Place)> {
    if known.len() == own.len() {
        return known.iter().copied().zip(own.iter().copied()).collect();
    }
    let mut moves: BTreeMap<i64, Vec<(&Place, &Place)>> = BTreeMap::new();
    for place in known {
        for other in own {
            let by = place.number as i64 - other.number as i64;
            moves.entry(by).or_default().push((place, other));
        }
    }
    let most = moves.values().map(Vec::len).max().unwrap_or(0);
    if moves.get(&0).is_some_and(|unmoved| unmoved.len() == most) {
        return moves.remove(&0).unwrap_or_default();
    }
    let mut best = moves.into_values().filter(|pairs| pairs.len() == most);
    match (best.next(), best.next()) {
        (Some(pairs), None) => pairs,
        _ => Vec::new(),
    }
}
