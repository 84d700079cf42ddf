//! Arguments from C, checked before use.

use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;

use crate::error::{Failure, Result, Status};

/// Structs longer than this are taken for garbage in their `size`.
const LONGEST: usize = 4096;

/// A C string that must be there.
///
/// # Safety
/// `text` is null or points to a string closed by a zero that nobody writes to
/// for as long as the result is used.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str> {
    // SAFETY: the caller's promise.
    std::str::from_utf8(unsafe { bytes(text, what) }?).map_err(|_| {
        Failure::new(Status::Invalid, format!("cannot use {what}: it is not valid UTF-8"))
    })
}

/// A C string that must be there, in any encoding.
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
    // SAFETY: not null, and the caller's promise for the rest.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// A struct that may have been compiled against an older or a newer header.
///
/// # Safety
/// Every bit pattern is a value of `Self`, zeros mean "as before the field
/// existed", and the type begins with `size: u32` and has no padding.
pub(crate) unsafe trait Sized32: Copy {
    /// Its name in C.
    const NAME: &'static str;
    /// Bytes without which it means nothing.
    const LEAST: usize;
}

/// Copies a caller's struct: fields that it lacks are zero, fields that this
/// library lacks must be.
///
/// # Safety
/// `theirs` is null or points to a `u32`, and, if that is plausible as a size,
/// to as many readable bytes.
pub(crate) unsafe fn sized<T: Sized32>(theirs: *const T) -> Result<T> {
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_theirs(theirs) }?;
    let ours = std::mem::size_of::<T>();
    let bytes = theirs.cast::<u8>();
    for offset in ours..size {
        // SAFETY: within the size that the caller vouches for.
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
    // SAFETY: both are as long as the lesser of the two sizes, and every bit
    // pattern of T is valid.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes, copy.as_mut_ptr().cast(), size.min(ours));
        Ok(copy.assume_init())
    }
}

/// Fills a caller's struct as far as both know it; `size` stays as they set it,
/// and what this library does not know becomes zero.
///
/// # Safety
/// As for [`sized`], and the bytes are writable.
pub(crate) unsafe fn fill_sized<T: Sized32>(theirs: *mut T, value: &T) -> Result<()> {
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_theirs(theirs) }?;
    let (ours, head) = (std::mem::size_of::<T>(), std::mem::size_of::<u32>());
    let (from, to) = (std::ptr::from_ref(value).cast::<u8>(), theirs.cast::<u8>());
    // SAFETY: within both sizes; the value is a copy of ours, so they do not overlap.
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
    // SAFETY: not null, and the caller's promise; C may hand over odd addresses.
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

/// Refuses a null out-pointer before anything is done.
pub(crate) fn present<T>(out: *const T, what: &str) -> Result<()> {
    if out.is_null() {
        return Err(Failure::new(
            Status::Invalid,
            format!("cannot return {what}: the pointer for it is null"),
        ));
    }
    Ok(())
}

/// Refuses an array that cannot take `needed` counts.
pub(crate) fn room(counts: *const u64, n: usize, needed: usize) -> Result<()> {
    present(counts, "counts")?;
    if n < needed {
        return Err(Failure::new(
            Status::Size,
            format!("cannot return counts: there is room for {n}, the session has {needed} events"),
        ));
    }
    Ok(())
}
