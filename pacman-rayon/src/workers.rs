//! One rayon pool whose workers stay on the contexts of a configuration.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use pacman_core::{Binding, Place, Result, Session, Topology};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool and what its workers could not do.
pub(crate) struct Workers {
    pub(crate) pool: ThreadPool,
    trouble: Arc<Mutex<Vec<String>>>,
}

thread_local! {
    /// The worker's stay on its context, for as long as the thread lives.
    static BOUND: RefCell<Option<Binding>> = const { RefCell::new(None) };
}

impl Workers {
    /// A worker for each place. One that cannot be bound or attached works all the same, where
    /// the kernel puts it and uncounted.
    pub(crate) fn start(
        topology: &Topology,
        places: &[Place],
        session: Option<&Session>,
    ) -> std::result::Result<Workers, rayon::ThreadPoolBuildError> {
        let trouble = Arc::new(Mutex::new(Vec::new()));
        let (theirs, topology, session) =
            (Arc::clone(&trouble), topology.clone(), session.cloned());
        let bound: Vec<Place> = places.to_vec();
        let leaving = session.clone();
        let pool = ThreadPoolBuilder::new()
            .num_threads(places.len())
            .thread_name(|number| format!("adaptive-{number}"))
            .start_handler(move |number| {
                if let Err(error) = settle(&topology, &bound[number], session.as_ref()) {
                    theirs.lock().expect("nobody panics with it").push(error.to_string());
                }
            })
            .exit_handler(move |_| {
                // In the reverse order of settling; a session closed meanwhile has nothing to detach.
                if let Some(session) = &leaving {
                    let _ = session.detach_here();
                }
                bind(None);
            })
            .build()?;
        // Handlers run in the workers: what they have to say is there once each has run something.
        pool.broadcast(|_| ());
        Ok(Workers { pool, trouble })
    }

    /// The failures of workers, one line each.
    pub(crate) fn trouble(&self) -> Vec<String> {
        self.trouble.lock().expect("nobody panics with it").clone()
    }
}

fn settle(topology: &Topology, place: &Place, session: Option<&Session>) -> Result<()> {
    let binding = Binding::bind(topology, place)?;
    bind(Some(binding));
    session.map_or(Ok(()), |session| session.attach_current_thread())
}

/// Gives the worker another stay, or none. One whose thread-locals are gone has left it already.
fn bind(stay: Option<Binding>) {
    let _ = BOUND.try_with(|bound| *bound.borrow_mut() = stay);
}
