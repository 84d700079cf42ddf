//! The words of the function's stack frame.

use std::ops::Range;

use super::value::{Place, Value};

/// A word of the frame with its size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    place: Place,
    size: i64,
    value: Value,
}

/// The known words of the frame, in order. Nothing is known about others.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    words: Vec<Word>,
    /// No word has more bytes.
    largest: i64,
    /// A word may have a name or a constant.
    named: bool,
    /// Code that is not followed may have an address in the frame.
    escaped: bool,
    /// A word has or had a number.
    spilled: bool,
    /// The stack pointer when it was aligned, as an offset from the entry's.
    aligned_at: Option<i64>,
}

impl Clone for Frame {
    fn clone(&self) -> Frame {
        Frame { words: self.words.clone(), ..*self }
    }

    /// Keeps the memory of the words.
    fn clone_from(&mut self, other: &Frame) {
        let mut words = std::mem::take(&mut self.words);
        words.clone_from(&other.words);
        *self = Frame { words, ..*other };
    }
}

impl Frame {
    /// The stack pointer at the function's entry.
    pub(super) const ENTRY: Place = Place { aligned: false, offset: 0 };

    /// Somebody may have an address in the frame.
    pub(super) fn escape(&mut self) {
        self.escaped = true;
    }

    /// Whether somebody may have an address in the frame.
    pub(super) fn is_escaped(&self) -> bool {
        self.escaped
    }

    /// Whether numbers may be read through addresses that nobody follows.
    pub(super) fn is_exposed(&self) -> bool {
        self.escaped && self.spilled
    }

    /// Whether a word has or had a number.
    pub(super) fn is_spilled(&self) -> bool {
        self.spilled
    }

    /// The values of all known words.
    pub(super) fn values(&self) -> impl Iterator<Item = Value> {
        self.words.iter().map(|word| word.value)
    }

    /// The function aligns its stack pointer, at an offset from the entry's.
    pub(super) fn align(&mut self, offset: i64) -> bool {
        *self.aligned_at.get_or_insert(offset) == offset
    }

    /// Whether a word overlaps `size` bytes at `place`.
    fn overlap(place: Place, size: i64) -> impl Fn(&Word) -> bool {
        move |word| {
            word.place.aligned == place.aligned
                && word.place.offset < place.offset + size
                && place.offset < word.place.offset + word.size
        }
    }

    /// The range of words that may overlap `size` bytes at `place`.
    fn near(&self, place: Place, size: i64) -> Range<usize> {
        let first = Place { offset: place.offset.saturating_sub(self.largest), ..place };
        let end = Place { offset: place.offset + size, ..place };
        let begin = self.words.partition_point(|word| word.place <= first);
        let count = self.words[begin..].iter().take_while(|word| word.place < end).count();
        begin..begin + count
    }

    /// Bytes below an alignment may be words that are known by another offset.
    fn is_ambiguous(&self, place: Place) -> bool {
        !place.aligned && self.aligned_at.is_some_and(|at| place.offset < at)
    }

    /// The value of `size` bytes at `place`.
    pub(super) fn load(&mut self, place: Place, size: i64) -> Value {
        if self.is_ambiguous(place) {
            self.escape();
        }
        let near = &self.words[self.near(place, size)];
        let mut found = near.iter().filter(|word| Frame::overlap(place, size)(word));
        let Some(word) = found.next() else { return Value::UNKNOWN };
        // The lower half of a number has all of it.
        let is_lower = word.place == place && size == 4 && word.size == 8;
        match word.value {
            value if word.place == place && word.size == size => value,
            Value::TeamSize | Value::NUMBER if is_lower => word.value,
            value if !value.is_tainted() && found.all(|word| !word.value.is_tainted()) => {
                Value::UNKNOWN
            }
            _ => Value::Mixed,
        }
    }

