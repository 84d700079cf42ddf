//! Keeping a thread on one hardware context for as long as a [`Binding`] lives.

use std::io;
use std::marker::PhantomData;

use crate::affinity;
pub use crate::affinity::current_cpu;
use crate::error::{Error, ErrorKind, Result};
use crate::placement::Place;
use crate::sim::Stay;
use crate::topology::{CpuSet, Topology};

/// The calling thread's stay on one hardware context; dropping it gives the thread its old mask back.
///
/// The old mask comes back only if the thread's mask is still the one set here: whoever changed it
/// since (the program, `taskset -p`, a later binding) wins. Bindings of one thread therefore end in
/// the reverse order of their making. A binding cannot leave its thread:
///
/// ```compile_fail,E0277
/// fn elsewhere(binding: pacman_core::Binding) {
///     std::thread::spawn(move || drop(binding));
/// }
/// ```
#[derive(Debug)]
#[must_use = "the thread is released when the binding is dropped"]
pub struct Binding {
    place: Place,
    keeper: Keeper,
    thread: PhantomData<*const ()>,
}

/// Who keeps the thread in its place.
#[derive(Debug)]
enum Keeper {
    /// The kernel, by the thread's mask: the one set here, and the one before.
    Mask { ours: CpuSet, before: CpuSet },
    /// A simulated machine.
    Simulated(Stay),
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
    /// use pacman_core::{Binding, Placement, Topology};
    /// let here = Topology::detect()?;
    /// let places = Placement::Compact.places(&here, 1)?;
    /// let binding = Binding::bind(&here, &places[0])?;
    /// assert_eq!(binding.place().cpu(), places[0].cpu());
    /// # Ok::<(), pacman_core::Error>(())
    /// ```
    pub fn bind(topology: &Topology, place: &Place) -> Result<Binding> {
        if !topology.is_this_system() {
            return Err(Error::new(
                ErrorKind::ForeignTopology,
                format!(
                    "cannot bind to cpu {}: the topology is {}, not this system's; use Topology::detect",
                    place.cpu(),
                    topology.source()
                ),
            ));
        }
        if topology.context(place.cpu()).map(Place::of) != Some(*place) {
            return Err(Error::new(
                ErrorKind::NoSuchPlace,
                format!(
                    "cannot bind to {place}: the place belongs to another topology; ask this one for its places"
                ),
            ));
        }
        if let Some(machine) = topology.machine() {
            let keeper = Keeper::Simulated(machine.stay(place)?);
            return Ok(Binding { place: *place, keeper, thread: PhantomData });
        }
        let before = affinity::current_mask()?;
        let ours: CpuSet = [place.cpu()].into_iter().collect();
        affinity::set(&ours).map_err(|error| refused(place, &error))?;
        affinity::remember(&before);
        let keeper = Keeper::Mask { ours, before };
        Ok(Binding { place: *place, keeper, thread: PhantomData })
    }

    /// Where the thread is bound.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Makes sure that the thread is still bound: a shrinking cpuset and other programs can move it.
    ///
    /// # Errors
    /// [`ErrorKind::PlaceNotAllowed`] if the thread's mask is no longer the one set here.
    pub fn check(&self) -> Result<()> {
        let now = match &self.keeper {
            Keeper::Simulated(stay) if stay.holds() => return Ok(()),
            Keeper::Simulated(stay) => [stay.cpu()].into_iter().collect(),
            Keeper::Mask { ours, .. } => {
                let now = affinity::current_mask()?;
                if now == *ours {
                    return Ok(());
                }
                now
            }
        };
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

impl Drop for Binding {
    fn drop(&mut self) {
        let Keeper::Mask { ours, before } = &self.keeper else { return };
        affinity::forget();
        if affinity::current().is_ok_and(|now| now == *ours) {
            // A failure means that the cpuset has left the old mask no CPU; the kernel then keeps
            // the thread where the cpuset lets it run, and there is nothing to restore.
            let _ = affinity::set(before);
        }
    }
}

/// Gives a thread all that `topology` allows if its mask is a single CPU other than `place`: it
/// has inherited that of the thread that started it, which was bound.
pub(crate) fn widen(topology: &Topology, place: &Place) -> Result<()> {
    let mask = if topology.machine().is_some() || affinity::bound() {
        None
    } else {
        Some(affinity::current_mask()?)
    };
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

#[cold]
fn refused(place: &Place, error: &io::Error) -> Error {
    let errno = error.raw_os_error().unwrap_or(0);
    let cpu = place.cpu();
    match errno {
        libc::EINVAL => Error::from_errno(
            ErrorKind::PlaceNotAllowed,
            errno,
            format!(
                "cannot bind to cpu {cpu}: sched_setaffinity says {error}; the cpu went offline or left the \
                 process's cpuset after the topology was read; detect it again"
            ),
        ),
        libc::EPERM | libc::EACCES | libc::ENOSYS => Error::from_errno(
            ErrorKind::Permission,
            errno,
            format!(
                "cannot bind to cpu {cpu}: sched_setaffinity says {error}; a seccomp filter or security module \
                 forbids it, so run without binding or allow the call"
            ),
        ),
        _ => Error::from_errno(
            ErrorKind::System,
            errno,
            format!(
                "cannot bind to cpu {cpu}: sched_setaffinity says {error}; run without binding"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_tell_causes_apart() {
        let place = Topology::synthetic("4 cores").unwrap().place(3).unwrap();
        for (errno, kind, message) in [
            (
                libc::EINVAL,
                ErrorKind::PlaceNotAllowed,
                "cannot bind to cpu 3: sched_setaffinity says Invalid argument (os error 22); the cpu went \
                 offline or left the process's cpuset after the topology was read; detect it again",
            ),
            (
                libc::EPERM,
                ErrorKind::Permission,
                "cannot bind to cpu 3: sched_setaffinity says Operation not permitted (os error 1); a seccomp \
                 filter or security module forbids it, so run without binding or allow the call",
            ),
            (
                libc::ESRCH,
                ErrorKind::System,
                "cannot bind to cpu 3: sched_setaffinity says No such process (os error 3); run without binding",
            ),
        ] {
            let error = refused(&place, &io::Error::from_raw_os_error(errno));
            assert_eq!((error.kind(), error.errno()), (kind, Some(errno)));
            assert_eq!(error.to_string(), message);
        }
    }
}
