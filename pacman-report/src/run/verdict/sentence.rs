//! A sentence whose main parts stand out.

/// Text, and parts of it in their order.
#[derive(Debug, Default)]
pub(in crate::run) struct Sentence {
    pub(in crate::run) text: String,
    pub(in crate::run) strong: Vec<String>,
}

impl Sentence {
    pub(super) fn plain(mut self, text: &str) -> Sentence {
        self.text.push_str(text);
        self
    }

    pub(super) fn strong(mut self, text: &str) -> Sentence {
        self.strong.push(text.to_owned());
        self.plain(text)
    }
}
