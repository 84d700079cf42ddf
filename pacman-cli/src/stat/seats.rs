//! Binding the command's threads, one after the other, to the places of a placement.

use std::io;

use pacman_core::placement::{Place, Placement};
use pacman_core::{Topology, sim};

/// The places, and how many threads each has now.
#[derive(Debug)]
pub(super) struct Seats {
    places: Vec<(Place, usize)>,
    shared: bool,
}

impl Seats {
    /// No places: threads run where the kernel lets them.
    pub(super) fn none() -> Seats {
        Seats { places: Vec::new(), shared: false }
    }

    pub(super) fn of(placement: &Placement, topology: &Topology) -> pacman_core::Result<Seats> {
        let places = placement.places(topology, placement.capacity(topology)?)?;
        Ok(Seats { places: places.into_iter().map(|place| (place, 0)).collect(), shared: false })
    }

    /// Binds a stopped thread to the first of the places with the fewest threads.
    ///
    /// # Errors
    /// What the kernel says, with the CPU; the thread then runs where it could before.
    pub(super) fn take(&mut self, tid: i32) -> Result<Option<Place>, String> {
        let Some((place, threads)) = self.places.iter_mut().min_by_key(|(_, threads)| *threads)
        else {
            return Ok(None);
        };
        match sim::current() {
            Ok(Some(machine)) => {
                machine.run_thread(tid, place).map_err(|error| error.to_string())?;
            }
            _ => bind(tid, place.cpu()).map_err(|error| {
                format!("not bound to CPU {}: sched_setaffinity says {error}", place.cpu())
            })?,
        }
        self.shared |= *threads > 0;
        *threads += 1;
        Ok(Some(*place))
    }

    /// A thread has left its place.
    pub(super) fn leave(&mut self, place: &Place) {
        if let Some((_, threads)) = self.places.iter_mut().find(|(seat, _)| seat == place) {
            *threads -= 1;
        }
    }

    /// More threads than places were there at one time.
    pub(super) fn were_shared(&self) -> bool {
        self.shared
    }
}

fn bind(tid: i32, cpu: u32) -> io::Result<()> {
    const BITS: usize = libc::c_ulong::BITS as usize;
    let mut mask: Vec<libc::c_ulong> = vec![0; cpu as usize / BITS + 1];
    mask[cpu as usize / BITS] = 1 << (cpu as usize % BITS);
    // SAFETY: the pointer is valid for reads of the bytes passed as the size; the kernel
    // copies them and keeps no pointer.
    let answer =
        unsafe { libc::sched_setaffinity(tid, size_of_val(mask.as_slice()), mask.as_ptr().cast()) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
