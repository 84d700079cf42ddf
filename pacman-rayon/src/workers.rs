//! One rayon pool whose workers stay on the contexts of a configuration.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use pacman_core::{Binding, Place, Result, Session, Topology};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool and the failures of its workers.
pub(crate) struct Workers {
    pub(crate) pool: ThreadPool,
    trouble: Arc<Mutex<Vec<String>>>,
}

thread_local! {
    /// The worker's binding to its context, until the thread ends.
    static BOUND: RefCell<Option<Binding>> = const { RefCell::new(None) };
}

impl Workers {
    /// Starts a worker for each place. A worker that cannot be bound runs where the kernel puts it. A
    /// worker that cannot be bound or attached is not counted.
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
                // The reverse order of `settle`. If the session was closed meanwhile, nothing is left to
                // detach.
                if let Some(session) = &leaving {
                    let _ = session.detach_current_thread();
                }
                bind(None);
            })
            .build()?;
        // Start handlers run in the workers, so their failures are complete after this broadcast.
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

/// Replaces the worker's binding. A worker without thread-locals is ending, and has dropped its binding.
fn bind(stay: Option<Binding>) {
    let _ = BOUND.try_with(|bound| *bound.borrow_mut() = stay);
}
