//! The machine's facts as JSON.

#[cfg(test)]
mod tests;

use pacman_core::Topology;
use pacman_core::topology::{self, Restrictor};
use serde::Serialize;

use super::details::{CacheDocument, ClockDocument, Details};

/// The contexts of a machine.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Document<'a> {
    /// Name of the machine.
    machine: &'a str,
    /// Source of the facts.
    source: String,
    /// It is the machine that runs this.
    this_system: bool,
    /// It has cores of several types.
    hybrid: bool,
    /// Number of contexts.
    contexts: usize,
    /// Most contexts of a core.
    contexts_per_core: usize,
    /// Packages.
    packages: Vec<Package>,
    /// Contexts that this process may use.
    allowed: Vec<u32>,
    /// Contexts that are offline.
    offline: Vec<u32>,
    /// Restrictions of this process.
    restrictions: Vec<Restriction<'a>>,
    /// Limit of CPU time.
    quota: Option<Quota<'a>>,
    /// Threads that can run at once: the allowed contexts, or the quota rounded up if that is less.
    effective_contexts: usize,
    /// Caches; null if they are unknown.
    caches: Option<Vec<CacheDocument>>,
    /// Clock rates; null if they are unknown.
    clocks: Option<Vec<ClockDocument>>,
    /// Rate of the time-stamp counter of this system; null if it is not known.
    #[cfg_attr(test, schemars(range(min = 0)))]
    tsc_hz: Option<f64>,
    /// Facts that the system does not tell or tells in two ways, and what is assumed.
    caveats: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Package {
    /// Number of the package.
    package: u32,
    /// Its cores.
    cores: Vec<Core>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Core {
    /// Number of the core in its package.
    core: u32,
    /// Die.
    die: u32,
    /// NUMA node.
    node: u32,
    /// Type of the core.
    #[cfg_attr(test, schemars(extend("enum" = ["uniform", "performance", "efficiency", "low-power"])))]
    r#type: String,
    /// Its contexts.
    contexts: Vec<Context>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Context {
    /// The kernel's number.
    cpu: u32,
    /// Number on its core.
    sibling: u32,
    /// NUMA node.
    node: u32,
    /// This process may use it.
    allowed: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Restriction<'a> {
    /// Source of the restriction.
    by: String,
    /// File of a cpuset.
    file: Option<&'a str>,
    /// Contexts that it takes away, by the kernel's numbers.
    cpus: Vec<u32>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Quota<'a> {
    /// CPUs worth of time.
    cpus: f64,
    /// Seconds of CPU time in a period.
    #[cfg_attr(test, schemars(range(min = 0)))]
    time_s: f64,
    /// Seconds of a period.
    #[cfg_attr(test, schemars(range(min = 0)))]
    period_s: f64,
    /// File of the limit.
    file: &'a str,
}

/// Everything the picture shows, by package, core and context.
pub(super) fn facts<'a>(machine: &'a Topology, details: &Details) -> Document<'a> {
    let packages = machine.packages().iter().map(|package| Package {
        package: package.package,
        cores: machine.cores()[package.cores.clone()]
            .iter()
            .map(|core| core_facts(machine, core))
            .collect(),
    });
    let restrictions = machine.restrictions().iter().map(|restriction| Restriction {
        by: restriction.by.to_string(),
        file: match &restriction.by {
            Restrictor::Cpuset(file) => Some(file),
            _ => None,
        },
        cpus: restriction.cpus.iter().collect(),
    });
    let quota = machine.quota().map(|quota| Quota {
        cpus: quota.cpus(),
        time_s: quota.micros as f64 / 1e6,
        period_s: quota.period_micros as f64 / 1e6,
        file: &quota.file,
    });
    Document {
        machine: machine.machine_name(),
        source: machine.source().to_string(),
        this_system: machine.is_this_system(),
        hybrid: machine.is_hybrid(),
        contexts: machine.contexts().len(),
        contexts_per_core: machine.contexts_per_core(),
        packages: packages.collect(),
        allowed: machine.allowed().iter().collect(),
        offline: machine.offline().iter().collect(),
        restrictions: restrictions.collect(),
        quota,
        effective_contexts: machine.effective_contexts(),
        caches: details.caches(),
        clocks: details.clocks(),
        tsc_hz: details.tsc_hz(),
        caveats: machine.caveats().iter().cloned().chain(details.caveat()).collect(),
    }
}

fn core_facts(machine: &Topology, core: &topology::Core) -> Core {
    let contexts = core.cpus.iter().filter_map(|&cpu| machine.context(cpu));
    Core {
        core: core.core,
        die: core.die,
        node: core.node,
        r#type: core.core_type.to_string(),
        contexts: contexts
            .map(|context| Context {
                cpu: context.cpu,
                sibling: context.sibling,
                node: context.node,
                allowed: context.allowed,
            })
            .collect(),
    }
}
