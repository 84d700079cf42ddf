//! The configurations of a machine, and the places of their threads.

use crate::error::{Error, ErrorKind, Result};
use crate::predict::Configuration;
use pacman_topology::Topology;
use pacman_topology::{Place, Placement};

/// The configurations of a machine, and the one that runs without adaptation.
///
/// Cores times contexts of each: every number of contexts, and the core counts that divide the
/// machine evenly with the three-quarter steps between them (all counts up to eight cores; and
/// one eighth less than all, because a first step must be cheap).
///
/// ```
/// use pacman_adapt::Candidates;
/// use pacman_topology::Topology;
/// let machine = Topology::synthetic("4 cores, 2 threads")?;
/// let candidates = Candidates::of(&machine, None)?;
/// let names: Vec<String> = candidates.all().iter().map(ToString::to_string).collect();
/// assert_eq!(names, ["1x1", "2x1", "1x2", "3x1", "4x1", "2x2", "3x2", "4x2"]);
/// assert_eq!(candidates.default().to_string(), "4x2");
/// # Ok::<(), pacman_adapt::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// In order, without duplicates.
    all: Vec<Configuration>,
    default: usize,
    /// Hardware contexts that may be used.
    contexts: u32,
}

impl Candidates {
    /// The candidates on the contexts that the process may use, with at most `max_threads` threads.
    ///
    /// The default has the largest number of threads that may run. If that is not a full rectangle
    /// of cores and contexts (hybrid machines, odd limits), the default is a number of threads.
    ///
    /// # Errors
    /// [`ErrorKind::NothingToChoose`] if no context may be used, [`ErrorKind::InvalidInput`] for a limit of 0.
    pub fn of(topology: &Topology, max_threads: Option<usize>) -> Result<Candidates> {
        if max_threads == Some(0) {
            let why = "cannot adapt within 0 threads: a phase runs on one at least";
            return Err(Error::new(ErrorKind::InvalidInput, why));
        }
        let most = allowed(topology).min(max_threads.unwrap_or(usize::MAX)) as u32;
        if most == 0 {
            let why = "cannot adapt: the process may use no context of this machine";
            return Err(Error::new(ErrorKind::NothingToChoose, why));
        }
        let mut all = Vec::new();
        for per_core in 1..=topology.contexts_per_core() as u32 {
            for cores in steps(cores_with(topology, per_core)) {
                all.push(Configuration::on_cores(cores, per_core)?);
            }
        }
        all.retain(|on| on.threads() <= most);
        if !all.iter().any(|on| on.threads() == most) {
            all.push(Configuration::new(most)?);
        }
        all.sort_unstable();
        let widest = |on: &&Configuration| on.threads() == most;
        // Among configurations with the same number of threads, take the one that fills its cores,
        // like a program with a thread per context.
        let default = all.iter().filter(widest).max_by_key(|on| on.per_core()).copied();
        let default = default.unwrap_or(all[all.len() - 1]);
        let contexts = allowed(topology) as u32;
        Ok(Candidates { contexts, ..Candidates::new(all, default)? })
    }

    /// The candidates of a team with `threads` threads without adaptation, or `max_threads` if that
    /// is less. This may be more than there are hardware contexts.
    ///
    /// The threads of such a team share contexts in turn. So a team of one thread per context is
    /// expected to lose nothing against it; it is a candidate, with all smaller ones.
    ///
    /// ```
    /// use pacman_adapt::Candidates;
    /// use pacman_topology::Topology;
    /// let machine = Topology::synthetic("2 cores")?;
    /// let candidates = Candidates::for_team(&machine, 8, None)?;
    /// let names: Vec<String> = candidates.all().iter().map(ToString::to_string).collect();
    /// assert_eq!(names, ["1x1", "2x1", "8"]);
    /// assert_eq!(candidates.default().threads(), 8);
    /// # Ok::<(), pacman_adapt::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`of`](Candidates::of), and [`ErrorKind::InvalidInput`] for more threads than a
    /// [`Configuration`] may have.
    pub fn for_team(
        topology: &Topology,
        threads: usize,
        max_threads: Option<usize>,
    ) -> Result<Candidates> {
        let threads = threads.min(max_threads.unwrap_or(threads));
        let within = Candidates::of(topology, Some(threads))?;
        if threads <= within.contexts as usize {
            return Ok(within);
        }
        let team = Configuration::new(u32::try_from(threads).unwrap_or(u32::MAX))?;
        let contexts = within.contexts;
        let mut all = within.all;
        all.push(team);
        Ok(Candidates { contexts, ..Candidates::new(all, team)? })
    }

