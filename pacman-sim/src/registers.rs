//! The registers of a simulated machine, for a privileged program.

use pacman_core::backend::msr::{Errno, MsrIo};

use crate::hardware::Fault;
use crate::kernel::Machine;
use crate::kernel::State;
use crate::task::caller;

/// The registers of a simulated machine.
#[derive(Clone, Debug)]
struct SimMsr {
    machine: Machine,
}

impl Machine {
    /// Its registers.
    pub fn registers(&self) -> impl MsrIo + Clone + use<> {
        SimMsr { machine: self.clone() }
    }
}

impl SimMsr {
    fn call<R>(&self, work: impl FnOnce(&mut State, i32) -> Result<R, Errno>) -> Result<R, Errno> {
        let tid = caller();
        let mut state = self.machine.enter();
        state.switch_in(tid);
        match state.meet_fault(tid) {
            Some(errno) => Err(Errno(errno)),
            None => work(&mut state, tid),
        }
    }
}

impl MsrIo for SimMsr {
    fn is_real(&self) -> bool {
        false
    }

    fn read(&self, cpu: u32, msr: u32) -> Result<u64, Errno> {
        self.call(|state, _| {
            let (pmu, context) = state.registers_of(cpu).ok_or(Errno(libc::ENXIO))?;
            pmu.read(context, msr).map_err(faulted)
        })
    }

    fn write(&self, cpu: u32, msr: u32, value: u64) -> Result<(), Errno> {
        self.call(|state, _| {
            let (pmu, context) = state.registers_of(cpu).ok_or(Errno(libc::ENXIO))?;
            pmu.write(context, msr, value).map_err(faulted)
        })
    }

    unsafe fn rdpmc(&self, index: u32) -> (u64, u64) {
        let ask = || {
            self.call(|state, tid| {
                let cpu = state.task(tid).cpu;
                let (pmu, context) = state.registers_of(cpu).ok_or(Errno(libc::ENXIO))?;
                pmu.rdpmc(context, index).map_err(faulted)
            })
        };
        // An error planned for an instruction strikes nothing: ask again.
        let value = ask().or_else(|_| ask()).expect("SIGSEGV: this machine has no such counter");
        (value & 0xffff_ffff, value >> 32)
    }

    fn cpu(&self) -> u32 {
        self.call(|state, tid| Ok(state.task(tid).cpu))
            .unwrap_or_else(|_| self.machine.current_cpu())
    }

    fn user_rdpmc(&self) -> bool {
        true
    }

    fn watchdog(&self) -> bool {
        false
    }

    fn machine(&self) -> u64 {
        self.machine.number()
    }

    fn between_loads(&self) {
        // Nothing that can fail happens here.
        let _ = self.call(|_, _| Ok(()));
    }
}

/// The error of Linux's `msr` device if the processor faults.
fn faulted(_: Fault) -> Errno {
    Errno(libc::EIO)
}
