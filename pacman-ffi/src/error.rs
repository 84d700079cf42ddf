//! Status codes, the message of the last failure, and the guard at every entry.

use std::any::Any;
use std::borrow::Cow;
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use pacman_core::{Error, ErrorKind, cancel, floating};

/// Bytes of the message buffer, its closing zero included.
const MESSAGE: usize = 1024;

/// Defines the statuses and their texts.
macro_rules! statuses {
    ($($status:ident = $code:literal, $text:literal;)+) => {
        /// The status of a call in C; the header's `PACMAN_` codes.
        ///
        /// New codes are appended, because a number keeps its meaning for ever.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(i32)]
        pub(crate) enum Status {
            $($status = $code,)+
        }

        /// Every code with its name in the header and its meaning in a few words.
        const STATUSES: &[(Status, &CStr)] = &[$((Status::$status, $text),)+];
    };
}

statuses! {
    Already = 1, c"PACMAN_ALREADY: the thread is attached already";
    Ok = 0, c"PACMAN_OK: done";
    Internal = -1, c"PACMAN_E_INTERNAL: a defect in the library";
    Handle = -2, c"PACMAN_E_HANDLE: not an open handle of this kind";
    Invalid = -3, c"PACMAN_E_INVALID: malformed argument";
    Size = -4, c"PACMAN_E_SIZE: a struct or array of the wrong size";
    Abi = -5, c"PACMAN_E_ABI: header and library do not fit together";
    AlreadyAttached = -6, c"PACMAN_E_ALREADY_ATTACHED: the thread is attached elsewhere";
    Closed = -7, c"PACMAN_E_CLOSED: the session was closed meanwhile";
    Conflict = -8, c"PACMAN_E_CONFLICT: events that cannot be counted together";
    Detached = -9, c"PACMAN_E_NOT_ATTACHED: the thread is not attached";
    DuplicateSession = -10, c"PACMAN_E_DUPLICATE_SESSION: a session of that name is open";
    Empty = -11, c"PACMAN_E_NO_EVENTS: an empty list of events or places";
    ForeignTopology = -12, c"PACMAN_E_FOREIGN_TOPOLOGY: a place of another machine";
    Forked = -13, c"PACMAN_E_FORKED: opened before this process was forked";
    NoDescriptors = -14, c"PACMAN_E_NO_DESCRIPTORS: out of file descriptors";
    NoPlace = -15, c"PACMAN_E_NO_PLACE: no such hardware context, or none free";
    NoPmu = -16, c"PACMAN_E_NO_PMU: no hardware counters on this machine";
    NotScheduled = -17, c"PACMAN_E_NOT_SCHEDULED: the counters are held by another";
    Permission = -18, c"PACMAN_E_PERMISSION: not allowed to count this";
    PhaseOrder = -19, c"PACMAN_E_PHASE_ORDER: the phase is not the one begun last";
    PlaceNotAllowed = -20, c"PACMAN_E_PLACE_NOT_ALLOWED: the process may not run there";
    System = -21, c"PACMAN_E_SYSTEM: the operating system refused";
    TooManyEvents = -22, c"PACMAN_E_TOO_MANY_EVENTS: more events than a session holds";
    UnknownEvent = -23, c"PACMAN_E_UNKNOWN_EVENT: no event of that name";
    Unsupported = -24, c"PACMAN_E_UNSUPPORTED: known, but not possible here";
    NoThread = -25, c"PACMAN_E_NO_THREAD: no thread of that number has attached";
    NoSample = -26, c"PACMAN_E_NO_SAMPLE: the thread has published nothing yet";
    Output = -27, c"PACMAN_E_OUTPUT: the report could not be written";
    Reentered = -28, c"PACMAN_E_REENTERED: a signal handler inside of begin or end";
}

/// A failure on its way to C: a code and one line.
///
/// It is boxed, so that results fit into registers.
#[derive(Debug)]
pub(crate) struct Failure(Box<Inner>);

#[derive(Debug)]
struct Inner {
    status: Status,
    message: Cow<'static, str>,
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    #[cold]
    pub(crate) fn new(status: Status, message: impl Into<Cow<'static, str>>) -> Failure {
        Failure(Box::new(Inner { status, message: message.into() }))
    }
}

impl From<Error> for Failure {
    #[cold]
    fn from(error: Error) -> Failure {
        Failure::new(status_of(error.kind()), error.to_string())
    }
}

fn status_of(kind: ErrorKind) -> Status {
    match kind {
        ErrorKind::AlreadyAttached => Status::AlreadyAttached,
        ErrorKind::Closed => Status::Closed,
        ErrorKind::Conflict => Status::Conflict,
        ErrorKind::NotAttached => Status::Detached,
        ErrorKind::DuplicateSession => Status::DuplicateSession,
        ErrorKind::Empty => Status::Empty,
        ErrorKind::ForeignTopology => Status::ForeignTopology,
        ErrorKind::Forked => Status::Forked,
        ErrorKind::InvalidInput => Status::Invalid,
        ErrorKind::NoDescriptors => Status::NoDescriptors,
        ErrorKind::NoSuchPlace => Status::NoPlace,
        ErrorKind::NoPmu => Status::NoPmu,
        ErrorKind::NotScheduled => Status::NotScheduled,
        // C has one code for all known events that cannot be counted here.
        ErrorKind::OtherModel => Status::Unsupported,
        ErrorKind::Permission => Status::Permission,
        ErrorKind::PhaseOrder => Status::PhaseOrder,
        ErrorKind::PlaceNotAllowed => Status::PlaceNotAllowed,
        ErrorKind::Reentered => Status::Reentered,
        ErrorKind::TooManyEvents => Status::TooManyEvents,
        ErrorKind::UnknownEvent => Status::UnknownEvent,
        ErrorKind::Unsupported => Status::Unsupported,
        // `ErrorKind` may grow. Kinds without a code in C count as errors of the system.
        _ => Status::System,
    }
}

