//! Sessions: options, open, close, and their events.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_int, c_void};

use pacman_core::clock::ClockSource;
use pacman_core::fork::Fenced;
use pacman_core::session::EventSetRotation;
use pacman_core::{Placement, Session};

use crate::error::{Failure, Result, Status, answer_isolated};
use crate::input::{self, Sized32};
use crate::kept;
use crate::machine;
use crate::registry::{self, Entry, pacman_session};
use crate::version;

/// Lets the kernel multiplex groups if there are too few counters.
const MULTIPLEXED: u32 = 1;
/// This flag and the next one let event sets rotate.
const ROTATE_PER_EXECUTION: u32 = 2;
const ROTATE_STAGGERED: u32 = 4;
/// Accepts counts of a kernel driver that is not trusted.
const TRUST_DRIVER: u32 = 8;
const FLAGS: u32 = MULTIPLEXED | ROTATE_PER_EXECUTION | ROTATE_STAGGERED | TRUST_DRIVER;

/// The options of a session; `pacman_options` in C.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Options {
    /// The size of the caller's struct, in bytes.
    pub size: u32,
    /// The ABI that the caller was compiled for.
    pub abi: u32,
    /// `PACMAN_MULTIPLEXED`, one of `PACMAN_ROTATE_`, `PACMAN_TRUST_DRIVER`, or 0.
    pub flags: u32,
    /// A `PACMAN_CLOCK_` number.
    pub clock: u32,
    /// The number of single samples to keep for each thread.
    pub log_samples: u64,
    /// The session's name.
    pub name: *const c_char,
    /// Events, separated by commas.
    pub events: *const c_char,
    /// A placement policy, a list of CPUs, or null.
    pub placement: *const c_char,
    /// Null.
    pub reserved: [*const c_void; 5],
}

// SAFETY: the fields are integers and raw pointers, in an order that needs no padding.
unsafe impl Sized32 for Options {
    const NAME: &'static str = "a pacman_options";
    const LEAST: usize = std::mem::offset_of!(Options, placement);
}

/// Opens a session.
///
/// # Safety
/// `options` is null or points to a struct of the length in its `size`. Its strings are null or
/// closed by a zero. `session` is null or points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_session_open(
    options: *const Options,
    session: *mut *mut pacman_session,
) -> c_int {
    answer_isolated(|| {
        input::present(session, "a session")?;
        // SAFETY: the caller's promise.
        let options = unsafe { input::sized(options) }?;
        // SAFETY: the caller's promise about the strings, which are not kept.
        let opened = unsafe { start(&options) }?;
        // Read the topology now: the session will bind threads, and new threads inherit their masks.
        let topology = machine::topology();
        let handle = registry::insert(opened, topology);
        // SAFETY: not null, and the caller's promise.
        unsafe { session.write(std::ptr::without_provenance_mut(handle)) };
        Ok(Status::Ok)
    })
}

/// # Safety
/// The strings of `options` are null or closed by a zero.
unsafe fn start(options: &Options) -> Result<Session> {
    version::shake_hands(options.abi)?;
    if options.flags & !FLAGS != 0 || options.reserved.iter().any(|word| !word.is_null()) {
        return Err(Failure::new(
            Status::Invalid,
            format!(
                "cannot open a session: flags {:#x} or reserved fields are not known to \
                 libpacman {}; begin with PACMAN_OPTIONS_INIT",
                options.flags,
                env!("CARGO_PKG_VERSION")
            ),
        ));
    }
    // SAFETY: the caller's promise.
    let name = unsafe { input::text(options.name, "this as the name of a session") }?;
    // SAFETY: the caller's promise.
    let events = unsafe { input::text(options.events, "this as a list of events") }?;
    let log = usize::try_from(options.log_samples).unwrap_or(usize::MAX);
    machine::choose()?;
    let mut builder = Session::builder(name).events(events).log(log);
    if !options.placement.is_null() {
        // SAFETY: the caller's promise.
        let placement = unsafe { input::text(options.placement, "this as a placement") }?;
        builder = builder.placement(machine::topology()?, placement.parse::<Placement>()?);
    }
    if options.flags & MULTIPLEXED != 0 {
        builder = builder.multiplexed();
    }
    if options.flags & TRUST_DRIVER != 0 {
        builder = builder.trust_driver();
    }
    builder = match options.flags & (ROTATE_PER_EXECUTION | ROTATE_STAGGERED) {
        0 => builder,
        ROTATE_PER_EXECUTION => builder.rotate_event_sets(EventSetRotation::PerExecution),
        ROTATE_STAGGERED => builder.rotate_event_sets(EventSetRotation::Staggered),
        _ => {
            return Err(Failure::new(
                Status::Invalid,
                "cannot rotate event sets both per execution and staggered: choose one of \
                 PACMAN_ROTATE_PER_EXECUTION and PACMAN_ROTATE_STAGGERED",
            ));
        }
    };
    builder = match options.clock {
        0 => builder,
        1 => builder.clock(ClockSource::Tsc),
        2 => builder.clock(ClockSource::Monotonic),
        other => {
            return Err(Failure::new(
                Status::Invalid,
                format!(
                    "cannot take time from clock {other}: there is no such clock; use \
                     PACMAN_CLOCK_BEST, PACMAN_CLOCK_TSC or PACMAN_CLOCK_MONOTONIC"
                ),
            ));
        }
    };
    Ok(builder.start()?)
}

