//! Binding the command's threads, one after the other, to the places of a placement.
//!
//! The first thread of a process is bound when a second one starts. Many programs start a thread
//! for each CPU that they may use, and a bound thread may use only one.

use std::io;

use pacman_core::{Topology, platform};
use pacman_topology::placement::{Place, Placement};

use crate::error::{CliError, CliResult};

/// The places, and how many threads each has now.
#[derive(Clone, Debug)]
pub(super) struct ThreadPlaces {
    places: Vec<(Place, usize)>,
    shared: bool,
}

impl ThreadPlaces {
    /// No places: threads run where the kernel lets them.
    pub(super) fn none() -> ThreadPlaces {
        ThreadPlaces { places: Vec::new(), shared: false }
    }

    pub(super) fn of(
        placement: &Placement,
        topology: &Topology,
    ) -> pacman_core::Result<ThreadPlaces> {
        let places = placement.places(topology, placement.capacity(topology)?)?;
        Ok(ThreadPlaces {
            places: places.into_iter().map(|place| (place, 0)).collect(),
            shared: false,
        })
    }

    /// Binds a stopped thread to the first of the places with the fewest threads. The first thread
    /// of a process is bound to all places until [`bind`](ThreadPlaces::bind).
    ///
    /// # Errors
    /// The kernel's error, with the CPU; the thread then runs where it could before.
    pub(super) fn take(&mut self, tid: i32, is_first: bool) -> CliResult<Option<Taken>> {
        let Some(chosen) = (0..self.places.len()).min_by_key(|&index| self.places[index].1) else {
            return Ok(None);
        };
        let place = self.places[chosen].0;
        let waits = is_first && self.are_several();
        if waits {
            self.loosen(tid)?;
        } else {
            self.bind(tid, &place)?;
        }
        let threads = &mut self.places[chosen].1;
        self.shared |= *threads > 0;
        *threads += 1;
        Ok(Some(Taken { place, waits }))
    }

    /// Binds a thread to the place that it has.
    ///
    /// # Errors
    /// The kernel's error, with the CPU; the thread then runs where it could before.
    pub(super) fn bind(&self, tid: i32, place: &Place) -> CliResult<()> {
        platform::current().move_thread(tid, place.cpu()).map_err(CliError::refused)
    }

    /// Lets a thread run on all places, and not elsewhere.
    ///
    /// # Errors
    /// The kernel's error; the thread then runs where it could before.
    pub(super) fn loosen(&self, tid: i32) -> CliResult<()> {
        let cpus: Vec<u32> = self.places.iter().map(|(place, _)| place.cpu()).collect();
        bind(tid, &cpus).map_err(|error| {
            CliError::Refused(format!(
                "not confined to CPUs {cpus:?}: sched_setaffinity says {error}"
            ))
        })
    }

    /// A thread has left its place.
    pub(super) fn leave(&mut self, place: &Place) {
        if let Some((_, threads)) = self.places.iter_mut().find(|(seat, _)| seat == place) {
            *threads -= 1;
        }
    }

    /// There is something to choose from.
    pub(super) fn are_several(&self) -> bool {
        self.places.len() > 1 && !is_simulated()
    }

    /// More threads than places were there at one time.
    pub(super) fn were_shared(&self) -> bool {
        self.shared
    }
}

/// A thread's place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) place: Place,
    /// Whether the thread is not bound there yet.
    pub(super) waits: bool,
}

fn is_simulated() -> bool {
    platform::current().simulation().is_some()
}

fn bind(tid: i32, cpus: &[u32]) -> io::Result<()> {
    const BITS: usize = libc::c_ulong::BITS as usize;
    let most = cpus.iter().copied().max().unwrap_or(0) as usize;
    let mut mask: Vec<libc::c_ulong> = vec![0; most / BITS + 1];
    for &cpu in cpus {
        mask[cpu as usize / BITS] |= 1 << (cpu as usize % BITS);
    }
    // SAFETY: the pointer is valid for reads of the bytes passed as the size; the kernel
    // copies them and keeps no pointer.
    let answer =
        unsafe { libc::sched_setaffinity(tid, size_of_val(mask.as_slice()), mask.as_ptr().cast()) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
