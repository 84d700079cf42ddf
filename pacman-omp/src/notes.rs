//! Notes for the reader of the recording.

use crate::lock::Lock;
use crate::recording;

pub(crate) static NOTES: Lock<Vec<String>> = Lock::new(Vec::new());

/// Adds a note. The same line is kept once.
pub(crate) fn note(line: String) {
    let mut notes = NOTES.lock();
    if !notes.contains(&line) {
        recording::note(&line);
        notes.push(line);
    }
}

/// Records all notes again, in a process that has just begun.
pub(crate) fn record_all() {
    NOTES.lock().iter().for_each(|line| recording::note(line));
}
