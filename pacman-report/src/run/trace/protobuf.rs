//! Messages in Protocol Buffers' encoding: fields of numbers, text and messages.
//!
//! Sixty lines of it, because a message here has eight fields at most, whose numbers Perfetto fixes. A library would
//! bring a macro package or a compiler of definitions to the build.

/// A message that grows by a field at a time.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn number(mut self, field: u32, value: u64) -> Message {
        self.key(field, VARINT);
        self.varint(value);
        self
    }

    /// A negative number has ten bytes, as `int32` and `int64` have it.
    pub(super) fn signed(self, field: u32, value: i64) -> Message {
        self.number(field, value as u64)
    }

    pub(super) fn real(mut self, field: u32, value: f64) -> Message {
        self.key(field, EIGHT_BYTES);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn text(self, field: u32, value: &str) -> Message {
        self.bytes(field, value.as_bytes())
    }

    pub(super) fn message(self, field: u32, value: Message) -> Message {
        self.bytes(field, &value.0)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn bytes(mut self, field: u32, value: &[u8]) -> Message {
        self.key(field, LENGTH);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    fn key(&mut self, field: u32, kind: u32) {
        self.varint(u64::from(field << 3 | kind));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

const VARINT: u32 = 0;
const EIGHT_BYTES: u32 = 1;
const LENGTH: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the encoding's own manual, and the ends of its numbers.
    #[test]
    fn bytes_are_those_of_the_manual() {
        let message = |message: Message| message.into_bytes();
        assert_eq!(message(Message::default().number(1, 150)), [0x08, 0x96, 0x01]);
        assert_eq!(message(Message::default().text(2, "testing")), b"\x12\x07testing");
        let inside = Message::default().number(1, 150);
        assert_eq!(message(Message::default().message(3, inside)), [0x1a, 3, 8, 0x96, 1]);
        let minus_two = [8, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(message(Message::default().signed(1, -2)), minus_two);
        assert_eq!(message(Message::default().real(1, 1.0)), [9, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        assert_eq!(message(Message::default().number(60, 0)), [0xe0, 3, 0]);
    }
}
