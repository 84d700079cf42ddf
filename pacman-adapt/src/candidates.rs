//! The configurations of a machine, and the one that runs without adaptation.

use std::sync::Arc;

use once_cell::race::OnceBox;

use crate::places::Nodes;
use crate::predict::Configuration;
use crate::table::CandidateTable;
use pacman_events::{Error, ErrorKind, Result};
use pacman_topology::Topology;

/// The configurations of a machine, and the one that runs without adaptation.
///
/// Cores times contexts of each: every number of contexts, and the core counts that divide the
/// machine evenly with the three-quarter steps between them (all counts up to eight cores; and
/// one eighth less than all, because a first step must be cheap).
///
/// On a machine with several NUMA nodes (or packages), a number of cores may divide evenly among them. It is then
/// a candidate on as few nodes as hold it, and on as many as share it. Few nodes keep threads close
/// to each other; many have more memory bandwidth.
///
/// ```
/// use pacman_adapt::Candidates;
/// use pacman_topology::Topology;
/// let machine = Topology::synthetic("4 cores, 2 threads")?;
/// let candidates = Candidates::of(&machine, None)?;
/// let names: Vec<String> = candidates.all().iter().map(ToString::to_string).collect();
/// assert_eq!(names, ["1x1", "2x1", "1x2", "3x1", "4x1", "2x2", "3x2", "4x2"]);
/// assert_eq!(candidates.default().to_string(), "4x2");
///
/// let machine = Topology::synthetic("2 packages, 2 cores")?;
/// let candidates = Candidates::of(&machine, None)?;
/// let names: Vec<String> = candidates.all().iter().map(ToString::to_string).collect();
/// assert_eq!(names, ["1x1", "2x1/1", "2x1/2", "3x1", "4x1"]);
/// # Ok::<(), pacman_adapt::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Candidates {
    /// All phases of a program may share it.
    set: Arc<Set>,
}

#[derive(Debug)]
struct Set {
    /// In order, without duplicates.
    all: Vec<Configuration>,
    default: usize,
    /// Hardware contexts that may be used.
    contexts: u32,
    table: OnceBox<Arc<CandidateTable>>,
}

impl Candidates {
    /// The candidates on the contexts that the process may use, with at most `max_threads` threads.
    ///
    /// Without that limit there are at most as many threads as can run at once: a control group's quota of CPU time
    /// counts, too ([`Topology::effective_contexts`]).
    ///
    /// The default has the largest number of threads that may run. If that is not a full rectangle
    /// of cores and contexts (hybrid machines, odd limits), the default is a number of threads.
    ///
    /// # Errors
    /// [`ErrorKind::Empty`] if no context may be used, [`ErrorKind::InvalidInput`] for a limit of 0.
    pub fn of(topology: &Topology, max_threads: Option<usize>) -> Result<Candidates> {
        if max_threads == Some(0) {
            let why = "cannot adapt within 0 threads: a phase runs on one at least";
            return Err(Error::new(ErrorKind::InvalidInput, why));
        }
        let most = max_threads.unwrap_or_else(|| topology.effective_contexts());
        let most = allowed(topology).min(most) as u32;
        if most == 0 {
            let why = "cannot adapt: the process may use no context of this machine";
            return Err(Error::new(ErrorKind::Empty, why));
        }
        let mut all = Vec::new();
        for per_core in 1..=topology.contexts_per_core() as u32 {
            let nodes = Nodes::of(topology, per_core);
            for cores in steps(nodes.cores()) {
                let on = Configuration::on_cores(cores, per_core)?;
                all.extend(on_nodes(on, &nodes, most)?);
            }
        }
        all.retain(|on| on.threads() <= most);
        if !all.iter().any(|on| on.threads() == most && on.nodes().is_none()) {
            all.push(Configuration::new(most)?);
        }
        all.sort_unstable();
        // The system places the default's threads, on any nodes.
        let widest = |on: &&Configuration| on.threads() == most && on.nodes().is_none();
        // Among configurations with the same number of threads, take the one that fills its cores,
        // like a program with a thread per context.
        let default = all.iter().filter(widest).max_by_key(|on| on.per_core()).copied();
        let default = default.unwrap_or(all[all.len() - 1]);
        let contexts = allowed(topology) as u32;
        Candidates::on(contexts, all, default)
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
        let contexts = within.contexts();
        if threads <= contexts as usize {
            return Ok(within);
        }
        let team = Configuration::new(u32::try_from(threads).unwrap_or(u32::MAX))?;
        let all = within.all().iter().copied().chain([team]);
        Candidates::on(contexts, all.collect(), team)
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
        let all: Result<Vec<Configuration>> = self.all().iter().map(plain).collect();
        Candidates::on(self.contexts(), all?, plain(&self.default())?)
    }

    /// Those with as many threads as the default.
    ///
    /// Use it if the number of threads must stay, and only their places may differ.
    ///
    /// ```
    /// use pacman_adapt::Candidates;
    /// use pacman_topology::Topology;
    /// let machine = Topology::synthetic("4 cores, 2 threads")?;
    /// let candidates = Candidates::for_team(&machine, 4, None)?.of_default_size();
    /// let names: Vec<String> = candidates.all().iter().map(ToString::to_string).collect();
    /// assert_eq!(names, ["4x1", "2x2"]);
    /// # Ok::<(), pacman_adapt::Error>(())
    /// ```
    pub fn of_default_size(self) -> Candidates {
        let default = self.default();
        let mut all = self.all().to_vec();
        all.retain(|on| on.threads() == default.threads());
        let at = all.iter().position(|&on| on == default).unwrap_or(0);
        let set = Set { all, default: at, contexts: self.contexts(), table: OnceBox::new() };
        Candidates { set: Arc::new(set) }
    }