/// Closes a session.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pacman_session_close(session: *mut pacman_session) -> c_int {
    answer_isolated(|| {
        registry::remove(session.addr(), "close a session")?;
        kept::let_go();
        Ok(Status::Ok)
    })
}

/// Stores the number of events that the session counts.
///
/// # Safety
/// `count` is null or points to a writable `size_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_event_count(
    session: *const pacman_session,
    count: *mut usize,
) -> c_int {
    answer_isolated(|| {
        input::present(count, "the number of events")?;
        let entry = registry::find(session.addr(), "count events")?;
        // SAFETY: not null, and the caller's promise.
        unsafe { count.write(entry.session.events().len()) };
        Ok(Status::Ok)
    })
}

/// Stores the canonical name of an event.
///
/// # Safety
/// `name` is null or points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_event_name(
    session: *const pacman_session,
    event: usize,
    name: *mut *const c_char,
) -> c_int {
    answer_isolated(|| {
        input::present(name, "a name")?;
        let entry = registry::find(session.addr(), "name an event")?;
        let text = interned(entry.event(event)?.name());
        // SAFETY: not null, and the caller's promise.
        unsafe { name.write(text.as_ptr()) };
        Ok(Status::Ok)
    })
}

/// Stores the unit of one count of an event.
///
/// # Safety
/// `unit` is null or points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_event_unit(
    session: *const pacman_session,
    event: usize,
    unit: *mut *const c_char,
) -> c_int {
    answer_isolated(|| {
        input::present(unit, "a unit")?;
        let entry = registry::find(session.addr(), "name a unit")?;
        let text = interned(entry.event(event)?.unit());
        // SAFETY: not null, and the caller's promise.
        unsafe { unit.write(text.as_ptr()) };
        Ok(Status::Ok)
    })
}

/// Stores the event sets of a session, as masks.
///
/// # Safety
/// `sets` is null or points to `n` writable words. `count` is null or points to a writable
/// `size_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_sets(
    session: *const pacman_session,
    sets: *mut u64,
    n: usize,
    count: *mut usize,
) -> c_int {
    answer_isolated(|| {
        input::present(count, "the number of sets")?;
        input::present(sets, "sets")?;
        let entry = registry::find(session.addr(), "list sets")?;
        let masks: Vec<u64> = entry
            .session
            .sets()
            .iter()
            .map(|set| set.events.iter().fold(0, |mask, event| mask | 1 << event))
            .collect();
        if n < masks.len() {
            return Err(Failure::new(
                Status::Size,
                format!("cannot list sets: there is room for {n}, the session has {}", masks.len()),
            ));
        }
        // SAFETY: n >= masks.len() and `count` is not null. The caller promises room for n words.
        unsafe {
            std::ptr::copy_nonoverlapping(masks.as_ptr(), sets, masks.len());
            count.write(masks.len());
        }
        Ok(Status::Ok)
    })
}

impl Entry {
    fn event(&self, number: usize) -> Result<&pacman_core::Event> {
        let events = self.session.events();
        events.get(number).ok_or_else(|| {
            Failure::new(
                Status::Invalid,
                format!(
                    "cannot name event {number} of session {:?}: it counts {}, numbered from 0",
                    self.session.name(),
                    events.len()
                ),
            )
        })
    }
}

/// Returns a text that C may keep for ever. Each different text is stored once.
fn interned(text: &str) -> &'static CStr {
    static TEXTS: Fenced<BTreeSet<&'static CStr>> = Fenced::new(BTreeSet::new());
    let text = CString::new(text).expect("names of events hold no zero");
    let mut texts = TEXTS.lock();
    if let Some(known) = texts.get(text.as_c_str()) {
        return known;
    }
    let kept: &'static CStr = Box::leak(text.into_boxed_c_str());
    texts.insert(kept);
    kept
}
