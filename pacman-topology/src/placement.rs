//! The rule that gives each thread of a team a hardware context.
//!
//! | policy | threads 0, 1, 2, 3 on 2 packages of 2 cores of 2 contexts |
//! |---|---|
//! | [`Compact`](Placement::Compact) | both contexts of package 0's core 0, then both of its core 1 |
//! | [`Scatter`](Placement::Scatter) | package 0, package 1, package 0, package 1, each on a core of its own |
//! | [`OnePerCore`](Placement::OnePerCore) | the first context of each core, package by package |
//! | [`SiblingsTogether`](Placement::SiblingsTogether) | both contexts of a core in package 0, both of one in package 1 |
//!
//! Every policy gives only contexts that the process may use, each at most once, and the same ones
//! each time. A smaller team gets the first contexts of the same sequence. On hybrid machines every
//! policy but the list uses all performance cores first, then efficiency cores, then low-power
//! cores.

mod place;
mod sequence;

use std::fmt;
use std::str::FromStr;

use pacman_events::shown::excerpt;

pub use self::place::Place;
use crate::cpu_bits::{LAST_CPU, Range};
use crate::{Context, CpuSet, Topology};
use pacman_events::{Error, ErrorKind, Result};

/// A rule that gives each thread of a team a hardware context.
///
/// ```
/// use pacman_topology::{Placement, Topology};
/// let machine = Topology::synthetic("2 packages, 2 cores, 2 threads")?;
/// let cpus = |text: &str| -> pacman_topology::Result<Vec<u32>> {
///     let places = text.parse::<Placement>()?.places(&machine, 4)?;
///     Ok(places.iter().map(|place| place.cpu()).collect())
/// };
/// assert_eq!(cpus("compact")?, [0, 1, 2, 3]);
/// assert_eq!(cpus("scatter")?, [0, 4, 2, 6]);
/// assert_eq!(cpus("one-per-core")?, [0, 2, 4, 6]);
/// assert_eq!(cpus("siblings-together")?, [0, 1, 4, 5]);
/// assert_eq!(cpus("7,0-2")?, [7, 0, 1, 2]);
/// # Ok::<(), pacman_topology::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Placement {
    /// Fills every context of a core, then the next core, package by package.
    Compact,
    /// Spreads threads as far apart as possible: over packages, then NUMA nodes and dies, then
    /// cores. Second siblings are used when every core has a thread, third ones after that.
    Scatter,
    /// Gives each thread a core of its own, package by package, and leaves the siblings idle.
    OnePerCore,
    /// Fills whole cores only, with consecutive threads on the contexts of a core. The cores are
    /// spread over packages, NUMA nodes and dies as by [`Scatter`](Self::Scatter).
    ///
    /// A core counts if it has at least two online contexts and the process may use all of them.
    /// The number of threads must fill the last core.
    SiblingsTogether,
    /// The contexts with these CPU numbers, in this order. More threads than list entries are an
    /// error.
    List(Vec<u32>),
}

impl Placement {
    /// The places of a team of `threads`, in thread order.
    ///
    /// # Errors
    /// - [`ErrorKind::Empty`] for no threads or an empty list
    /// - [`ErrorKind::NoSuchPlace`] for more threads than the policy has places, for any number if it
    ///   has none, or for a CPU in the list that the machine lacks
    /// - [`ErrorKind::PlaceNotAllowed`] if the affinity mask or cpuset excludes needed contexts, or a
    ///   CPU in the list is offline
    /// - [`ErrorKind::InvalidInput`] if the list names a CPU twice, or the number of threads leaves
    ///   a core half full under [`SiblingsTogether`](Self::SiblingsTogether)
    pub fn places(&self, topology: &Topology, threads: usize) -> Result<Vec<Place>> {
        let sequence = self.sequence(topology, &|context| context.allowed)?;
        if threads == 0 {
            // The caller asked for the capacity, which is 0. So the error must not complain about 0
            // threads.
            if sequence.is_empty() {
                return Err(self.nowhere(topology));
            }
            return Err(Error::new(
                ErrorKind::Empty,
                format!(
                    "cannot place 0 threads {self}: a team has at least one; ask for 1 or more"
                ),
            ));
        }
        if threads > sequence.len() {
            return Err(self.too_many(topology, threads, sequence.len()));
        }
        if *self == Placement::SiblingsTogether {
            self.whole_cores(topology, &sequence, threads)?;
        }
        Ok(sequence[..threads].iter().map(|context| Place::of(context)).collect())
    }

    /// The number of threads that the policy can place. It is 0 under
    /// [`SiblingsTogether`](Self::SiblingsTogether) if no core has siblings; then
    /// [`places`](Self::places) of 0 threads has an error with the reason.
    ///
    /// # Errors
    /// As [`places`](Self::places), for a list that does not fit the machine.
    pub fn capacity(&self, topology: &Topology) -> Result<usize> {
        Ok(self.sequence(topology, &|context| context.allowed)?.len())
    }

