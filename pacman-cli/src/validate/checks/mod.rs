//! Counter validation: the accuracy of this machine's counters.
//!
//! The procedure for an unfamiliar counter is McCalpin's (2013). Identify the processor in detail.
//! Find the hardware event of a name, and look up its known errors. Run a code whose counts are
//! known with paper and pencil, and compare. Decide which counters are close enough. A
//! [`Validator`] does that on this machine. It counts the [kernels](kernel) with a
//! [`Session`](pacman_core::Session), as any program does, and gives each event a [`Verdict`].

mod around;
mod catalogue;
mod count;
pub(crate) mod kernel;
mod native;
mod verdict;

pub(crate) use catalogue::{Check, KernelId};
pub(crate) use native::Native;
pub(crate) use verdict::{Counted, Sample, Verdict};

use pacman_events::{CpuId, CpuModel};

use pacman_core::Result;
use pacman_core::event::machine;
use pacman_topology::Place;
use pacman_topology::Topology;
use pacman_topology::{Binding, current_cpu};

use kernel::Ground;

/// Validates events on the calling thread, which it keeps on one CPU while it lives.
///
/// A sibling that runs meanwhile shares caches, TLBs and branch predictors with the
/// kernels: counts of those are best judged with the sibling idle.
#[derive(Debug)]
pub(crate) struct Validator {
    ground: Ground,
    _binding: Binding,
}

/// The outcome of one [`Check`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub(crate) struct Outcome {
    /// The event's name.
    pub(crate) name: String,
    /// The unit of one count, where the event is known here.
    pub(crate) unit: Option<&'static str>,
    /// The kernel that made it happen.
    pub(crate) kernel: KernelId,
    /// The hardware's form of the name; `None` for the kernel's own events, and where this
    /// processor has no such event.
    pub(crate) native: Option<Native>,
    /// The repeats and the verdict, or why it is not countable here.
    pub(crate) result: Result<Counted>,
}

impl Validator {
    /// Binds the calling thread to the CPU it runs on.
    ///
    /// # Errors
    /// As for [`Topology::detect`] and [`Binding::bind`].
    pub(crate) fn new() -> Result<Validator> {
        let topology = Topology::detect()?;
        let here = current_cpu().filter(|cpu| topology.allowed().contains(*cpu));
        let cpu = here.or_else(|| topology.allowed().first()).unwrap_or(0);
        let place = topology.place(cpu)?;
        let binding = Binding::bind(&topology, &place)?;
        Ok(Validator { ground: Ground { topology, place }, _binding: binding })
    }

    /// The place where the kernels run.
    pub(crate) fn place(&self) -> &Place {
        &self.ground.place
    }

    /// The processor's model as Linux names it.
    pub(crate) fn machine_name(&self) -> &str {
        self.ground.topology.machine_name()
    }

    /// The table that names are looked up in.
    pub(crate) fn model(&self) -> CpuModel {
        machine::model()
    }

    /// Vendor, family, model and stepping; `None` on machines without CPUID.
    pub(crate) fn cpu_id(&self) -> Option<CpuId> {
        machine::cpu_id()
    }

    /// Counts an event on its kernel `repeats` times and judges it; It calls `progress` with the
    /// number of finished repeats.
    ///
    /// The error of the event or the kernel is the outcome's error, in the words of the part that
    /// refused.
    ///
    /// # Panics
    /// If `repeats` is 0.
    pub(crate) fn validate(
        &self,
        check: &Check,
        repeats: usize,
        progress: &mut dyn FnMut(usize),
    ) -> Outcome {
        assert!(repeats > 0, "a verdict needs a repeat");
        let event = check.event.as_ref();
        let counted = event
            .map_err(Clone::clone)
            .and_then(|event| count::count(event, check.kernel, &self.ground, repeats, progress));
        Outcome {
            name: check.name.clone(),
            unit: event.ok().map(|event| event.unit()),
            kernel: check.kernel,
            native: event.ok().and_then(Native::of),
            result: counted,
        }
    }
}
