//! Implements the library's `Platform` by the simulated machine.

use std::marker::PhantomData;
use std::sync::Arc;

use pacman_events::{CpuId, CpuModel, SysfsPmu};

use pacman_core::backend::msr::MsrIo;
use pacman_core::backend::perf::{PerfPermissions, PerfSys};
use pacman_core::platform::{CoreTypePmu, Platform, PlatformRef};
use pacman_topology::processors::{Layout, Processors, Simulation, ThreadBinding};
use pacman_topology::{CpuSet, Error, ErrorKind, Result, Topology};

use crate::kernel::Machine;
use crate::task::caller;

impl Machine {
    /// Its contexts. The topology binds threads on this machine only.
    pub fn topology(&self) -> Topology {
        Topology::of(PlatformRef::from(self)).expect("a test reads every spec")
    }
}

impl Processors for Machine {
    fn number(&self) -> u64 {
        self.number()
    }

    fn simulation(&self) -> Option<Simulation> {
        Some(Simulation { name: self.name(), title: self.title() })
    }

    fn layout(&self) -> Layout {
        Layout::Synthetic(self.inner.spec.topology)
    }

    fn online(&self) -> Option<CpuSet> {
        Some(self.online())
    }

    fn current_cpu(&self) -> Option<u32> {
        Some(self.current_cpu())
    }

    fn cpu_of(&self, tid: i32) -> Option<u32> {
        Some(self.state().task(tid).cpu)
    }

    fn bind(&self, cpu: u32) -> Result<Box<dyn ThreadBinding>> {
        let before = self.enter().bind(caller(), cpu).ok_or_else(|| offline(cpu))?;
        Ok(Box::new(Bound { machine: self.clone(), cpu, before, one_thread: PhantomData }))
    }

    fn move_thread(&self, tid: i32, cpu: u32) -> Result<()> {
        self.enter().bind(tid, cpu).map(drop).ok_or_else(|| offline(cpu))
    }
}

impl Platform for Machine {
    fn cpu_id(&self) -> Option<CpuId> {
        self.cpu_id()
    }

    fn cpu_model(&self) -> CpuModel {
        self.cpu()
    }

    fn crystal(&self) -> Option<(u32, u32)> {
        self.inner.spec.crystal()
    }

    fn pmus(&self) -> Vec<SysfsPmu> {
        self.inner.spec.pmus()
    }

    fn core_types(&self) -> Vec<CoreTypePmu> {
        self.inner.spec.core_types()
    }

    fn tsc(&self) -> Option<u64> {
        Some(self.tsc())
    }

    fn tsc_hz(&self) -> Option<f64> {
        Some(self.tsc_hz() as f64)
    }

    /// A process may count all events of its own and of the kernel, also by RDPMC.
    fn permissions(&self) -> PerfPermissions {
        self.permissions()
    }

    fn perf(&self) -> Option<Arc<dyn PerfSys>> {
        Some(Arc::new(self.kernel()))
    }

    fn msr(&self) -> Option<Arc<dyn MsrIo>> {
        Some(Arc::new(self.registers()))
    }
}

impl From<&Machine> for PlatformRef {
    fn from(machine: &Machine) -> PlatformRef {
        PlatformRef::new(machine.clone())
    }
}

fn offline(cpu: u32) -> Error {
    Error::new(
        ErrorKind::PlaceNotAllowed,
        format!("cannot bind to cpu {cpu}: it went offline; choose another place"),
    )
}

/// A thread bound to one context. Dropping it moves the thread back.
#[derive(Debug)]
struct Bound {
    machine: Machine,
    cpu: u32,
    before: u32,
    one_thread: PhantomData<*const ()>,
}

impl ThreadBinding for Bound {
    fn lost(&self) -> Result<Option<CpuSet>> {
        let now = self.machine.current_cpu();
        Ok((now != self.cpu).then(|| [now].into_iter().collect()))
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        // Move the thread back if no other call has moved it since, and if it may run there.
        if self.machine.current_cpu() == self.cpu {
            self.machine.enter().bind(caller(), self.before);
        }
    }
}