    /// The same cores and contexts without duplicates, and without nodes.
    ///
    /// Use it if the caller has an order of cores, which then says on which nodes they are.
    ///
    /// # Errors
    /// None: these candidates were checked when they were made.
    pub fn on_any_nodes(self) -> Result<Candidates> {
        let all = self.all().iter().map(|on| on.wherever()).collect();
        Candidates::on(self.contexts(), all, self.default().wherever())
    }

    /// Candidates from a list. It assumes that each thread of the default has its own context.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if the list lacks `default`, or has a configuration with more
    /// threads: the loss is limited for steps down only.
    pub fn new(all: Vec<Configuration>, default: Configuration) -> Result<Candidates> {
        Candidates::on(default.threads(), all, default)
    }

    /// The same on a machine of `contexts`.
    fn on(
        contexts: u32,
        mut all: Vec<Configuration>,
        default: Configuration,
    ) -> Result<Candidates> {
        all.sort_unstable();
        all.dedup();
        let Some(at) = all.iter().position(|&on| on == default) else {
            let why = format!("the default {default} is not among the configurations");
            return Err(Error::new(ErrorKind::InvalidInput, why));
        };
        if let Some(wider) = all.iter().find(|on| on.threads() > default.threads()) {
            let why = format!(
                "cannot adapt from {default}: {wider} has more threads; the default must be the widest"
            );
            return Err(Error::new(ErrorKind::InvalidInput, why));
        }
        let set = Set { all, default: at, contexts, table: OnceBox::new() };
        Ok(Candidates { set: Arc::new(set) })
    }

    /// All, in order of threads.
    pub fn all(&self) -> &[Configuration] {
        &self.set.all
    }

    /// The configuration without adaptation: the most threads.
    pub fn default(&self) -> Configuration {
        self.set.all[self.set.default]
    }

    fn contexts(&self) -> u32 {
        self.set.contexts
    }

    pub(super) fn default_index(&self) -> usize {
        self.set.default
    }

    pub(super) fn index(&self, on: Configuration) -> Option<usize> {
        self.all().iter().position(|&other| other == on)
    }

    /// The constants of the candidates, which all clones share unless they differ in `max_smt_gain`.
    pub(super) fn table(&self, max_smt_gain: f64) -> Arc<CandidateTable> {
        let Set { all, default, contexts, .. } = &*self.set;
        let new = || Arc::new(CandidateTable::new(all, *default, *contexts, max_smt_gain));
        let shared = self.set.table.get_or_init(|| Box::new(new()));
        if shared.max_smt_gain == max_smt_gain { Arc::clone(shared) } else { new() }
    }
}

impl PartialEq for Candidates {
    fn eq(&self, other: &Candidates) -> bool {
        let key = |of: &Candidates| (of.default(), of.contexts());
        self.all() == other.all() && key(self) == key(other)
    }
}

impl Eq for Candidates {}

fn allowed(topology: &Topology) -> usize {
    topology.contexts().iter().filter(|context| context.allowed).count()
}

/// The candidates with the cores of `on`. With `most` threads, and on one core, it has no choice of nodes.
fn on_nodes(on: Configuration, nodes: &Nodes, most: u32) -> Result<Vec<Configuration>> {
    let cores = on.cores().unwrap_or(1);
    let (least, widest) = match nodes.divisions(cores) {
        Some(divisions) if nodes.count() > 1 && cores > 1 => divisions,
        _ => return Ok(vec![on]),
    };
    // All cores are on all nodes.
    if cores == nodes.cores() {
        return Ok(vec![on]);
    }
    let mut all = vec![on.on_nodes(least)?, on.on_nodes(widest)?];
    // The system places the default's threads, on any nodes.
    all.extend((on.threads() == most).then_some(on));
    Ok(all)
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
    fn without_a_limit_a_quota_of_cpu_time_is_one() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            ("sys/devices/system/cpu/online", "0-7"),
            ("proc/self/cgroup", "0::/box"),
            ("sys/fs/cgroup/box/cpu.max", "250000 100000"),
        ];
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let machine = Topology::from_sysfs(root.path()).unwrap();
        let most = |limit| Candidates::of(&machine, limit).unwrap().default().threads();
        assert_eq!((machine.allowed().len(), most(None), most(Some(6))), (8, 3, 6));
        let team = Candidates::for_team(&machine, 8, None).unwrap();
        assert_eq!(team.default().threads(), 8, "the team is the program's");
    }

    #[test]
    fn clones_share_a_table_unless_the_gain_of_contexts_differs() {
        let plain = Topology::synthetic("4 cores, 2 threads").unwrap();
        let candidates = Candidates::of(&plain, None).unwrap();
        let table = candidates.table(1.0);
        assert!(Arc::ptr_eq(&table, &candidates.clone().table(1.0)));
        assert_eq!((table.row(0).capacity, table.row(7).capacity), (1.0, 8.0), "1x1 and 4x2");
        assert_eq!(candidates.table(0.5).row(7).capacity, 6.0);
    }
}
