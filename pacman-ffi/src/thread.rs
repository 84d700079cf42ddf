//! Attaching and detaching threads, and the counts of threads.

use std::ffi::c_int;
use std::sync::atomic::Ordering;

use pacman_core::backend::Reading;
use pacman_core::session::{Peer, PeerSample, Sample};

use crate::error::{Failure, Result, Status, answer, answer_isolated};
use crate::input;
use crate::kept;
use crate::peer;
use crate::registry::{self, pacman_session};

/// Attaches the calling thread at the next free place of the session's placement. Without a
/// placement the thread stays where it runs.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pacman_attach(session: *const pacman_session) -> c_int {
    answer_isolated(|| attach(session.addr()))
}

/// Attaches the calling thread, if it is not attached.
pub(crate) fn attach(handle: usize) -> Result<Status> {
    // A forked child may have its parent's attachment, and is refused below.
    let inherited = kept::with(handle, "attach", |kept| Ok(kept.attached.is_inherited()));
    if matches!(inherited, Ok(false)) {
        return Ok(Status::Already);
    }
    kept::let_go();
    let entry = registry::find(handle, "attach this thread")?;
    kept::check_alive("attach this thread")?;
    let attached = entry.session.attach()?;
    kept::keep(handle, &entry, attached)?;
    Ok(Status::Ok)
}

/// Attaches the calling thread and binds it to a logical CPU until it detaches.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pacman_attach_cpu(session: *const pacman_session, cpu: u32) -> c_int {
    answer_isolated(|| {
        let handle = session.addr();
        kept::let_go();
        let entry = registry::find(handle, "attach this thread")?;
        kept::check_alive("attach this thread")?;
        match kept::standing(handle).filter(|_| !kept::is_inherited(handle)) {
            Some(Some(bound)) if bound == cpu => return Ok(Status::Already),
            Some(bound) => {
                let place = match bound {
                    Some(bound) => format!("on cpu {bound}"),
                    None => "wherever it runs".to_string(),
                };
                return Err(Failure::new(
                    Status::AlreadyAttached,
                    format!(
                        "cannot attach this thread to session {:?} on cpu {cpu}: it is attached \
                         {place}; call pacman_detach first",
                        entry.session.name()
                    ),
                ));
            }
            None => {}
        }
        let place = entry.topology.as_ref().map_err(Clone::clone)?.place(cpu)?;
        let attached = entry.session.attach_at(&place)?;
        kept::keep(handle, &entry, attached)?;
        Ok(Status::Ok)
    })
}

/// Detaches the calling thread.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pacman_detach(session: *const pacman_session) -> c_int {
    answer_isolated(|| {
        kept::end(session.addr(), "detach")?;
        Ok(Status::Ok)
    })
}

/// Stores the number that the session gave the calling thread.
///
/// # Safety
/// `number` is null or points to a writable `size_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_thread_number(
    session: *const pacman_session,
    number: *mut usize,
) -> c_int {
    answer_isolated(|| {
        input::present(number, "a thread's number")?;
        let found =
            kept::with(session.addr(), "ask for the number", |kept| Ok(kept.attached.number()))?;
        // SAFETY: not null, and the caller's promise.
        unsafe { number.write(found) };
        Ok(Status::Ok)
    })
}

/// Stores the number of threads that have attached so far, with detached ones.
///
/// # Safety
/// `count` is null or points to a writable `size_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_thread_count(
    session: *const pacman_session,
    count: *mut usize,
) -> c_int {
    answer_isolated(|| {
        input::present(count, "the number of threads")?;
        let entry = registry::find(session.addr(), "count threads")?;
        // SAFETY: not null, and the caller's promise.
        unsafe { count.write(entry.life.threads.load(Ordering::Relaxed)) };
        Ok(Status::Ok)
    })
}

/// Reads the calling thread's counters now.
///
/// # Safety
/// `counts` is null or points to `n` writable words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pacman_read(
    session: *const pacman_session,
    counts: *mut u64,
    n: usize,
) -> c_int {
    answer(|| {
        kept::with(session.addr(), "read the counters", |kept| {
            let words = input::room(counts, n, kept.events)?;
            let mut reading = Reading::EMPTY;
            kept.attached.read(&mut reading)?;
            // SAFETY: the caller promises room for n >= words words, and a reading has at least as
            // many.
            unsafe { std::ptr::copy_nonoverlapping(reading.counts.as_ptr(), counts, words) };
            Ok(Status::Ok)
        })
    })
}