    #[cold]
    fn too_many(&self, topology: &Topology, threads: usize, places: usize) -> Error {
        let what = match self {
            Placement::OnePerCore => "cores",
            Placement::SiblingsTogether => "contexts on cores with siblings",
            Placement::List(_) => "listed cpus",
            _ => "contexts",
        };
        let everywhere = self.sequence(topology, &|_| true).map_or(places, |all| all.len());
        let do_what = match places {
            0 => "choose another placement".to_owned(),
            _ => format!("use at most {places} threads"),
        };
        if everywhere == places {
            return Error::new(
                ErrorKind::NoSuchPlace,
                format!(
                    "cannot place {threads} threads {self}: {places} {what} are there; {do_what}"
                ),
            );
        }
        let who: Vec<String> = topology.restrictions().iter().map(ToString::to_string).collect();
        Error::new(
            ErrorKind::PlaceNotAllowed,
            format!(
                "cannot place {threads} threads {self}: {places} of {everywhere} {what} are allowed ({}); {do_what}",
                who.join(", ")
            ),
        )
    }

    /// The reason why the policy has no place.
    #[cold]
    fn nowhere(&self, topology: &Topology) -> Error {
        let together = *self == Placement::SiblingsTogether;
        if together && self.sequence(topology, &|_| true).is_ok_and(|all| all.is_empty()) {
            let why = format!(
                "cannot place threads {self}: no core that this process may use has two contexts; use compact"
            );
            return Error::new(ErrorKind::NoSuchPlace, why);
        }
        let (what, instead) = match together {
            true => ("core with all of its two or more contexts", "use compact"),
            false => ("context", "give the container or job cpus"),
        };
        let who: Vec<String> = topology.restrictions().iter().map(ToString::to_string).collect();
        Error::new(
            ErrorKind::PlaceNotAllowed,
            format!(
                "cannot place threads {self}: this process may use no {what} ({}); {instead}",
                who.join(", ")
            ),
        )
    }

    /// Refuses a number of threads that leaves the last core partly empty.
    fn whole_cores(
        &self,
        topology: &Topology,
        sequence: &[&Context],
        threads: usize,
    ) -> Result<()> {
        let ends: Vec<usize> = (1..=sequence.len())
            .filter(|&end| sequence.get(end).is_none_or(|next| next.core != sequence[end - 1].core))
            .collect();
        if ends.contains(&threads) {
            return Ok(());
        }
        let below = ends.iter().rev().find(|&&end| end < threads);
        let above = ends.iter().find(|&&end| end > threads);
        let near: Vec<String> = below.into_iter().chain(above).map(ToString::to_string).collect();
        let core = &topology.cores()[sequence[threads - 1].core as usize];
        Err(Error::new(
            ErrorKind::InvalidInput,
            format!(
                "cannot place {threads} threads {self}: the last core, {} with cpus {}, would not be full; use {} threads",
                core.core,
                core.cpus.iter().copied().collect::<CpuSet>(),
                near.join(" or ")
            ),
        ))
    }
}

impl FromStr for Placement {
    type Err = Error;

    /// Reads a policy's name, or a list of CPUs such as `0,2,4-7` in the order of the text.
    fn from_str(text: &str) -> Result<Placement> {
        let text = text.trim();
        for (name, placement) in NAMES {
            if text == name {
                return Ok(placement);
            }
        }
        if text.is_empty() {
            return Err(empty_list());
        }
        let mut cpus = Vec::new();
        for item in text.split(',').map(str::trim) {
            let range = Range::read(item).ok_or_else(|| {
                Error::new(
                    ErrorKind::InvalidInput,
                    format!(
                        "cannot read placement {}: {} is neither a policy nor a cpu; use compact, scatter, \
                         one-per-core, siblings-together or a list like 0,2,4-7",
                        excerpt(text),
                        excerpt(item)
                    ),
                )
            })?;
            let left = LAST_CPU as usize + 1 - cpus.len();
            cpus.extend(range.cpus().take(left + 1));
            if cpus.len() > LAST_CPU as usize + 1 {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    format!(
                        "cannot read placement {}: it lists more than {} cpus, which no machine has; \
                         list each cpu once",
                        excerpt(text),
                        LAST_CPU + 1
                    ),
                ));
            }
        }
        Ok(Placement::List(cpus))
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, placement) in NAMES {
            if *self == placement {
                return f.write_str(name);
            }
        }
        let Placement::List(cpus) = self else { return Ok(()) };
        let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
        f.write_str(&cpus.join(","))
    }
}

#[cold]
fn empty_list() -> Error {
    Error::new(
        ErrorKind::Empty,
        "cannot place threads on an empty list of cpus: list one cpu for each thread, like 0,2,4-7",
    )
}

const NAMES: [(&str, Placement); 4] = [
    ("compact", Placement::Compact),
    ("scatter", Placement::Scatter),
    ("one-per-core", Placement::OnePerCore),
    ("siblings-together", Placement::SiblingsTogether),
];
