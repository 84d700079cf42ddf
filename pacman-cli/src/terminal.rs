//! The terminal behind a standard stream: its width and its abilities.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use pacman_core::export::Environment;
use pacman_core::export::grid::fitted;
use terminal_size::{Height, Width, terminal_size_of};

/// The abilities of a standard stream's reader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    pub(crate) is_terminal: bool,
    /// `COLUMNS`, else the terminal's own; without either no line has to end.
    pub(crate) columns: Option<usize>,
    pub(crate) lines: Option<usize>,
    /// The locale's encoding is UTF-8, of a file too.
    pub(crate) unicode: bool,
    /// It wants colours.
    pub(crate) colour: bool,
    /// A line can be drawn over.
    pub(crate) redraws: bool,
}

impl Terminal {
    /// The columns that a line may take; without a terminal and `COLUMNS` it may have any length.
    pub(crate) fn width(self) -> usize {
        // Unit tests write to memory, whatever terminal starts them.
        self.columns.filter(|_| !cfg!(test)).unwrap_or(usize::MAX)
    }

    pub(crate) fn stdout() -> Terminal {
        Terminal::of(io::stdout())
    }

    pub(crate) fn stderr() -> Terminal {
        Terminal::of(io::stderr())
    }

    fn of(stream: impl AsFd + IsTerminal) -> Terminal {
        let is_terminal = stream.is_terminal();
        let Environment { columns, unicode, redraws, colour } = Environment::read(is_terminal);
        let size = terminal_size_of(stream);
        Terminal {
            is_terminal,
            columns: columns.or(size.map(|(Width(columns), _)| columns.into())),
            lines: size.map(|(_, Height(lines))| lines.into()),
            unicode,
            colour,
            redraws,
        }
    }
}

/// Passes text on in lines that fit the terminal behind standard output. A line goes when it ends.
pub struct Fitted<'a> {
    out: &'a mut dyn Write,
    width: usize,
    line: Vec<u8>,
}

impl<'a> Fitted<'a> {
    /// Passes text on to standard output.
    pub fn stdout(out: &'a mut dyn Write) -> Fitted<'a> {
        Fitted { out, width: Terminal::stdout().width(), line: Vec::new() }
    }

    #[cfg(test)]
    fn new(out: &'a mut dyn Write, width: usize) -> Fitted<'a> {
        Fitted { out, width, line: Vec::new() }
    }
}

impl Write for Fitted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.line.split_off(end + 1);
            let lines = std::mem::replace(&mut self.line, rest);
            match self.width {
                usize::MAX => self.out.write_all(&lines)?,
                width => {
                    let text = fitted(&String::from_utf8_lossy(&lines), width);
                    self.out.write_all(text.as_bytes())?;
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        debug_assert!(self.line.is_empty(), "all text ends with a line feed");
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_fitted_when_it_ends() {
        let mut text = Vec::new();
        let mut out = Fitted::new(&mut text, 9);
        out.write_all(b"  one two").expect("memory");
        out.write_all(b" three\nfour\n").expect("memory");
        out.flush().expect("memory");
        assert_eq!(String::from_utf8_lossy(&text), "  one two\n    three\nfour\n");
    }
}
