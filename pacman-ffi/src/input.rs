//! Arguments from C, checked before use.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;

use pacman_core::Session;

use crate::error::{Failure, Result, Status};

/// A struct with a larger `size` is refused as garbage.
const LONGEST: usize = 4096;

/// Reads a required C string.
///
/// # Safety
/// `text` is null or points to a string closed by a zero. No thread may write to it while the result
/// is used.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str> {
    // SAFETY: the caller's promise.
    std::str::from_utf8(unsafe { bytes(text, what) }?).map_err(|_| {
        Failure::new(Status::Invalid, format!("cannot use {what}: it is not valid UTF-8"))
    })
}

/// Reads a required C string in any encoding.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn bytes<'a>(text: *const c_char, what: &str) -> Result<&'a [u8]> {
    if text.is_null() {
        return Err(Failure::new(
            Status::Invalid,
            format!("cannot use {what}: it is null; pass a string"),
        ));
    }
    // SAFETY: `text` is not null; the caller promises the rest.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// A struct that may have been compiled against an older or a newer header.
///
/// # Safety
/// Every bit pattern is a value of `Self`. A zero field means "as before the field existed". The
/// type begins with `size: u32` and has no padding.
pub(crate) unsafe trait Sized32: Copy {
    /// The type's name in C, with its article.
    const NAME: &'static str;
    /// The least size that a caller may pass, in bytes.
    const LEAST: usize;
}

/// Copies a caller's struct. Fields that it lacks become zero. Fields that this library lacks must
/// be zero.
///
/// # Safety
/// `theirs` is null or points to a `u32`. If that number is a plausible size, as many bytes there are
/// readable.
pub(crate) unsafe fn sized<T: Sized32>(theirs: *const T) -> Result<T> {
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_theirs(theirs) }?;
    let ours = std::mem::size_of::<T>();
    let bytes = theirs.cast::<u8>();
    for offset in ours..size {
        // SAFETY: the offset is within the size that the caller promises.
        if unsafe { bytes.add(offset).read() } != 0 {
            return Err(Failure::new(
                Status::Size,
                format!(
                    "cannot use {}: byte {offset} is not zero and libpacman {} knows {ours} \
                     bytes; the program wants a newer library",
                    T::NAME,
                    env!("CARGO_PKG_VERSION")
                ),
            ));
        }
    }
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: both structs have at least the lesser of the two sizes, and every bit pattern of T is
    // valid.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes, copy.as_mut_ptr().cast(), size.min(ours));
        Ok(copy.assume_init())
    }
}

/// Fills the part of a caller's struct that both sides know. `size` keeps its value, and fields that
/// this library lacks become zero.
///
/// # Safety
/// As for [`sized`], and the bytes are writable.
pub(crate) unsafe fn fill_sized<T: Sized32>(theirs: *mut T, value: &T) -> Result<()> {
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_theirs(theirs) }?;
    let (ours, head) = (std::mem::size_of::<T>(), std::mem::size_of::<u32>());
    let (from, to) = (std::ptr::from_ref(value).cast::<u8>(), theirs.cast::<u8>());
    // SAFETY: the copy is within both sizes. The value is our own, so the two do not overlap.
    unsafe {
        std::ptr::copy_nonoverlapping(from.add(head), to.add(head), size.min(ours) - head);
        if size > ours {
            std::ptr::write_bytes(to.add(ours), 0, size - ours);
        }
    }
    Ok(())
}

/// # Safety
/// As for [`sized`].
unsafe fn size_of_theirs<T: Sized32>(theirs: *const T) -> Result<usize> {
    if theirs.is_null() {
        return Err(Failure::new(
            Status::Invalid,
            format!("cannot use {}: it is null; pass a struct", T::NAME),
        ));
    }
    // SAFETY: not null, and the caller's promise. The read is unaligned, since C may pass any address.
    let size = unsafe { theirs.cast::<u32>().read_unaligned() } as usize;
    if !(T::LEAST..=LONGEST).contains(&size) {
        return Err(Failure::new(
            Status::Size,
            format!(
                "cannot use {}: its size is {size}, not {} to {LONGEST}; set it to sizeof({})",
                T::NAME,
                T::LEAST,
                T::NAME.trim_start_matches("a ")
            ),
        ));
    }
    Ok(size)
}

/// Refuses a null pointer for a result.
pub(crate) fn present<T>(out: *const T, what: &str) -> Result<()> {
    if out.is_null() {
        return Err(Failure::new(
            Status::Invalid,
            format!("cannot return {what}: the pointer for it is null"),
        ));
    }
    Ok(())
}

/// The numbers of events of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventNumbers {
    /// Those that the program asked for, which come first.
    pub(crate) asked: usize,
    /// All of them: on a hybrid processor also what each core type counted.
    pub(crate) all: usize,
}

impl EventNumbers {
    pub(crate) fn of(session: &Session) -> EventNumbers {
        EventNumbers { asked: session.asked_events().len(), all: session.events().len() }
    }
}

/// The number of counts to return in `n` words. A program need not know of events that it did not
/// ask for.
pub(crate) fn room(counts: *const u64, n: usize, events: EventNumbers) -> Result<usize> {
    present(counts, "counts")?;
    let needed = events.asked;
    if n < needed {
        return Err(Failure::new(
            Status::Size,
            format!(
                "cannot return counts: there is room for {n}, the session counts {needed} of them"
            ),
        ));
    }
    Ok(n.min(events.all))
}
