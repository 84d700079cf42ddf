//! The terminal behind a standard stream: its width and its abilities.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use pacman_core::export::Environment;
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
