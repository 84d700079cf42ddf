//! The layouts of JSON: on one line; or indented, as `serde_json::to_writer_pretty` writes it, but with the numbers of a
//! list on one line, and lists of numbers inside of it as well.
//!
//! A report of `run` has 8,000 to 15,000 numbers in lists. With a line for each, half of the instructions
//! and two thirds of the file were indentation.

use std::io::{self, Write};

use serde_json::ser::{CompactFormatter, Formatter};

/// One type for both layouts, because each document's code for writing is compiled once for each type of layout.
#[derive(Default)]
pub(crate) struct Layout {
    /// No line feeds and no spaces; else two spaces for each level.
    is_one_line: bool,
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

/// The text between two members, at the greatest depth that one write covers. A first member has no comma.
const BEFORE: &[u8; 66] = b",\n                                                                ";

impl Layout {
    pub(crate) fn one_line() -> Layout {
        Layout { is_one_line: true, ..Layout::default() }
    }

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
        if self.is_one_line {
            return out.write_all(&BEFORE[begin..1]);
        }
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

impl Formatter for Layout {
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

    fn write_raw_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        self.begin_text(out)?;
        self.is_number = false;
        out.write_all(fragment.as_bytes())
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
        out.write_all(if self.is_one_line { b":" } else { b": " })
    }

    #[inline]
    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_lines = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::to_raw_value;
    use serde_json::{Value, json};

    use crate::document;

    fn text(value: &serde_json::Value) -> String {
        document::text(value).trim_end().to_owned()
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
        assert_eq!(document::line(&value), "{\"a\":0.0,\"b\":[1.5,0.0]}\n");
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
        let read: Value = serde_json::from_str(&text(&deep)).expect("it is JSON");
        assert_eq!(read, deep);
    }

    /// Any tree without -0, which both layouts write as 0.
    fn trees() -> impl Strategy<Value = Value> {
        let single = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (1..1000_i32).prop_map(|number| json!(f64::from(number) / 8.0)),
            "[a-z\"]{0,3}".prop_map(Value::from),
        ];
        single.prop_recursive(5, 64, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec(("[a-z]{1,3}", inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn one_line_is_that_of_serde_json(list in prop::collection::vec(trees(), 0..5)) {
            let expected = serde_json::to_string(&list).expect("keys are strings");
            prop_assert_eq!(document::line(&list), format!("{expected}\n"));
            let raw: Vec<_> = list.iter().map(|one| to_raw_value(one).expect("JSON")).collect();
            prop_assert_eq!(document::line(&raw), format!("{expected}\n"));
        }

        #[test]
        fn both_layouts_read_back(tree in trees()) {
            let raw = to_raw_value(&tree).expect("JSON");
            let around = json!({"list": [1, [tree.clone()]], "one": tree});
            for text in [document::text(&around), document::line(&around)] {
                prop_assert_eq!(&serde_json::from_str::<Value>(&text).expect("JSON"), &around);
            }
            let text = document::text(&[Some(&raw), None, Some(&raw)]);
            let read: Value = serde_json::from_str(&text).expect("JSON");
            prop_assert_eq!(read, json!([tree, null, tree]));
        }
    }
}
