//! The name of a machine in training data and models.

use pacman_events::plural::number;
use pacman_topology::Topology;

/// The name of a machine: the processor's name and its numbers of online cores and contexts.
///
/// Two computers of the same kind have the same name, and so share their models.
///
/// ```
/// use pacman_adapt::predict::machine_name;
/// use pacman_topology::Topology;
/// let name = machine_name(&Topology::synthetic("4 cores, 2 threads")?);
/// assert!(name.ends_with(", 4 cores, 8 contexts"), "{name}");
/// # Ok::<(), pacman_adapt::Error>(())
/// ```
pub fn machine_name(topology: &Topology) -> String {
    let (cores, contexts) = (topology.cores().len(), topology.contexts().len());
    // The firmware pads it, and a name is to be typed and compared.
    let name: Vec<&str> = topology.machine_name().split_whitespace().collect();
    format!("{}, {}, {}", name.join(" "), number(cores, "core"), number(contexts, "context"))
}

/// The name of the part of a machine that this process may use: [`machine_name`], with the contexts and cores allowed.
///
/// With fewer contexts it is another machine to a program. Which ones they are differs from job to job, and matters
/// little.
///
/// ```
/// use pacman_adapt::predict::machine_share;
/// use pacman_topology::Topology;
/// let name = machine_share(&Topology::synthetic("4 cores, 2 threads")?);
/// assert!(name.ends_with("8 contexts; 8 contexts of 4 cores allowed"), "{name}");
/// # Ok::<(), pacman_adapt::Error>(())
/// ```
pub fn machine_share(topology: &Topology) -> String {
    let allowed = topology.allowed();
    let is_allowed = |cpus: &[u32]| cpus.iter().any(|&cpu| allowed.contains(cpu));
    let cores = topology.cores().iter().filter(|core| is_allowed(&core.cpus)).count();
    let name = machine_name(topology);
    format!("{name}; {} contexts of {cores} cores allowed", allowed.len())
}
