//! The topology itself: contexts, cores and packages as they were at one moment.

use std::fmt;
use std::path::PathBuf;

use pacman_events::shown::shown_path;

use crate::core_type::CoreType;
use crate::cpu_set::CpuSet;
use crate::processors::{self, ProcessorsRef};
use crate::restriction::{Quota, Restriction};

/// The hardware contexts of one machine, real or synthetic.
///
/// ```
/// use pacman_topology::Topology;
/// let machine = Topology::synthetic("2 packages, 4 cores, 2 threads")?;
/// assert_eq!(machine.contexts().len(), 16);
/// assert_eq!(machine.cores().len(), 8);
/// assert_eq!(machine.siblings_of(5), [4, 5]);
/// assert!(!machine.is_this_system());
/// # Ok::<(), pacman_topology::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    pub(crate) contexts: Vec<Context>,
    pub(crate) cores: Vec<Core>,
    pub(crate) packages: Vec<Package>,
    pub(crate) offline: CpuSet,
    pub(crate) restrictions: Vec<Restriction>,
    pub(crate) quota: Option<Quota>,
    pub(crate) caveats: Vec<String>,
    pub(crate) machine_name: String,
    pub(crate) source: Source,
    pub(crate) this_system: bool,
}

/// One hardware context: a logical CPU with its place in package and core.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// Linux's number of this logical CPU.
    pub cpu: u32,
    /// The package (socket), as the machine numbers it.
    pub package: u32,
    /// The die within the package, as the machine numbers it; 0 if the kernel names none.
    pub die: u32,
    /// The core's number in the whole machine, from 0 without gaps.
    pub core: u32,
    /// The context's position on its core, from 0, in order of `cpu`.
    pub sibling: u32,
    /// The NUMA node.
    pub node: u32,
    /// The core's type on hybrid processors.
    pub core_type: CoreType,
    /// Whether the calling process may run here (affinity, cpuset, cgroup).
    pub allowed: bool,
}

/// One physical core with its online contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Core {
    /// The core's number in the whole machine, from 0 without gaps.
    pub core: u32,
    /// The core's package, as the machine numbers it.
    pub package: u32,
    /// The core's die, as the machine numbers it.
    pub die: u32,
    /// The NUMA node of the core's first context.
    pub node: u32,
    /// The core's type on hybrid processors.
    pub core_type: CoreType,
    /// The core's online contexts, in order of `cpu`; a context's index is its `sibling`.
    pub cpus: Vec<u32>,
}

/// One package (socket) with its cores.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Package {
    /// The machine's number of the package.
    pub package: u32,
    /// The package's cores, which are consecutive, as indices into [`Topology::cores`].
    pub cores: std::ops::Range<usize>,
}

/// The source of a topology.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The hwloc library.
    Hwloc,
    /// A line of text.
    Synthetic(String),
    /// A `/sys` tree; the path of the directory that holds `sys`.
    Sysfs(PathBuf),
    /// A simulated machine.
    Simulated(ProcessorsRef),
}

impl Topology {
    /// Whether the topology describes this system, so that threads can be bound through it.
    pub fn is_this_system(&self) -> bool {
        self.this_system
    }

    /// The machine that runs threads on these contexts; `None` if it is not this system.
    pub fn processors(&self) -> Option<&ProcessorsRef> {
        match &self.source {
            Source::Simulated(machine) => Some(machine),
            _ => self.this_system.then(processors::host),
        }
    }

    /// Every online context, in order of `cpu`.
    pub fn contexts(&self) -> &[Context] {
        &self.contexts
    }

    /// The online context with CPU number `cpu`.
    pub fn context(&self, cpu: u32) -> Option<&Context> {
        let index = self.contexts.binary_search_by_key(&cpu, |context| context.cpu).ok()?;
        Some(&self.contexts[index])
    }

    /// Every core with an online context, by package, die and lowest CPU; its index is its number.
    pub fn cores(&self) -> &[Core] {
        &self.cores
    }

    /// Every package with an online context, in order of number.
    pub fn packages(&self) -> &[Package] {
        &self.packages
    }

    /// The online contexts of the core of `cpu`, `cpu` included; empty if `cpu` is not online.
    pub fn siblings_of(&self, cpu: u32) -> &[u32] {
        match self.context(cpu) {
            Some(context) => &self.cores[context.core as usize].cpus,
            None => &[],
        }
    }

    /// The largest number of online contexts on one core: 1 if SMT is off or absent.
    pub fn contexts_per_core(&self) -> usize {
        self.cores.iter().map(|core| core.cpus.len()).max().unwrap_or(0)
    }

    /// Whether the machine has more than one core type.
    pub fn is_hybrid(&self) -> bool {
        self.cores.iter().any(|core| core.core_type != self.cores[0].core_type)
    }

    /// The CPUs that the calling process may run on.
    pub fn allowed(&self) -> CpuSet {
        self.contexts.iter().filter(|context| context.allowed).map(|context| context.cpu).collect()
    }

    /// The same machine with `cpus` allowed as well; ignores CPUs that the machine does not have.
    ///
    /// Use it if the calling thread is bound, but other threads of the process may run elsewhere.
    ///
    /// ```
    /// use pacman_topology::Topology;
    /// use pacman_topology::CpuSet;
    /// let machine = Topology::synthetic("2 cores, 2 threads")?;
    /// let same = machine.allowing(&CpuSet::from_iter([1, 9]));
    /// assert_eq!(same.allowed().to_string(), "0-3", "all were allowed, and there is no CPU 9");
    /// # Ok::<(), pacman_topology::Error>(())
    /// ```
    pub fn allowing(mut self, cpus: &CpuSet) -> Topology {
        for context in &mut self.contexts {
            context.allowed |= cpus.contains(context.cpu);
        }
        self
    }

    /// The CPUs that are present but offline.
    pub fn offline(&self) -> &CpuSet {
        &self.offline
    }

    /// The limits on the CPUs that the process may use, by source: affinity mask and cpuset.
    pub fn restrictions(&self) -> &[Restriction] {
        &self.restrictions
    }

    /// The cgroup's limit on CPU time, if one is set: it slows threads but excludes no context.
    pub fn quota(&self) -> Option<&Quota> {
        self.quota.as_ref()
    }

    /// The number of threads that can run at once: that of the allowed CPUs, or of the [quota](Self::quota),
    /// rounded up, if that is less.
    ///
    /// More threads use up the quota early in each period, and then all of them stand still.
    pub fn effective_contexts(&self) -> usize {
        let allowed = self.contexts.iter().filter(|context| context.allowed).count();
        self.quota.as_ref().map_or(allowed, |quota| allowed.min(quota.threads()))
    }

    /// The facts that the system does not report, with the assumptions made instead, a line each.
    pub fn caveats(&self) -> &[String] {
        &self.caveats
    }

    /// The processor's name as the machine gives it, or `unknown processor`.
    pub fn machine_name(&self) -> &str {
        &self.machine_name
    }

    /// The source of the topology.
    pub fn source(&self) -> &Source {
        &self.source
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Hwloc => f.write_str("hwloc"),
            Source::Simulated(machine) => {
                write!(
                    f,
                    "simulated {}",
                    machine.simulation().map_or("machine", |label| label.name)
                )
            }
            Source::Synthetic(text) => write!(f, "synthetic {text:?}"),
            Source::Sysfs(root) => write!(f, "{}", shown_path(&root.join("sys"))),
        }
    }
}