    /// Stores `size` bytes at `place`. `is_number` says whether the value is one that must not leave.
    pub(super) fn store(&mut self, place: Place, size: i64, value: Value, is_number: bool) {
        if self.is_ambiguous(place) {
            self.escape();
        }
        self.spilled |= is_number;
        self.named |= matches!(value, Value::Plain(Some(_)) | Value::Sign(_) | Value::Constant(_));
        self.largest = self.largest.max(size);
        let overlaps = Frame::overlap(place, size);
        // The rest of a word that had a number still has some of it.
        let inside = |word: &Word| {
            word.place.offset >= place.offset
                && word.place.offset + word.size <= place.offset + size
        };
        let near = self.near(place, size);
        let mut replaced: Option<Range<usize>> = None;
        for at in near {
            let word = &mut self.words[at];
            if !overlaps(word) {
                continue;
            }
            if inside(word) {
                replaced = Some(replaced.map_or(at, |range| range.start)..at + 1);
            } else {
                word.value = if word.value.is_tainted() { Value::Mixed } else { Value::UNKNOWN };
            }
        }
        let word = Word { place, size, value };
        match replaced {
            // Mostly the words that the new one replaces are together.
            Some(range) if self.words[range.clone()].iter().all(inside) => {
                self.words[range.start] = word;
                self.words.drain(range.start + 1..range.end);
            }
            replaced => {
                if replaced.is_some() {
                    self.words.retain(|word| !(overlaps(word) && inside(word)));
                }
                let key = |word: &Word| (word.place, word.size);
                let at = self.words.partition_point(|known| key(known) < key(&word));
                self.words.insert(at, word);
            }
        }
    }

    /// The stack pointer is at `top`: words below it are gone.
    pub(super) fn drop_below(&mut self, top: Place) {
        let lowest = Place { offset: i64::MIN, ..top };
        let begin = self.words.partition_point(|word| word.place < lowest);
        let end = self.words.partition_point(|word| word.place < top);
        self.words.drain(begin..end);
    }

    /// The values that may be arguments in memory of a call with the stack pointer at `top`: all from
    /// there up to the first place of an argument where nothing was ever stored.
    pub(super) fn arguments(&self, top: Place) -> impl Iterator<Item = Value> {
        let mut end = top.offset;
        // The first byte of an argument is always stored.
        let at = |offset| Frame::overlap(Place { offset, ..top }, 1);
        while self.words.iter().any(|word| at(end)(word)) {
            end += 8;
        }
        let overlaps = Frame::overlap(top, end - top.offset);
        self.words.iter().filter(move |word| overlaps(word)).map(|word| word.value)
    }

    /// Code that is not followed may have written to words whose address it has.
    pub(super) fn forget_names(&mut self) {
        if !std::mem::take(&mut self.named) {
            return;
        }
        for word in &mut self.words {
            if let Value::Plain(_) | Value::Sign(_) | Value::Constant(_) = word.value {
                word.value = Value::UNKNOWN;
            }
        }
    }

    pub(super) fn map(&mut self, new: impl Fn(Value) -> Value) {
        self.words.iter_mut().for_each(|word| word.value = new(word.value));
    }

    /// Joins the frame of another path. Answers whether this changed the frame.
    pub(super) fn join(&mut self, other: &Frame, joined: &impl Fn(Value, Value) -> Value) -> bool {
        let before = (self.escaped, self.spilled, self.aligned_at);
        self.escaped |= other.escaped;
        self.spilled |= other.spilled;
        if let Some(at) = other.aligned_at {
            if !self.align(at) {
                self.escape();
            }
        }
        let mut changed = before != (self.escaped, self.spilled, self.aligned_at);
        // Both are in order, and most frames have the same words.
        let key = |word: &Word| (word.place, word.size);
        let mut at = 0;
        for another in &other.words {
            while self.words.get(at).is_some_and(|word| key(word) < key(another)) {
                changed |= self.words[at].join(Value::UNKNOWN, joined);
                at += 1;
            }
            if self.words.get(at).is_none_or(|word| key(word) != key(another)) {
                self.words.insert(at, Word { value: Value::UNKNOWN, ..*another });
                self.largest = self.largest.max(another.size);
                changed = true;
            }
            changed |= self.words[at].join(another.value, joined);
            at += 1;
        }
        for word in &mut self.words[at..] {
            changed |= word.join(Value::UNKNOWN, joined);
        }
        changed
    }
}

impl Word {
    /// Joins the value of another path. Answers whether this changed the word.
    fn join(&mut self, another: Value, joined: &impl Fn(Value, Value) -> Value) -> bool {
        if self.value == another {
            return false;
        }
        let value = joined(self.value, another);
        let changed = value != self.value;
        self.value = value;
        changed
    }
}
