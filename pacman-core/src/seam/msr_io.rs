//! Every register access of the MSR backend, and RDPMC.

use std::os::fd::RawFd;
use std::sync::Arc;

use super::Errno;

/// Model-specific registers of the hardware contexts of one machine.
///
/// A clone drives the same machine. Register accesses fail as with Linux's `msr` device: `EIO` if
/// the processor faults, and `ENXIO` if the context is absent. `EACCES` or `EPERM` mean that access
/// is refused, and `ENOENT` that the device is missing on every context.
///
/// The trait can be an object, as [`PerfSys`](super::PerfSys) can.
pub trait MsrIo: Send + Sync + 'static {
    /// A simulation's counts are labelled as simulated.
    fn is_real(&self) -> bool;

    /// RDMSR on hardware context `cpu`.
    fn read(&self, cpu: u32, msr: u32) -> Result<u64, Errno>;

    /// WRMSR on hardware context `cpu`.
    fn write(&self, cpu: u32, msr: u32, value: u64) -> Result<(), Errno>;

    /// The lower and the upper 32 bits of counter `index`, each in a word with an upper half of
    /// zero. The counter is that of the context that the calling thread runs on. Index bit 30
    /// selects Intel's fixed counters.
    ///
    /// # Safety
    /// [`user_rdpmc`](Self::user_rdpmc) must have returned true, and the processor must have the
    /// counter. Otherwise the thread gets SIGSEGV.
    unsafe fn rdpmc(&self, index: u32) -> (u64, u64);

    /// The hardware context that the calling thread runs on now.
    fn cpu(&self) -> u32;

    /// Whether the calling thread certainly runs on `cpu` now. If false, ask [`cpu`](Self::cpu),
    /// which may take longer.
    #[inline(always)]
    fn runs_on(&self, cpu: u32) -> bool {
        self.cpu() == cpu
    }

    /// Whether user programs may always execute RDPMC, even without a perf event of their own.
    fn user_rdpmc(&self) -> bool;

    /// Whether the kernel's NMI watchdog holds a counter of each context.
    fn watchdog(&self) -> bool;

    /// A number that identifies the machine; 0 is the machine that runs the program.
    ///
    /// The table of held registers needs it, because it covers all users of one machine.
    fn machine(&self) -> u64;

    /// The descriptor through which a signal handler writes `cpu`'s registers with `pwrite(2)`.
    ///
    /// `None` if the registers end with the process, as simulated ones do.
    fn descriptor(&self, cpu: u32) -> Option<RawFd> {
        let _ = cpu;
        None
    }

    /// Marks register `msr` of `cpu` as this process's for other processes to see.
    ///
    /// # Errors
    /// The process that marked it before, by its id.
    fn claim(&self, cpu: u32, msr: u32) -> Result<(), i32> {
        let _ = (cpu, msr);
        Ok(())
    }

    /// Takes back the mark of [`claim`](Self::claim).
    fn release(&self, cpu: u32, msr: u32) {
        let _ = (cpu, msr);
    }

    /// Called between any two accesses of a read. Linux does nothing here; a simulation may preempt
    /// the thread.
    #[inline(always)]
    fn between_loads(&self) {}
}

/// Registers of a machine of unknown type. A clone refers to the same machine.
impl MsrIo for Arc<dyn MsrIo> {
    fn is_real(&self) -> bool {
        (**self).is_real()
    }

    fn read(&self, cpu: u32, msr: u32) -> Result<u64, Errno> {
        (**self).read(cpu, msr)
    }

    fn write(&self, cpu: u32, msr: u32, value: u64) -> Result<(), Errno> {
        (**self).write(cpu, msr, value)
    }

    unsafe fn rdpmc(&self, index: u32) -> (u64, u64) {
        // SAFETY: the caller keeps the contract of `MsrIo::rdpmc`.
        unsafe { (**self).rdpmc(index) }
    }

    fn cpu(&self) -> u32 {
        (**self).cpu()
    }

    fn runs_on(&self, cpu: u32) -> bool {
        (**self).runs_on(cpu)
    }

    fn user_rdpmc(&self) -> bool {
        (**self).user_rdpmc()
    }

    fn watchdog(&self) -> bool {
        (**self).watchdog()
    }

    fn machine(&self) -> u64 {
        (**self).machine()
    }

    fn descriptor(&self, cpu: u32) -> Option<RawFd> {
        (**self).descriptor(cpu)
    }

    fn claim(&self, cpu: u32, msr: u32) -> Result<(), i32> {
        (**self).claim(cpu, msr)
    }

    fn release(&self, cpu: u32, msr: u32) {
        (**self).release(cpu, msr);
    }

    fn between_loads(&self) {
        (**self).between_loads();
    }
}
