//! Creates topologies from their sources.

use std::path::Path;

use crate::cancel;
use crate::processors::{self, Layout, ProcessorsRef};
use crate::snapshot::{Source, Topology};
use crate::{hwloc, synthetic, sysfs};
use pacman_events::Result;

impl Topology {
    /// Reads the topology of the [current](processors::current) machine from `/sys`.
    ///
    /// It marks the contexts of the calling thread's affinity mask as allowed. If the thread holds
    /// a [`Binding`](crate::Binding), it marks those of the mask that the binding will restore.
    /// Threads inherit the mask of their creator. So detect once, before you bind any thread, and
    /// share the result.
    ///
    /// # Errors
    /// [`ErrorKind::System`](crate::ErrorKind::System) if neither `/sys` nor the affinity mask
    /// names the CPUs.
    ///
    /// ```
    /// use pacman_topology::Topology;
    /// let here = Topology::detect()?;
    /// assert!(here.is_this_system());
    /// assert!(here.contexts().iter().any(|context| context.allowed));
    /// # Ok::<(), pacman_topology::Error>(())
    /// ```
    pub fn detect() -> Result<Topology> {
        Topology::of(processors::current())
    }

    /// The topology of `machine`; threads can be bound there through it.
    ///
    /// # Errors
    /// As for [`detect`](Self::detect).
    pub fn of(machine: impl AsRef<ProcessorsRef>) -> Result<Topology> {
        let machine = machine.as_ref();
        let mut topology = match machine.layout() {
            Layout::System => return cancel::put_off_during(sysfs::detect),
            Layout::Synthetic(text) => synthetic::read(text)?,
        };
        let title = machine.simulation().map_or("another machine", |label| label.title);
        topology.machine_name = format!("simulated: {title}");
        topology.source = Source::Simulated(machine.clone());
        topology.this_system = true;
        Ok(topology)
    }

    /// Reads the topology of the machine whose `/sys` lies under `root`.
    ///
    /// `root` is the directory that holds `sys`, or `sys` itself. Limits and the model's name come
    /// from `proc` in the same directory as `sys`. The result never counts as this system, even for `/sys` itself.
    ///
    /// # Errors
    /// [`ErrorKind::System`](crate::ErrorKind::System) if the tree names no CPU;
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if a file in it is malformed.
    pub fn from_sysfs(root: &Path) -> Result<Topology> {
        sysfs::from_tree(root)
    }

    /// Reads the topology through hwloc.
    ///
    /// hwloc describes this system unless `HWLOC_XMLFILE` or `HWLOC_SYNTHETIC` selects another.
    /// Packages, cores, contexts and NUMA nodes come from hwloc. Its oldest interface lacks dies,
    /// core types and limits; they are read as by [`detect`](Self::detect). The feature links
    /// with hwloc and libudev, and needs the development files of both.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if this library was built without
    /// its feature `hwloc`; [`ErrorKind::System`](crate::ErrorKind::System) if hwloc fails.
    pub fn from_hwloc() -> Result<Topology> {
        hwloc::read()
    }

    /// A synthetic machine, such as `2 packages, 4 cores, 2 threads` or `package:2 core:4 pu:2`.
    ///
    /// The levels are `packages`, `nodes`, `dies`, `cores` and `threads`, from the outside inwards.
    /// Each number is per parent. A missing level counts as 1, but cores are required. A hybrid
    /// machine lists `p-cores`, `e-cores` and `lp-cores` side by side, each with its own
    /// `threads`. Singular and plural are the same, commas are optional, and `pu` is hwloc's
    /// word for a thread. CPUs are numbered core by core.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) for any other text.
    ///
    /// ```
    /// use pacman_topology::Topology;
    /// let hybrid = Topology::synthetic("8 p-cores, 2 threads, 8 e-cores")?;
    /// assert_eq!(hybrid.contexts().len(), 24);
    /// assert!(hybrid.is_hybrid());
    /// assert_eq!(hybrid.siblings_of(16), [16]);
    /// # Ok::<(), pacman_topology::Error>(())
    /// ```
    pub fn synthetic(text: &str) -> Result<Topology> {
        synthetic::read(text)
    }
}
