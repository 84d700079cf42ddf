//! The engine is loaded: it reads the options, prepares what they need, and takes over the program's calls.

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;

use pacman_core::clock::Clock;
use pacman_regions::{Options, Rank};

use crate::arena;
use crate::defect;
use crate::ending;
use crate::energy;
use crate::entry;
use crate::first_region;
use crate::fork;
use crate::heap;
use crate::interpose;
use crate::isolation::isolated;
use crate::listed;
use crate::mappings;
use crate::notes;
use crate::plan::Plan;
use crate::process;
use crate::recording;
use crate::region;
use crate::spin;
use crate::stub;
#[cfg(not(test))]
use crate::thread_exit;
use crate::worker::Worker;

/// The loader calls it when the preloaded library loads this one, and holds its lock meanwhile: threads whose
/// first calls meet wait there.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) = loaded;

unsafe extern "C" fn loaded(
    count: c_int,
    words: *const *const c_char,
    environment: *const *const c_char,
) {
    if !stub::is_of_this_release() || !stub::bind() {
        return;
    }
    // SAFETY: as the loader calls this.
    let set_up = || unsafe { set_up(count, words, environment) };
    // The program has begun, and its thread waits.
    if stub::is_late() {
        isolated(set_up)
    } else {
        set_up()
    };
    stub::take_over();
    // Set-up may have found functions that need no entry.
    interpose::pass_on();
}

/// The variables of the program, in the form that the kernel leaves them in; empty if they cannot be read.
fn variables() -> Vec<u8> {
    std::fs::read("/proc/self/environ").unwrap_or_default()
}

unsafe fn set_up(count: c_int, words: *const *const c_char, environment: *const *const c_char) {
    // A program that has begun may have changed its variables.
    let original = if stub::is_late() { variables() } else { Vec::new() };
    let get = |name: &str| -> Option<OsString> {
        let value_in = |text: &[u8]| {
            let value = text.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(OsStr::from_bytes(value).to_owned())
        };
        if !original.is_empty() {
            return original.split(|&byte| byte == 0).find_map(value_in);
        }
        // SAFETY: an array of strings with a null at its end, as the C library passes it to every
        // library that it loads. Nothing changes it before the program begins.
        unsafe {
            let mut at = environment;
            while !at.is_null() && !(*at).is_null() {
                if let Some(value) = value_in(CStr::from_ptr(*at).to_bytes()) {
                    return Some(value);
                }
                at = at.add(1);
            }
        }
        None
    };
    // SAFETY: the program's arguments, which are C strings.
    let arguments = (0..count as usize).map(|at| unsafe { CStr::from_ptr(*words.add(at)) });
    listed::note_start();
    entry::settle_tool(get, arguments);
    if get(spin::IS_OURS).is_some() {
        spin::note();
        // Otherwise libgomp may be about to read it.
        if !stub::is_late() {
            spin::forget();
        }
    }
    let (options, wrong) = Options::read(get);
    if !options.records() && options.adapt.is_none() {
        return;
    }
    notes::NOTES.lock().extend(wrong);
    defect::install_hook();
    if process::set_up(options, Clock::detect()) {
        // Once the program has begun, it may filter its system calls.
        mappings::take();
        first_region::take_mask();
        if process::plan().samples() {
            region::hide_bodies();
        }
        arena::open(process::options());
        recording::begin(stub::ran(process::clock()));
        process::set_rank(Rank::read(get));
        recording::host(process::rank());
        recording::command();
        notes::record_all();
        if process::options().energy && isolated(energy::open) {
            process::finds(Plan::METERS);
        }
        #[cfg(not(test))]
        thread_exit::prepare();
        Worker::watch_threads();
        heap::watch_forks();
        pacman_core::backend::install_atfork();
        fork::install_atfork();
        // SAFETY: a function of this library, which is never unloaded.
        unsafe { libc::atexit(ending::at_exit) };
        arena::program_begins();
        process::observe();
    }
}