    /// The same numbers of threads without duplicates, and without cores and contexts.
    ///
    /// Use it if other code places the threads, so that configurations with the same number of
    /// threads do not differ.
    ///
    /// ```
    /// use pacman_adapt::Candidates;
    /// use pacman_topology::Topology;
    /// let machine = Topology::synthetic("2 cores, 2 threads")?;
    /// let candidates = Candidates::of(&machine, None)?.by_threads()?;
    /// let names: Vec<String> = candidates.all().iter().map(ToString::to_string).collect();
    /// assert_eq!(names, ["1", "2", "4"], "two siblings and two cores are the same number");
    /// # Ok::<(), pacman_adapt::Error>(())
    /// ```
    ///
    /// # Errors
    /// None: these candidates were checked when they were made.
    pub fn by_threads(self) -> Result<Candidates> {
        let plain = |on: &Configuration| Configuration::new(on.threads());
        let all: Result<Vec<Configuration>> = self.all.iter().map(plain).collect();
        let default = plain(&self.default())?;
        Ok(Candidates { contexts: self.contexts, ..Candidates::new(all?, default)? })
    }

    /// Candidates from a list. It assumes that each thread of the default has its own context.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if the list lacks `default`, or has a configuration with more
    /// threads: the loss is limited for steps down only.
    pub fn new(mut all: Vec<Configuration>, default: Configuration) -> Result<Candidates> {
        all.sort_unstable();
        all.dedup();
        let Some(index) = all.iter().position(|&on| on == default) else {
            let why = format!("the default {default} is not among the configurations");
            return Err(Error::new(ErrorKind::InvalidInput, why));
        };
        if let Some(wider) = all.iter().find(|on| on.threads() > default.threads()) {
            let why = format!(
                "cannot adapt from {default}: {wider} has more threads; the default must be the widest"
            );
            return Err(Error::new(ErrorKind::InvalidInput, why));
        }
        let contexts = default.threads();
        Ok(Candidates { all, default: index, contexts })
    }

    /// All, in order of threads.
    pub fn all(&self) -> &[Configuration] {
        &self.all
    }

    /// The configuration without adaptation: the most threads.
    pub fn default(&self) -> Configuration {
        self.all[self.default]
    }

    pub(super) fn contexts(&self) -> u32 {
        self.contexts
    }

    pub(super) fn default_index(&self) -> usize {
        self.default
    }

    pub(super) fn index(&self, on: Configuration) -> Option<usize> {
        self.all.iter().position(|&other| other == on)
    }
}

