//! Indented JSON, as `serde_json::to_writer_pretty` writes it.
//!
//! serde_json writes a line feed and each level of an indentation by a call of its own. A report of `run` has
//! 8,000 numbers in lists, and took half of its instructions for that.

use std::io::{self, Write};

use serde_json::ser::Formatter;

/// Two spaces for each level.
#[derive(Default)]
pub(crate) struct Indented {
    depth: usize,
    /// The list or object that ends has members.
    has_members: bool,
}

/// The text between two members, at the greatest depth that one write covers. A first member has no comma.
const BEFORE: &[u8; 66] = b",\n                                                                ";

impl Indented {
    fn begin(&mut self, out: &mut (impl Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_members = false;
        out.write_all(bracket)
    }

    fn end(&mut self, out: &mut (impl Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.has_members {
            self.indent(out, true)?;
        }
        self.has_members = true;
        out.write_all(bracket)
    }

    #[inline]
    fn indent(&self, out: &mut (impl Write + ?Sized), is_first: bool) -> io::Result<()> {
        let begin = usize::from(is_first);
        if let Some(before) = BEFORE.get(begin..2 + 2 * self.depth) {
            return out.write_all(before);
        }
        out.write_all(&BEFORE[begin..2])?;
        (0..self.depth).try_for_each(|_| out.write_all(b"  "))
    }
}

impl Formatter for Indented {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"]")
    }

    #[inline]
    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        is_first: bool,
    ) -> io::Result<()> {
        self.indent(out, is_first)
    }

    #[inline]
    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_members = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"}")
    }

    #[inline]
    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        is_first: bool,
    ) -> io::Result<()> {
        self.indent(out, is_first)
    }

    #[inline]
    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    #[inline]
    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_members = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_is_that_of_serde_json() {
        let mut deep = json!([1, {"a": []}]);
        for level in 0..40 {
            deep = json!([deep, {"level": level, "empty": {}, "lists": [[], [[]], {}]}, null]);
        }
        for value in [json!([]), json!({}), json!("x"), json!([{}, [1.5, -2, true]]), deep] {
            let mut text = Vec::new();
            let mut writer = serde_json::Serializer::with_formatter(&mut text, Indented::default());
            value.serialize(&mut writer).expect("memory takes everything");
            let text = String::from_utf8(text).expect("JSON is UTF-8");
            assert_eq!(text, serde_json::to_string_pretty(&value).expect("keys are strings"));
        }
    }
}
