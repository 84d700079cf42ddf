//! Writing JSON: commas, quotes and escapes, nothing else.

use std::fmt::{Display, Write as _};
use std::io;

/// Writes one JSON value after another. The caller keeps brackets in pairs.
///
/// Text is passed on at each [`break_line`](Writer::break_line), so errors come up there and at the
/// end.
pub(super) struct Writer<'a> {
    out: &'a mut dyn io::Write,
    text: String,
    /// The next value or name needs a comma before it.
    comma: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut dyn io::Write) -> Writer<'a> {
        Writer { out, text: String::new(), comma: false }
    }

    pub(super) fn begin(&mut self, bracket: char) {
        self.separate();
        self.text.push(bracket);
        self.comma = false;
    }

    pub(super) fn end(&mut self, bracket: char) {
        self.text.push(bracket);
        self.comma = true;
    }

    /// The name of an object's next member.
    pub(super) fn name(&mut self, name: &str) -> &mut Self {
        self.string(name);
        self.text.push(':');
        self.comma = false;
        self
    }

    /// A number or a truth value, for which `Display` writes JSON.
    pub(super) fn literal(&mut self, value: impl Display) {
        self.separate();
        write!(self.text, "{value}").expect("a String takes all");
    }

    pub(super) fn null(&mut self) {
        self.literal("null");
    }

    pub(super) fn literal_or_null(&mut self, value: Option<impl Display>) {
        match value {
            Some(value) => self.literal(value),
            None => self.null(),
        }
    }

    /// A string. It escapes the characters that RFC 8259 demands. It also escapes U+007F to U+009F,
    /// U+2028 and U+2029, which disturb terminals and JavaScript sources.
    pub(super) fn string(&mut self, value: &str) {
        self.separate();
        self.text.push('"');
        for c in value.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                // All of these are below U+10000: no surrogate pairs are needed.
                c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                    write!(self.text, "\\u{:04x}", u32::from(c)).expect("a String takes all");
                }
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }

    pub(super) fn string_or_null(&mut self, value: Option<&str>) {
        match value {
            Some(value) => self.string(value),
            None => self.null(),
        }
    }

    /// A line feed, after the comma if one is due.
    pub(super) fn break_line(&mut self) -> io::Result<()> {
        if self.comma {
            self.text.push(',');
            self.comma = false;
        }
        self.finish_line()
    }

    /// A line feed where no comma may stand: before a closing bracket or at the end.
    pub(super) fn finish_line(&mut self) -> io::Result<()> {
        self.text.push('\n');
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    fn separate(&mut self) {
        if self.comma {
            self.text.push(',');
        }
        self.comma = true;
    }
}
