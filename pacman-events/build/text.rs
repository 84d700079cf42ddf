//! The words of a table in one text.
//!
//! A row has places in that text and no addresses, because a loader would have to relocate each one in
//! every process.

use std::collections::HashMap;

#[derive(Default)]
pub(crate) struct Text {
    text: String,
    known: HashMap<String, usize>,
}

impl Text {
    /// The first byte of a word and its length, as a Rust tuple.
    pub(crate) fn place(&mut self, word: &str) -> String {
        format!("({}, {})", self.first(word), word.len())
    }

    /// The first byte of a word, shifted by eight bits, and its length below 256.
    pub(crate) fn number(&mut self, word: &str) -> usize {
        self.first(word) << 8 | word.len()
    }

    fn first(&mut self, word: &str) -> usize {
        let Text { text, known } = self;
        *known.entry(word.to_owned()).or_insert_with(|| {
            text.push_str(word);
            text.len() - word.len()
        })
    }

    /// The static of the text.
    pub(crate) fn to_rust(&self) -> String {
        format!("pub(crate) static TEXT: &str = {:?};\n", self.text)
    }
}
