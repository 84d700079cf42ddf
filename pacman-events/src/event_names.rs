//! The names of all tables' events, in the order of [`compare`](crate::spelling::compare).
//!
//! A name begins mostly as the one before it: an event has many unit masks. So the list has the first name
//! of each block in full. Of the others it has only the letters that differ from the name before.
//! The whole list is loaded into each process that counts, and this is a third of it.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use crate::spelling::compare;

static LIST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/names.bin"));

mod layout {
    include!(concat!(env!("OUT_DIR"), "/names_layout.rs"));
}

/// The number of names.
#[cfg(test)]
pub(crate) const COUNT: usize = layout::COUNT;

/// The name of an event, as its table spells it. It is a `str`, and takes no heap.
#[derive(Clone, Copy)]
pub struct EventName {
    letters: [u8; layout::LONGEST],
    length: u8,
}

impl EventName {
    /// The name of this number.
    pub(crate) fn of(number: u16) -> EventName {
        let number = usize::from(number);
        let mut names = Block::new(number / layout::BLOCK);
        for _ in 0..number % layout::BLOCK {
            names.step();
        }
        names.name
    }
}

impl Deref for EventName {
    type Target = str;

    fn deref(&self) -> &str {
        std::str::from_utf8(&self.letters[..usize::from(self.length)]).expect("names are ASCII")
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl PartialEq for EventName {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for EventName {}

impl Hash for EventName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

/// The number of a name in any spelling.
pub(crate) fn number(name: &str) -> Option<u16> {
    // The last block that does not begin beyond the name, then the names in it.
    let (mut low, mut high) = (0, layout::COUNT.div_ceil(layout::BLOCK));
    while low < high {
        let middle = (low + high) / 2;
        match compare(&Block::new(middle).name, name) {
            Ordering::Greater => high = middle,
            Ordering::Equal => return Some((middle * layout::BLOCK) as u16),
            Ordering::Less => low = middle + 1,
        }
    }
    let block = low.checked_sub(1)?;
    let first = block * layout::BLOCK;
    let mut names = Block::new(block);
    for number in first + 1..layout::COUNT.min(first + layout::BLOCK) {
        names.step();
        match compare(&names.name, name) {
            Ordering::Less => {}
            Ordering::Equal => return Some(number as u16),
            Ordering::Greater => return None,
        }
    }
    None
}

/// A name of a block, and the place of the next one's letters.
struct Block {
    name: EventName,
    next: usize,
}

impl Block {
    /// The first name of a block.
    fn new(block: usize) -> Block {
        let at = block * 4;
        let place = u32::from_le_bytes(LIST[at..at + 4].try_into().expect("four bytes"));
        let name = EventName { letters: [0; layout::LONGEST], length: 0 };
        let mut first = Block { name, next: place as usize };
        first.step();
        first
    }

    /// Goes on to the next name.
    fn step(&mut self) {
        let (common, rest) = (usize::from(LIST[self.next]), usize::from(LIST[self.next + 1]));
        let from = self.next + 2;
        self.next = from + rest;
        self.name.letters[common..common + rest].copy_from_slice(&LIST[from..self.next]);
        self.name.length = (common + rest) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_as_the_search_compares_them() {
        const { assert!(COUNT > 5000) };
        for number in 1..COUNT as u16 {
            let (one, next) = (EventName::of(number - 1), EventName::of(number));
            assert_eq!(compare(&one, &next), Ordering::Less, "{one} before {next}");
        }
    }

    #[test]
    fn every_name_is_found_and_none_between_them() {
        for position in 0..COUNT as u16 {
            let name = EventName::of(position);
            assert_eq!(number(&name), Some(position), "{name}");
            assert_eq!(number(&name.to_lowercase().replace('.', ":")), Some(position), "{name}");
            assert_eq!(number(&format!("{name}\0")), None, "after {name}");
        }
        assert_eq!((number(""), number("~")), (None, None));
    }
}
