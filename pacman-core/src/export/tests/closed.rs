//! Tests with outputs that fail at any moment.

use std::io::{self, Write};

use super::specimen;
use crate::export::{TableStyle, csv, csv_log, json, table};
use crate::report::Report;

/// Takes a number of bytes, then is closed.
struct Pipe {
    room: usize,
    taken: Vec<u8>,
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let fits = bytes.len().min(self.room);
        self.room -= fits;
        self.taken.extend_from_slice(&bytes[..fits]);
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

type Export = fn(&Report, &mut dyn Write) -> io::Result<()>;

const EXPORTS: [(&str, Export); 4] = [
    ("table", |report, out| {
        let style = TableStyle { colour: true, unicode: true, ..TableStyle::default() };
        table(report, &style, out)
    }),
    ("csv", csv),
    ("csv_log", csv_log),
    ("json", json),
];

#[test]
fn a_pipe_that_closes_at_any_byte_is_an_error_and_nothing_else() {
    for report in [specimen::server(), specimen::troubled()] {
        for (name, export) in EXPORTS {
            let mut whole = Vec::new();
            export(&report, &mut whole).unwrap();
            for room in 0..whole.len() {
                let mut pipe = Pipe { room, taken: Vec::new() };
                let error = export(&report, &mut pipe).expect_err(name);
                assert_eq!(error.kind(), io::ErrorKind::BrokenPipe, "{name} at byte {room}");
                assert_eq!(pipe.taken, whole[..room], "{name} at byte {room}");
            }
            let mut pipe = Pipe { room: whole.len(), taken: Vec::new() };
            export(&report, &mut pipe).unwrap();
            assert_eq!(pipe.taken, whole, "{name}");
        }
    }
}

/// Keeps all text, and fails when it must flush it.
struct Unflushable;

impl Write for Unflushable {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

#[test]
fn what_a_buffer_held_back_fails_before_the_writer_returns() {
    for (name, export) in EXPORTS {
        let error = export(&specimen::server(), &mut Unflushable).expect_err(name);
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe, "{name}");
    }
}
