//! Where a topology comes from.

use std::path::Path;

use crate::cancel;
use crate::error::Result;
use crate::processors::{self, Layout, ProcessorsRef};
use crate::snapshot::{Source, Topology};
use crate::{hwloc, synthetic, sysfs};

impl Topology {
    /// The [current](processors::current) machine, through `/sys`, with the contexts that the calling thread may use marked as allowed.
    ///
    /// The thread may use the contexts of its affinity mask; while it holds a
    /// [`Binding`](crate::Binding), those of the mask that the binding will restore. Threads
    /// inherit the mask of their creator, so detect once, before binding anything, and share the
    /// result.
    ///
    /// # Errors
    /// [`ErrorKind::System`](crate::ErrorKind::System) if neither `/sys` nor the affinity mask
    /// tells which CPUs there are.
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

    /// The contexts of `machine`, through which threads can be bound there.
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

    /// The machine whose `/sys` (and, for limits and the model's name, `/proc`) lies under `root`.
    ///
    /// `root` is the directory that holds `sys`, or `sys` itself. The result never counts as this
    /// system, whatever tree is read.
    ///
    /// # Errors
    /// [`ErrorKind::System`](crate::ErrorKind::System) if the tree names no CPU;
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if a file in it is malformed.
    pub fn from_sysfs(root: &Path) -> Result<Topology> {
        sysfs::from_tree(root)
    }

    /// The topology by hwloc, which is this system unless `HWLOC_XMLFILE` or `HWLOC_SYNTHETIC` say
    /// otherwise.
    ///
    /// Packages, cores, contexts and NUMA nodes are hwloc's. Dies, core types and limits have no
    /// place in hwloc's oldest interface and are read as [`detect`](Self::detect) reads them.
    /// To link, the feature needs hwloc's development files and those of libudev, which hwloc's
    /// pkg-config file asks for.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if this library was built without
    /// its feature `hwloc`; [`ErrorKind::System`](crate::ErrorKind::System) if hwloc fails.
    pub fn from_hwloc() -> Result<Topology> {
        hwloc::read()
    }

    /// A made-up machine, such as `2 packages, 4 cores, 2 threads` or `package:2 core:4 pu:2`.
    ///
    /// Levels go from the outside inwards and each number is per parent: `packages`, `nodes`,
    /// `dies`, `cores`, `threads`; a level left out counts 1, but some kind of core must be there.
    /// A hybrid machine lists `p-cores`, `e-cores` and `lp-cores` side by side, each with its own
    /// `threads`. Singular and plural are the same, `pu` is hwloc's word for a thread, commas are
    /// free. CPUs are numbered core by core.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) for anything else.
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
