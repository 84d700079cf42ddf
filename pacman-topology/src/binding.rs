//! Keeps a thread on one hardware context while a [`Binding`] lives.

use std::marker::PhantomData;

use crate::affinity;
use crate::placement::Place;
use crate::processors::ThreadBinding;
use crate::snapshot::Topology;
use pacman_events::{Error, ErrorKind, Result};

/// The calling thread's binding to one hardware context; dropping it restores the old mask.
///
/// It restores the old mask only if the thread still has the mask of this binding. A later change
/// by the program, `taskset -p` or another binding stays. So drop the bindings of a thread in the
/// reverse order of their creation. A binding cannot leave its thread:
///
/// ```compile_fail,E0277
/// fn elsewhere(binding: pacman_topology::Binding) {
///     std::thread::spawn(move || drop(binding));
/// }
/// ```
#[derive(Debug)]
#[must_use = "the thread is released when the binding is dropped"]
pub struct Binding {
    place: Place,
    stay: Box<dyn ThreadBinding>,
    one_thread: PhantomData<*const ()>,
}

impl Binding {
    /// Moves the calling thread to `place` and keeps it there.
    ///
    /// # Errors
    /// - [`ErrorKind::ForeignTopology`] if `topology` does not describe this system
    /// - [`ErrorKind::NoSuchPlace`] if `place` is not one of `topology`'s
    /// - [`ErrorKind::PlaceNotAllowed`] if the context went offline or out of the cpuset since
    /// - [`ErrorKind::Permission`] if the kernel forbids the call
    ///
    /// ```
    /// use pacman_topology::{Binding, Placement, Topology};
    /// let here = Topology::detect()?;
    /// let places = Placement::Compact.places(&here, 1)?;
    /// let binding = Binding::bind(&here, &places[0])?;
    /// assert_eq!(binding.place().cpu(), places[0].cpu());
    /// # Ok::<(), pacman_topology::Error>(())
    /// ```
    pub fn bind(topology: &Topology, place: &Place) -> Result<Binding> {
        let Some(processors) = topology.processors() else {
            return Err(Error::new(
                ErrorKind::ForeignTopology,
                format!(
                    "cannot bind to cpu {}: the topology is {}, not this system's; use Topology::detect",
                    place.cpu(),
                    topology.source()
                ),
            ));
        };
        if topology.context(place.cpu()).map(Place::of) != Some(*place) {
            return Err(Error::new(
                ErrorKind::NoSuchPlace,
                format!(
                    "cannot bind to {place}: the place belongs to another topology; ask this one for its places"
                ),
            ));
        }
        let stay = processors.bind(place.cpu())?;
        Ok(Binding { place: *place, stay, one_thread: PhantomData })
    }

    /// Gives the calling thread all CPUs that `topology` allows, if its mask is a single CPU other
    /// than `place`. Such a mask is inherited from the bound thread that started it.
    ///
    /// # Errors
    /// [`ErrorKind::System`] if the kernel refuses to read or set the mask.
    #[doc(hidden)]
    pub fn widen(topology: &Topology, place: &Place) -> Result<()> {
        widen(topology, place)
    }

    /// The place that the thread is bound to.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Checks that the thread is still bound: a shrinking cpuset or another program can move it.
    ///
    /// # Errors
    /// [`ErrorKind::PlaceNotAllowed`] if the thread no longer has the mask of this binding.
    pub fn check(&self) -> Result<()> {
        let Some(now) = self.stay.lost()? else { return Ok(()) };
        Err(Error::new(
            ErrorKind::PlaceNotAllowed,
            format!(
                "cannot keep the thread on cpu {}: its mask is now {now}; the cpuset was changed, the cpu \
                 went offline, or someone else set the mask; detect the topology and bind again",
                self.place.cpu()
            ),
        ))
    }
}

fn widen(topology: &Topology, place: &Place) -> Result<()> {
    let is_simulated = topology.processors().is_none_or(|machine| machine.simulation().is_some());
    let mask =
        if is_simulated || affinity::bound() { None } else { Some(affinity::current_mask()?) };
    if mask.is_none_or(|mask| mask.len() > 1 || mask.contains(place.cpu())) {
        return Ok(());
    }
    affinity::set(&topology.allowed()).map_err(|error| {
        Error::from_errno(
            ErrorKind::System,
            error.raw_os_error().unwrap_or(0),
            format!("cannot set the thread's affinity mask: sched_setaffinity says {error}"),
        )
    })
}
