//! Views of other threads, which the reading thread keeps.
//!
//! The first read of a thread takes the session's lock. Later ones only read the slot.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pacman_core::cancel;
use pacman_core::session::Peer;

use crate::error::{Failure, Result, Status};
use crate::input::EventNumbers;
use crate::registry::{self, Life};

/// The threads of one session that this thread has looked at.
struct Views {
    handle: usize,
    life: Arc<Life>,
    events: EventNumbers,
    peers: Vec<Option<Peer>>,
}

thread_local! {
    static VIEWS: RefCell<Vec<Views>> = const { RefCell::new(Vec::new()) };
}

/// Runs `act` with the view of a thread and the numbers of its events.
pub(crate) fn with(
    handle: usize,
    thread: usize,
    act: impl Fn(&Peer, EventNumbers) -> Result<Status>,
) -> Result<Status> {
    let seen = VIEWS.try_with(|views| {
        let views = views.borrow();
        let view = views.iter().find(|view| view.handle == handle && !view.life.is_closed())?;
        let peer = view.peers.get(thread)?.as_ref()?;
        Some(act(peer, view.events))
    });
    match seen {
        Ok(Some(done)) => done,
        _ => cancel::put_off_during(|| first_look(handle, thread, act)),
    }
}

#[cold]
fn first_look(
    handle: usize,
    thread: usize,
    act: impl Fn(&Peer, EventNumbers) -> Result<Status>,
) -> Result<Status> {
    let entry = registry::find(handle, "read a thread")?;
    let Some(peer) = entry.session.peer(thread) else {
        return Err(Failure::new(
            Status::NoThread,
            format!(
                "cannot read thread {thread} of session {:?}: {}; pacman_thread_count says how \
                 many have attached",
                entry.session.name(),
                match thread < entry.life.threads.load(Ordering::Relaxed) {
                    true => "it has ended, and the session keeps no sample of it",
                    false => "no thread of that number has attached",
                }
            ),
        ));
    };
    let events = EventNumbers::of(&entry.session);
    let done = act(&peer, events);
    // A thread that is ending cannot keep views.
    let _ = VIEWS.try_with(|views| {
        let mut views = views.borrow_mut();
        views.retain(|view| !view.life.is_closed());
        let position = views.iter().position(|view| view.handle == handle).unwrap_or_else(|| {
            let life = Arc::clone(&entry.life);
            views.push(Views { handle, life, events, peers: Vec::new() });
            views.len() - 1
        });
        let peers = &mut views[position].peers;
        if peers.len() <= thread {
            peers.resize(thread + 1, None);
        }
        peers[thread] = Some(peer);
    });
    done
}
