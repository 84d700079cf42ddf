//! Which hardware contexts the machine has, and which of them share a core.

use crate::error::{Error, ErrorKind, Result};

/// What a core is built for, on hybrid processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CoreType {
    /// All cores of the machine are alike.
    Uniform,
    /// The faster kind (Intel P-core).
    Performance,
    /// The smaller kind (Intel E-core).
    Efficiency,
    /// A third, still smaller kind (Intel low-power E-core).
    LowPower,
}

/// One hardware context: a logical CPU with its place in package and core.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// The number Linux gives this logical CPU.
    pub cpu: u32,
    /// The package (socket), as the machine numbers it.
    pub package: u32,
    /// The core, counted over the whole machine from 0 without holes.
    pub core: u32,
    /// The position among the core's contexts, from 0, in order of `cpu`.
    pub sibling: u32,
    /// The NUMA node.
    pub node: u32,
    /// The core's kind on hybrid processors.
    pub core_type: CoreType,
    /// Whether the calling process may run here (affinity, cpuset, cgroup).
    pub allowed: bool,
}

/// The hardware contexts of one machine, real or made up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    contexts: Vec<Context>,
}

impl Topology {
    /// A made-up machine.
    pub fn synthetic(text: &str) -> Result<Topology> {
        Err(Error::new(ErrorKind::InvalidInput, format!("cannot read topology {text:?}")))
    }

    /// Every online context, in order of `cpu`.
    pub fn contexts(&self) -> &[Context] {
        &self.contexts
    }
}
