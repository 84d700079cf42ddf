//! The machine on which a process ran.

use pacman_topology::Topology;
use serde::{Deserialize, Serialize};

/// Facts of a machine. A report on another machine has them from here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The name of the processor.
    pub processor: String,
    /// The operating system, its release and its architecture, such as `Linux 6.1.0 x86_64`.
    pub system: String,
    /// The title of a simulated machine; `None` on a real one.
    pub simulated: Option<String>,
    /// The processor time per second that a cgroup leaves, in contexts; `None` without a limit.
    pub quota: Option<f64>,
    /// The hardware contexts.
    pub contexts: Vec<MachineContext>,
}

/// A hardware context of a [`Machine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineContext {
    /// Linux's number of the logical CPU.
    pub cpu: u32,
    /// The package.
    pub package: u32,
    /// The core, counted over the machine.
    pub core: u32,
    /// The context's position among its core's siblings.
    pub sibling: u32,
}

impl Machine {
    /// The machine with this topology and operating system.
    pub fn of(topology: &Topology, system: String, simulated: Option<String>) -> Machine {
        let context = |context: &pacman_topology::Context| MachineContext {
            cpu: context.cpu,
            package: context.package,
            core: context.core,
            sibling: context.sibling,
        };
        Machine {
            processor: topology.machine_name().to_owned(),
            system,
            simulated,
            quota: topology.quota().map(pacman_topology::Quota::cpus),
            contexts: topology.contexts().iter().map(context).collect(),
        }
    }
}
