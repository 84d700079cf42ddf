//! Indented JSON, as `serde_json::to_writer_pretty` writes it, but with the numbers of a list on one line, and lists of
//! numbers inside of it as well.
//!
//! A report of `run` has 8,000 to 15,000 numbers in lists. With a line for each, half of the instructions
//! and two thirds of the file were indentation.

use std::io::{self, Write};

use serde_json::ser::{CompactFormatter, Formatter};

/// Two spaces for each level.
#[derive(Default)]
pub(crate) struct Indented {
    depth: usize,
    /// The list or object that ends has members, and the last of them is on a line of its own.
    has_lines: bool,
    /// A member of a list begins, the first one if true.
    member: Option<bool>,
    /// The member of the list is a number.
    is_number: bool,
    /// A list inside of a list has begun, as its first member if true. Its first member decides whether it gets a
    /// line of its own.
    list: Option<bool>,
    /// Depths of lists that share the line of the list around them.
    inline: Vec<usize>,
}

/// All on one line.
pub(crate) struct OneLine;

impl Formatter for OneLine {
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        // A difference or an empty sum may be -0.
        CompactFormatter.write_f64(out, value + 0.0)
    }
}

/// The text between two members, at the greatest depth that one write covers. A first member has no comma.
const BEFORE: &[u8; 66] = b",\n                                                                ";

impl Indented {
    fn begin(&mut self, out: &mut (impl Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.begin_text(out)?;
        self.depth += 1;
        self.has_lines = false;
        out.write_all(bracket)
    }

    fn end(&mut self, out: &mut (impl Write + ?Sized), bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.has_lines {
            self.indent(out, true)?;
        }
        self.is_number = false;
        out.write_all(bracket)
    }

    /// Writes the bracket of the list that has begun, on a line of its own.
    fn open(&mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        let Some(is_first) = self.list.take() else { return Ok(()) };
        self.depth -= 1;
        self.indent(out, is_first)?;
        self.depth += 1;
        out.write_all(b"[")
    }

    /// A value begins that has a line of its own in a list.
    #[inline]
    fn begin_text(&mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        self.open(out)?;
        match self.member.take() {
            Some(is_first) => self.indent(out, is_first),
            None => Ok(()),
        }
    }

    /// A value begins that shares its line with others of the list.
    #[inline]
    fn begin_number(&mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        self.is_number = true;
        if let Some(is_first) = self.list.take() {
            self.inline.push(self.depth);
            out.write_all(if is_first { b"[" } else { b",[" })?;
        }
        match self.member.take() {
            Some(false) => out.write_all(b","),
            _ => Ok(()),
        }
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

/// Writes of numbers, and of null, which is an absent number.
macro_rules! numbers {
    ($($write:ident: $type:ty),+) => {$(
        #[inline]
        fn $write<W: ?Sized + Write>(&mut self, out: &mut W, value: $type) -> io::Result<()> {
            self.begin_number(out)?;
            CompactFormatter.$write(out, value)
        }
    )+};
}

impl Formatter for Indented {
    numbers! {
        write_i8: i8, write_i16: i16, write_i32: i32, write_i64: i64, write_i128: i128,
        write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128,
        write_f32: f32, write_number_str: &str, write_bool: bool
    }

    /// Most numbers of a timeline are 0.
    #[inline]
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        // A difference or an empty sum may be -0.
        let value = value + 0.0;
        if value.to_bits() == 0 && self.member == Some(false) {
            self.member = None;
            self.is_number = true;
            return out.write_all(b",0.0");
        }
        self.begin_number(out)?;
        CompactFormatter.write_f64(out, value)
    }

    #[inline]
    fn write_null<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin_number(out)?;
        out.write_all(b"null")
    }

    #[inline]
    fn begin_string<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin_text(out)?;
        self.is_number = false;
        out.write_all(b"\"")
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let Some(is_first) = self.member.take() else { return self.begin(out, b"[") };
        self.open(out)?;
        self.list = Some(is_first);
        self.depth += 1;
        self.has_lines = false;
        Ok(())
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out)?;
        let is_inline = self.inline.last() == Some(&self.depth);
        if is_inline {
            self.inline.pop();
        }
        self.end(out, b"]")?;
        self.is_number = is_inline;
        Ok(())
    }

    #[inline]
    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        _: &mut W,
        is_first: bool,
    ) -> io::Result<()> {
        self.member = Some(is_first);
        Ok(())
    }

    #[inline]
    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_lines = !self.is_number;
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
        self.has_lines = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::json;

    use super::*;

    fn text(value: &serde_json::Value) -> String {
        let mut text = Vec::new();
        let mut writer = serde_json::Serializer::with_formatter(&mut text, Indented::default());
        value.serialize(&mut writer).expect("memory takes everything");
        String::from_utf8(text).expect("JSON is UTF-8")
    }

    #[test]
    fn without_lists_of_numbers_the_text_is_that_of_serde_json() {
        let mut deep = json!(["a", {"b": [], "c": 1.5, "d": null}]);
        for level in 0..40 {
            deep = json!([deep, {"level": level, "empty": {}, "lists": [[], [[]], {}]}, "e"]);
        }
        for value in [json!([]), json!({}), json!("x"), json!(7), json!([{}, ["y", "z"]]), deep] {
            assert_eq!(
                text(&value),
                serde_json::to_string_pretty(&value).expect("keys are strings")
            );
        }
    }

    #[test]
    fn nothing_has_no_sign() {
        let empty: f64 = [0.0; 0].iter().sum();
        assert!(empty.is_sign_negative());
        let value = json!({"a": empty, "b": [1.5, empty]});
        assert_eq!(crate::document::line(&value), "{\"a\":0.0,\"b\":[1.5,0.0]}\n");
        assert!(!text(&value).contains('-'), "{}", text(&value));
    }

    #[test]
    fn numbers_of_a_list_share_a_line() {
        let value = json!({"a": [1, -2.5, null, 0.0, -0.0], "b": [[1, 2], [], [true]], "c": ["x", 3, {"d": 4}]});
        let lines = [
            "{",
            "  \"a\": [1,-2.5,null,0.0,0.0],",
            "  \"b\": [[1,2],",
            "    [],[true]],",
            "  \"c\": [",
            "    \"x\",3,",
            "    {",
            "      \"d\": 4",
            "    }",
            "  ]",
            "}",
        ];
        assert_eq!(text(&value).lines().collect::<Vec<_>>(), lines);
        let mut deep = json!([0]);
        for level in 0..40 {
            deep = json!([deep, level, {"numbers": [level, 0.5]}, "e"]);
        }
        let read: serde_json::Value = serde_json::from_str(&text(&deep)).expect("it is JSON");
        assert_eq!(read, deep);
    }
}
