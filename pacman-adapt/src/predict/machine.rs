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
