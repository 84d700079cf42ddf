//! Registers in memory, with a record of all writes and with faults on request.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::RawFd;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::backend::msr::{Errno, MsrIo};

thread_local! {
    /// The context that the test's thread pretends to run on.
    static CPU: Cell<u32> = const { Cell::new(0) };
}

/// A fake machine, whose contexts share all registers or none.
#[derive(Clone, Debug)]
pub(super) struct Fake {
    inner: Arc<Mutex<Inner>>,
    shared: bool,
    rdpmc: bool,
}

#[derive(Debug, Default)]
struct Inner {
    registers: BTreeMap<(u32, u32), u64>,
    written: Vec<(u32, u64)>,
    faults: BTreeMap<(bool, u32), i32>,
    every_access: Option<i32>,
    claimed_by: BTreeMap<u32, i32>,
    claimed: BTreeSet<u32>,
    watchdog: bool,
    descriptor: Option<RawFd>,
}

impl Fake {
    /// A core whose contexts share every register, as on NetBurst.
    pub(super) fn shared() -> Fake {
        Fake { inner: Arc::default(), shared: true, rdpmc: true }
    }

    /// Contexts with registers of their own.
    pub(super) fn separate() -> Fake {
        Fake { shared: false, ..Fake::shared() }
    }

    pub(super) fn without_rdpmc(mut self) -> Fake {
        self.rdpmc = false;
        self
    }

    pub(super) fn run_on(&self, cpu: u32) {
        CPU.set(cpu);
    }

    pub(super) fn set(&self, cpu: u32, msr: u32, value: u64) {
        let key = self.key(cpu, msr);
        self.inner.lock().registers.insert(key, value);
    }

    pub(super) fn get(&self, cpu: u32, msr: u32) -> u64 {
        self.inner.lock().registers.get(&self.key(cpu, msr)).copied().unwrap_or(0)
    }

    /// All writes since the last call, in order.
    pub(super) fn written(&self) -> Vec<(u32, u64)> {
        std::mem::take(&mut self.inner.lock().written)
    }

    /// Registers that do not hold 0.
    pub(super) fn registers(&self) -> BTreeMap<(u32, u32), u64> {
        let all = self.inner.lock().registers.clone();
        all.into_iter().filter(|(_, value)| *value != 0).collect()
    }

    pub(super) fn fail_every_access(&self, errno: i32) {
        self.inner.lock().every_access = Some(errno);
    }

    pub(super) fn fail(&self, write: bool, msr: u32, errno: i32) {
        self.inner.lock().faults.insert((write, msr), errno);
    }

    pub(super) fn claimed_by(&self, msr: u32, process: i32) {
        self.inner.lock().claimed_by.insert(msr, process);
    }

    /// The registers that this process has marked as its own.
    pub(super) fn claimed(&self) -> Vec<u32> {
        self.inner.lock().claimed.iter().copied().collect()
    }

    pub(super) fn with_watchdog(self) -> Fake {
        self.inner.lock().watchdog = true;
        self
    }

    pub(super) fn with_descriptor(self, fd: RawFd) -> Fake {
        self.inner.lock().descriptor = Some(fd);
        self
    }

    fn key(&self, cpu: u32, msr: u32) -> (u32, u32) {
        (if self.shared { 0 } else { cpu }, msr)
    }

    fn check(&self, write: bool, msr: u32) -> Result<(), Errno> {
        let inner = self.inner.lock();
        let fault = inner.every_access.or(inner.faults.get(&(write, msr)).copied());
        fault.map_or(Ok(()), |errno| Err(Errno(errno)))
    }
}

impl MsrIo for Fake {
    fn is_real(&self) -> bool {
        false
    }

    fn read(&self, cpu: u32, msr: u32) -> Result<u64, Errno> {
        self.check(false, msr)?;
        Ok(self.get(cpu, msr))
    }

    fn write(&self, cpu: u32, msr: u32, value: u64) -> Result<(), Errno> {
        self.check(true, msr)?;
        self.set(cpu, msr, value);
        self.inner.lock().written.push((msr, value));
        Ok(())
    }

    unsafe fn rdpmc(&self, index: u32) -> (u64, u64) {
        let msr = match index {
            n if n & 1 << 30 != 0 => 0x309 + (n & 0xff),
            n if self.shared => 0x300 + n,
            n => 0x4c1 + n,
        };
        let value = self.get(CPU.get(), msr);
        (value & 0xffff_ffff, value >> 32)
    }

    fn cpu(&self) -> u32 {
        CPU.get()
    }

    fn user_rdpmc(&self) -> bool {
        self.rdpmc
    }

    fn watchdog(&self) -> bool {
        self.inner.lock().watchdog
    }

    fn machine(&self) -> u64 {
        Arc::as_ptr(&self.inner) as u64
    }

    fn descriptor(&self, _cpu: u32) -> Option<RawFd> {
        self.inner.lock().descriptor
    }

    fn claim(&self, _cpu: u32, msr: u32) -> Result<(), i32> {
        let mut inner = self.inner.lock();
        if let Some(process) = inner.claimed_by.get(&msr) {
            return Err(*process);
        }
        inner.claimed.insert(msr);
        Ok(())
    }

    fn release(&self, _cpu: u32, msr: u32) {
        self.inner.lock().claimed.remove(&msr);
    }
}