/// The places of the threads of `on`: one after the other on each core, with the cores in `order`'s
/// order.
///
/// A configuration without a number of contexts takes the first places of `order`.
///
/// # Errors
/// As [`Placement::places`]: the machine lacks the places, or the process may not use them.
pub fn places(topology: &Topology, on: Configuration, order: &Placement) -> Result<Vec<Place>> {
    let (Some(cores), Some(per_core)) = (on.cores(), on.per_core()) else {
        return Ok(order.places(topology, on.threads() as usize)?);
    };
    let sequence = order.places(topology, order.capacity(topology)?)?;
    let mut chosen: Vec<u32> = Vec::new();
    let mut all = Vec::with_capacity(on.threads() as usize);
    for place in &sequence {
        if chosen.len() == cores as usize || chosen.contains(&place.core()) {
            continue;
        }
        let mates = topology.cores()[place.core() as usize].cpus.iter();
        let usable: Vec<Place> = mates.filter_map(|&cpu| topology.place(cpu).ok()).collect();
        if usable.len() >= per_core as usize {
            chosen.push(place.core());
            all.extend_from_slice(&usable[..per_core as usize]);
        }
    }
    if chosen.len() < cores as usize {
        let why = format!(
            "cannot place {on} {order}: {} cores there have {per_core} or more contexts that the process may use; \
             choose another placement or fewer threads",
            chosen.len()
        );
        return Err(Error::new(ErrorKind::NoSuchPlace, why));
    }
    Ok(all)
}

fn allowed(topology: &Topology) -> usize {
    topology.contexts().iter().filter(|context| context.allowed).count()
}

/// The number of cores with at least `contexts` allowed contexts.
fn cores_with(topology: &Topology, contexts: u32) -> u32 {
    let usable = |cpu: &&u32| topology.context(**cpu).is_some_and(|context| context.allowed);
    let enough = |cpus: &[u32]| cpus.iter().filter(usable).count() >= contexts as usize;
    topology.cores().iter().filter(|core| enough(&core.cpus)).count() as u32
}

/// The core counts that become candidates, up to `cores`.
fn steps(cores: u32) -> Vec<u32> {
    if cores <= 8 {
        return (1..=cores).collect();
    }
    let quarters = (1..=cores).filter(|step| {
        let divides = cores % step == 0;
        let between = (step * 4) % 3 == 0 && cores % (step * 4 / 3) == 0;
        divides || between || *step == cores - cores / 8
    });
    quarters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_counts_divide_the_machine_or_lie_three_quarters_between() {
        assert_eq!(steps(16), [1, 2, 3, 4, 6, 8, 12, 14, 16]);
        assert_eq!(steps(24), [1, 2, 3, 4, 6, 8, 9, 12, 18, 21, 24]);
        assert_eq!(steps(3), [1, 2, 3]);
    }

    #[test]
    fn limits_and_odd_machines_have_a_default_of_their_own() {
        let hybrid = Topology::synthetic("2 p-cores, 2 threads, 4 e-cores").unwrap();
        assert_eq!(Candidates::of(&hybrid, None).unwrap().default().to_string(), "8");
        let plain = Topology::synthetic("4 cores, 2 threads").unwrap();
        let limited = Candidates::of(&plain, Some(5)).unwrap();
        assert_eq!(limited.default().to_string(), "5");
        assert!(limited.all().iter().all(|on| on.threads() <= 5));
        assert_eq!(Candidates::of(&plain, Some(4)).unwrap().default().to_string(), "2x2");
        assert_eq!(Candidates::of(&plain, Some(0)).unwrap_err().kind(), ErrorKind::InvalidInput);
    }

    #[test]
    fn places_fill_cores_in_the_order_of_the_placement() {
        let machine = Topology::synthetic("2 packages, 2 cores, 2 threads").unwrap();
        let cpus = |on: &str, order| -> Vec<u32> {
            let places = places(&machine, on.parse().unwrap(), &order).unwrap();
            places.iter().map(Place::cpu).collect()
        };
        assert_eq!(cpus("2x2", Placement::Compact), [0, 1, 2, 3]);
        assert_eq!(cpus("2x2", Placement::Scatter), [0, 1, 4, 5]);
        assert_eq!(cpus("4x1", Placement::Compact), [0, 2, 4, 6]);
        assert_eq!(cpus("3", Placement::Compact), [0, 1, 2]);
        let five = places(&machine, "5x1".parse().unwrap(), &Placement::Compact).unwrap_err();
        assert_eq!(five.kind(), ErrorKind::NoSuchPlace);
    }
}
