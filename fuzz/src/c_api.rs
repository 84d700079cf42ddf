//! The C API's strings and sizes.

use std::ffi::CString;
use std::ptr;

use pacman::adapt::{AdaptOptions, pacman_adapt_close, pacman_adapt_open};
use pacman::error::{pacman_last_error, pacman_strerror};
use pacman::pacman_session;
use pacman::session::{Options, pacman_session_close, pacman_session_open};

/// Options of a session: 16 bytes of numbers, then name, events and placement with zeros between.
pub fn c_api(data: &[u8]) {
    let Some((numbers, strings)) = data.split_at_checked(16) else { return };
    let word = |at: usize| u32::from_le_bytes(numbers[at..at + 4].try_into().expect("four"));
    let strings: Vec<CString> = strings
        .split(|byte| *byte == 0)
        .take(4)
        .map(|part| CString::new(part).expect("no zero"))
        .collect();
    let at = |index: usize| strings.get(index).map_or(ptr::null(), |text: &CString| text.as_ptr());
    let own = size_of::<Options>() as u32;
    // Most are to get past the checks of sizes.
    let size = if word(0) & 7 == 0 { (word(0) >> 3).min(own) } else { own };
    let options = Options {
        size,
        abi: if word(0) & 0x100 == 0 { 1 } else { word(0) >> 9 },
        flags: word(4),
        clock: word(8),
        log_samples: u64::from(word(12)),
        name: at(0),
        events: at(1),
        placement: at(2),
        reserved: [ptr::null(); 5],
    };
    let mut session: *mut pacman_session = ptr::null_mut();
    // SAFETY: the size is at most the struct's, and each string is null or closed by a zero.
    let status = unsafe { pacman_session_open(&options, &mut session) };
    check(status);
    if status == 0 {
        assert!(!session.is_null());
        assert_eq!(pacman_session_close(session), 0);
    }
    let own = size_of::<AdaptOptions>() as u32;
    let options = AdaptOptions {
        size: size.min(own),
        abi: options.abi,
        max_threads: word(4),
        objective: word(8),
        break_even_ns: u64::from(word(12)),
        switch_cost_ns: u64::from(word(12)),
        placement: at(2),
        // No file: a name could be any of this machine's.
        model: ptr::null(),
        machine: at(3),
        max_loss: f64::from(word(12)) / 1e9,
    };
    let mut adapter = ptr::null_mut();
    // SAFETY: as above.
    let status = unsafe { pacman_adapt_open(&options, &mut adapter) };
    check(status);
    if status == 0 {
        assert_eq!(pacman_adapt_close(adapter), 0);
    }
}

/// The code has a text, and a failure one line.
fn check(status: i32) {
    // SAFETY: both functions answer strings that are closed by a zero.
    let [meaning, said] = [pacman_strerror(status), pacman_last_error()]
        .map(|text| unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy());
    assert_ne!(meaning, "unknown PACMAN status");
    if status != 0 {
        crate::is_readable(said);
    }
}
