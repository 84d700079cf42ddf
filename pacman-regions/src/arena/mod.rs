//! Shared memory for recordings, which outlives the programs that write to it.
//!
//! An arena is an array of words that several processes map at once: System V segments of the
//! command, or a file. A process maps a [piece](pieces) of it when it needs the piece. So it takes no
//! more address space than a few stacks of threads. Each process takes chunks of pages, writes records there, and updates them
//! while its program runs. The arena is readable at every instant, so a process may end at any
//! instruction.
//!
//! | part | is |
//! |---|---|
//! | page 0 | the header: magic, version, nonce, pages, the next free page, refused processes, the length of a tick |
//! | piece | pages that are mapped together. Its first page has no records; in a segment it identifies the arena |
//! | chunk | pages of one process in one piece. 8 words: a mark (`CHUNK`) and the number of pages, the owner (the first page of the process's first chunk), words in use. Then records |
//! | record | its kind and its length in words, a multiple of 8; then the fields of the kind |
//!
//! All words are little endian, no word is a pointer, and free pages are zeros. A new record has its
//! length and kind 0; the writer fills it and then sets its kind. A byte string is its length and the
//! words that hold it.
//!
//! The preloaded library writes ([`Writer`], [`Row`], [`SetRow`], [`WaitRow`],
//! [`PhaseRow`], [`PrimaryStats`], [`LogBlock`]), the command reads ([`read`]). The reader trusts nothing.

mod bins;
mod cell;
mod cells;
mod energy;
mod file;
mod format;
mod image;
mod log_block;
mod open_part;
mod payload;
mod phase_row;
mod reader;
mod set_row;
mod thread;
mod wait_row;
mod writer;

#[cfg(test)]
mod tests;

pub use bins::CurrentBin;
pub use cells::{EVENTS, Nested, PrimaryStats, Process, Row, Widths};
pub use energy::Energy;
pub use file::EXTENSION;
pub use format::{
    Kind, MOST_PAGES, PAGE, VERSION, VERSION_SYMBOL, check, copied, page_count, pieces, prepare,
    set_tick,
};
pub use image::image_of;
pub use log_block::{LogBlock, LogEntry};
pub use payload::Payload;
pub use phase_row::PhaseRow;
pub use reader::{read, read_words};
pub use set_row::{SetRow, SetTurn};
pub use thread::{COUNTDOWNS, Thread, Untimed};
pub use wait_row::{WaitRow, state};
pub use writer::{Pages, ProcessStart, Slot, Writer};