/// Runs an entry's work. A failure becomes its code and message, and a panic becomes
/// `PACMAN_E_INTERNAL`.
///
/// Entries call it directly if threads call them often and they have no cancellation points. All
/// others call [`answer_isolated`].
#[inline]
pub(crate) fn answer(work: impl FnOnce() -> Result<Status>) -> c_int {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(status)) => status as c_int,
        Ok(Err(failure)) => keep(failure),
        Err(payload) => panicked(payload),
    }
}

/// As [`answer`], with cancellation deferred and the floating-point state isolated.
///
/// The program may enable floating-point traps and may read the flags, so the work must not change
/// either. The work makes system calls, in which the thread could be cancelled.
///
/// A pending cancellation may unwind from the last statement. So entries are `extern "C-unwind"`, and
/// neither they nor this function have anything to drop there.
pub(crate) fn answer_isolated(work: impl FnOnce() -> Result<Status>) -> c_int {
    let before = cancel::put_off();
    let status = floating::isolated(|| answer(work));
    cancel::allow(before);
    status
}

#[cold]
fn panicked(payload: Box<dyn Any + Send>) -> c_int {
    let said = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text.as_str(),
        _ => "no reason given",
    };
    let message = format!("a defect in libpacman: {}; please report it", said.replace('\n', " "));
    // Dropping an unknown payload might panic again, and nothing would catch that panic.
    std::mem::forget(payload);
    keep(Failure::new(Status::Internal, message))
}

thread_local! {
    /// The message of this thread's last failure, always closed by a zero.
    ///
    /// It has no destructor, so that the thread can read it until it ends.
    static LAST: UnsafeCell<[u8; MESSAGE]> = const { UnsafeCell::new([0; MESSAGE]) };
}

#[allow(clippy::disallowed_methods, reason = "has no destructor, so it is always there")]
fn last() -> *mut [u8; MESSAGE] {
    LAST.with(UnsafeCell::get)
}

/// Stores the message where `pacman_last_error` shows it.
#[cold]
fn keep(failure: Failure) -> c_int {
    let Inner { status, message } = *failure.0;
    let text = message.as_bytes();
    let mut length = text.len().min(MESSAGE - 1);
    while !message.is_char_boundary(length) {
        length -= 1;
    }
    let buffer = last().cast::<u8>();
    // SAFETY: the buffer belongs to this thread and holds MESSAGE bytes. No Rust reference to it
    // exists, because C and this function use raw pointers only.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), buffer, length);
        buffer.add(length).write(0);
    }
    status as c_int
}

/// Returns the message of this thread's last failed call; empty before the first.
#[unsafe(no_mangle)]
pub extern "C" fn pacman_last_error() -> *const c_char {
    last().cast::<c_char>()
}

/// Returns the name and meaning of a code.
#[unsafe(no_mangle)]
pub extern "C" fn pacman_strerror(status: c_int) -> *const c_char {
    STATUSES
        .iter()
        .find(|(known, _)| *known as c_int == status)
        .map_or(c"unknown PACMAN status", |(_, text)| *text)
        .as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_error() -> String {
        // SAFETY: the buffer is always closed by a zero.
        unsafe { CStr::from_ptr(pacman_last_error()) }.to_str().unwrap().to_string()
    }

    #[test]
    fn the_header_names_the_same_codes() {
        let header = include_str!("../include/pacman.h");
        let mut listed: Vec<(String, i32)> = Vec::new();
        for line in header.lines() {
            let mut words = line.split_whitespace();
            let (Some("#define"), Some(name)) = (words.next(), words.next()) else { continue };
            if name == "PACMAN_OK" || name == "PACMAN_ALREADY" || name.starts_with("PACMAN_E_") {
                let number = words.next().unwrap().trim_matches(['(', ')']);
                listed.push((name.to_string(), number.parse().unwrap()));
            }
        }
        let mut ours: Vec<(String, i32)> = STATUSES
            .iter()
            .map(|(status, text)| {
                let name = text.to_str().unwrap().split(':').next().unwrap();
                (name.to_string(), *status as i32)
            })
            .collect();
        listed.sort();
        ours.sort();
        assert_eq!(listed, ours);
    }

    #[test]
    fn the_buffer_never_moves_and_keeps_what_a_success_leaves() {
        let before = pacman_last_error();
        assert_eq!(last_error(), "");
        assert_eq!(answer(|| Err(Failure::new(Status::Invalid, "cannot: reason"))), -3);
        assert_eq!(answer(|| Ok(Status::Ok)), 0);
        assert_eq!((pacman_last_error(), last_error().as_str()), (before, "cannot: reason"));
    }

    #[test]
    fn a_message_that_is_too_long_ends_at_a_whole_character() {
        let long = "é".repeat(MESSAGE);
        answer(|| Err(Failure::new(Status::Invalid, long)));
        assert_eq!(last_error(), "é".repeat((MESSAGE - 1) / 2));
    }

    #[test]
    fn a_panic_becomes_a_code() {
        let status = answer(|| panic!("line one\nline two"));
        assert_eq!(status, Status::Internal as c_int);
        assert_eq!(last_error(), "a defect in libpacman: line one line two; please report it");
    }
}
