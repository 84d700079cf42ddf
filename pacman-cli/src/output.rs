//! Standard output and error, whose readers may go away.

use std::io::{self, ErrorKind, Write};

use crate::started;

/// Passes everything on, until the reader of a pipe closes it (`| head`);
/// from then on everything counts as written.
///
/// The command then ends as if it had been read to the end: same exit status,
/// nothing on standard error.
#[derive(Debug)]
pub(crate) struct Output<W> {
    to: W,
    closed: bool,
}

impl<W: Write> Output<W> {
    pub(crate) fn new(to: W) -> Output<W> {
        Output { to, closed: false }
    }

    fn unless_closed<T>(
        &mut self,
        nothing: T,
        act: impl FnOnce(&mut W) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.closed {
            return Ok(nothing);
        }
        match act(&mut self.to) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(nothing)
            }
            answer => answer,
        }
    }
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_closed(bytes.len(), |to| to.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_closed((), |to| to.flush())
    }
}

/// Standard error for an answer.
pub(crate) fn standard_error() -> Output<Box<dyn Write>> {
    match started::has_closed_error() {
        true => Output::new(Box::new(Closed)),
        false => Output::new(Box::new(io::stderr())),
    }
}

/// A standard stream that was closed before the command began. Rust's runtime opens `/dev/null` in its
/// place, which would take everything.
#[derive(Debug)]
pub(crate) struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(libc::EBADF))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_to_a_closed_output() {
        let mut out = Output::new(Closed);
        assert!(out.flush().is_ok(), "nothing was to be written");
        let error = out.write_all(b"answer").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EBADF));
    }

    /// Fails every call with one kind of error, and counts the calls.
    struct Failing(ErrorKind, u32);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.1 += 1;
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            self.write(&[]).map(|_| ())
        }
    }

    #[test]
    fn a_reader_that_left_is_asked_once() {
        let mut out = Output::new(Failing(ErrorKind::BrokenPipe, 0));
        out.write_all(b"one").unwrap();
        out.write_all(b"two").unwrap();
        out.flush().unwrap();
        assert_eq!(out.to.1, 1);
    }

    #[test]
    fn other_failures_are_not_hidden() {
        let mut out = Output::new(Failing(ErrorKind::StorageFull, 0));
        assert_eq!(out.write_all(b"one").unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(out.flush().unwrap_err().kind(), ErrorKind::StorageFull);
    }

    #[test]
    fn what_is_read_arrives() {
        let mut out = Output::new(Vec::new());
        out.write_all(b"answer").unwrap();
        out.flush().unwrap();
        assert_eq!(out.to, b"answer");
    }
}
