//! One hardware context to run on, and the reasons why some cannot be used.

use std::fmt;

use crate::{Context, CoreType, CpuSet, Topology};
use pacman_events::{Error, ErrorKind, Result};

/// A hardware context that exists and is online.
///
/// [`Placement::places`](crate::Placement::places) and [`Topology::place`] return only places
/// that this process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    cpu: u32,
    package: u32,
    core: u32,
    sibling: u32,
    node: u32,
    core_type: CoreType,
}

impl Place {
    /// Linux's number of this logical CPU.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// The package (socket), as the machine numbers it.
    pub fn package(&self) -> u32 {
        self.package
    }

    /// The core's number in the whole machine, from 0.
    pub fn core(&self) -> u32 {
        self.core
    }

    /// The context's position on its core, from 0.
    pub fn sibling(&self) -> u32 {
        self.sibling
    }

    /// The NUMA node.
    pub fn node(&self) -> u32 {
        self.node
    }

    /// The core's type on hybrid processors.
    pub fn core_type(&self) -> CoreType {
        self.core_type
    }

    /// The place of a context, whether or not this process may run there.
    pub fn of(context: &Context) -> Place {
        Place {
            cpu: context.cpu,
            package: context.package,
            core: context.core,
            sibling: context.sibling,
            node: context.node,
            core_type: context.core_type,
        }
    }
}

/// Writes `cpu 5 (package 0, core 2, sibling 1)`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cpu {} (package {}, core {}, sibling {})",
            self.cpu, self.package, self.core, self.sibling
        )
    }
}

impl Topology {
    /// The place of the context with CPU number `cpu`.
    ///
    /// # Errors
    /// [`ErrorKind::NoSuchPlace`] if the machine has no such context;
    /// [`ErrorKind::PlaceNotAllowed`] if it is offline, or the process may not run there.
    pub fn place(&self, cpu: u32) -> Result<Place> {
        self.usable(cpu).map(Place::of)
    }

    /// The context with CPU number `cpu`, if the process may run there.
    pub(super) fn usable(&self, cpu: u32) -> Result<&Context> {
        match self.context(cpu) {
            Some(context) if context.allowed => Ok(context),
            Some(_) => Err(self.not_allowed(cpu)),
            None if self.offline().contains(cpu) => Err(Error::new(
                ErrorKind::PlaceNotAllowed,
                format!(
                    "cannot place a thread on cpu {cpu}: it is present but offline; as root, write 1 to \
                     /sys/devices/system/cpu/cpu{cpu}/online"
                ),
            )),
            None => {
                let all: CpuSet = self.contexts().iter().map(|context| context.cpu).collect();
                Err(Error::new(
                    ErrorKind::NoSuchPlace,
                    format!(
                        "cannot place a thread on cpu {cpu}: {} has no such hardware context; choose from {all}",
                        self.machine_name()
                    ),
                ))
            }
        }
    }

    #[cold]
    fn not_allowed(&self, cpu: u32) -> Error {
        let message =
            match self.restrictions().iter().find(|restriction| !restriction.cpus.contains(cpu)) {
                Some(restriction) => format!(
                    "cannot place a thread on cpu {cpu}: {restriction}; run there, or {}",
                    restriction.by.remedy()
                ),
                None => format!(
                    "cannot place a thread on cpu {cpu}: the process may use cpus {}",
                    self.allowed()
                ),
            };
        Error::new(ErrorKind::PlaceNotAllowed, message)
    }
}