/// Reads the calling thread's counters of the current event set, and stores a mask of its events.
///
/// # Safety
/// `counts` is null or points to `n` writable words. `live` and `epoch` are null or point to one
/// writable word each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pacman_sample(
    session: *const pacman_session,
    counts: *mut u64,
    n: usize,
    live: *mut u64,
    epoch: *mut u64,
) -> c_int {
    answer(|| {
        kept::with(session.addr(), "sample the counters", |kept| {
            let words = input::room(counts, n, kept.events)?;
            input::present(live, "which events are counted")?;
            let mut sample = Sample::EMPTY;
            kept.attached.sample(&mut sample)?;
            let count = |event| sample.is_counted(event).then(|| sample.count(event));
            // SAFETY: the caller promises room for n >= words words, and live is not null.
            unsafe { store(words, count, counts, live) };
            if !epoch.is_null() {
                // SAFETY: not null, and the caller's promise.
                unsafe { epoch.write(sample.epoch()) };
            }
            Ok(Status::Ok)
        })
    })
}

/// Stores the counts of a sample, and a mask of their events.
///
/// # Safety
/// `counts` points to `events` writable words, and `live` to one.
unsafe fn store(
    events: usize,
    count: impl Fn(usize) -> Option<u64>,
    counts: *mut u64,
    live: *mut u64,
) {
    let mut mask = 0;
    for event in 0..events {
        let Some(count) = count(event) else { continue };
        mask |= 1 << event;
        // SAFETY: the caller's promise.
        unsafe { counts.add(event).write(count) };
    }
    // SAFETY: the caller's promise.
    unsafe { live.write(mask) };
}

/// Reads the calling thread's counters and publishes them for the other threads.
#[unsafe(no_mangle)]
pub extern "C" fn pacman_publish(session: *const pacman_session) -> c_int {
    answer(|| {
        kept::with(session.addr(), "publish", |kept| {
            kept.attached.publish()?;
            Ok(Status::Ok)
        })
    })
}

/// Stores the latest counts that a thread of the session has published.
///
/// # Safety
/// `counts` is null or points to `n` writable words. `age_ns` is null or points to one writable
/// word.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pacman_peer_read(
    session: *const pacman_session,
    thread: usize,
    counts: *mut u64,
    n: usize,
    age_ns: *mut u64,
) -> c_int {
    answer(|| {
        peer::with(session.addr(), thread, |peer, events| -> Result<Status> {
            let words = input::room(counts, n, events)?;
            let latest = latest(peer, thread)?;
            if let Some(event) = (0..words).find(|event| !latest.is_counted(*event)) {
                return Err(Failure::new(
                    Status::Unsupported,
                    format!(
                        "cannot read all events of thread {thread} at once: event {event} is not \
                         in the set that is on the counters; use pacman_peer_sample"
                    ),
                ));
            }
            for event in 0..words {
                // SAFETY: there is room for n >= words words, by the caller's promise.
                unsafe { counts.add(event).write(latest.count(event)) };
            }
            // SAFETY: null, or the caller's promise.
            unsafe { store_age(peer, &latest, age_ns) };
            Ok(Status::Ok)
        })
    })
}

/// Stores the latest counts that a thread has published, of the event set that was on its counters.
///
/// # Safety
/// `counts` is null or points to `n` writable words. `live`, `epoch` and `age_ns` are null or point
/// to one writable word each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pacman_peer_sample(
    session: *const pacman_session,
    thread: usize,
    counts: *mut u64,
    n: usize,
    live: *mut u64,
    epoch: *mut u64,
    age_ns: *mut u64,
) -> c_int {
    answer(|| {
        peer::with(session.addr(), thread, |peer, events| -> Result<Status> {
            let words = input::room(counts, n, events)?;
            input::present(live, "which events are counted")?;
            let latest = latest(peer, thread)?;
            let count = |event| latest.is_counted(event).then(|| latest.count(event));
            // SAFETY: the caller promises room for n >= words words, and live is not null.
            unsafe { store(words, count, counts, live) };
            if !epoch.is_null() {
                // SAFETY: not null, and the caller's promise.
                unsafe { epoch.write(latest.epoch()) };
            }
            // SAFETY: null, or the caller's promise.
            unsafe { store_age(peer, &latest, age_ns) };
            Ok(Status::Ok)
        })
    })
}

fn latest(peer: &Peer, thread: usize) -> Result<PeerSample> {
    peer.latest().ok_or_else(|| {
        Failure::new(
            Status::NoSample,
            format!(
                "cannot read thread {thread}: it has published nothing yet; it does at each \
                 pacman_begin, pacman_end and pacman_publish"
            ),
        )
    })
}

/// # Safety
/// `age_ns` is null or points to a writable word.
unsafe fn store_age(peer: &Peer, latest: &PeerSample, age_ns: *mut u64) {
    if !age_ns.is_null() {
        let age = peer.duration(latest.age()).as_nanos();
        // SAFETY: not null, and the caller's promise.
        unsafe { age_ns.write(u64::try_from(age).unwrap_or(u64::MAX)) };
    }
}
