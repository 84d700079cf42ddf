//! The energy counters of the perf PMU `power`.

use std::fmt;
use std::io;
use std::os::fd::RawFd;
use std::path::Path;

use pacman_events::SysfsPmu;
use pacman_topology::CpuSet;
use pacman_topology::energy::EnergyCounters;
use pacman_topology::input::{MOST_SYSTEM_BYTES, read_text};
use perf_event_open_sys::bindings::perf_event_attr;

use crate::backend::Target;
use crate::platform::pmus_in;
use crate::seam::{Errno, PerfSys};
use pacman_events::{Error, ErrorKind, Result};

const EVENT: &str = "energy-pkg";

/// One counter for each package, on the CPU that the driver names.
pub(super) struct PowerPmu<S: PerfSys> {
    sys: S,
    counters: Vec<Counter>,
    /// The joules of one count.
    unit: f64,
}

struct Counter {
    fd: RawFd,
    /// The kernel's number of the counter. The program may close the descriptor.
    id: u64,
    cpu: u32,
}

impl<S: PerfSys> PowerPmu<S> {
    /// Opens the counters of the PMU below `devices`; `None` if it has no counter of packages.
    pub(super) fn open(devices: &Path, sys: S) -> Result<Option<PowerPmu<S>>> {
        let pmus = pmus_in(devices);
        let Some(pmu) = pmus.iter().find(|pmu| pmu.name() == "power") else { return Ok(None) };
        let Some(event) = attr(pmu)? else { return Ok(None) };
        let folder = devices.join("power");
        let text = |file: &str| {
            let path = folder.join(file);
            read_text(&path, MOST_SYSTEM_BYTES)
                .map(|text| text.trim().to_owned())
                .map_err(|error| unusable(format!("{}: {error}", path.display())))
        };
        let unit = text("events/energy-pkg.unit")?;
        if unit != "Joules" {
            return Err(unusable(format!("the kernel has it in {unit:?}, not in Joules")));
        }
        let scale = text("events/energy-pkg.scale")?;
        let unit = scale.parse().ok().filter(|unit| (1e-15..1.0).contains(unit));
        let unit = unit.ok_or_else(|| unusable(format!("bad scale {scale:?}")))?;
        let cpus = text("cpumask")?;
        let cpus = CpuSet::from_list(&cpus).map_err(|error| unusable(error.to_string()))?;
        let mut opened = PowerPmu { sys, counters: Vec::new(), unit };
        for cpu in cpus.iter() {
            let counter = opened.counter(event, cpu).map_err(|errno| refused(cpu, errno))?;
            opened.counters.push(counter);
        }
        Ok((!opened.counters.is_empty()).then_some(opened))
    }

    fn counter(&self, (kind, config): (u32, u64), cpu: u32) -> Result<Counter, Errno> {
        const NO_GROUP: RawFd = -1;
        // Nothing is excluded: the driver has no modes to tell apart, and refuses such events.
        let mut attr = perf_event_attr {
            size: size_of::<perf_event_attr>() as u32,
            type_: kind,
            config,
            ..perf_event_attr::default()
        };
        let fd = self.sys.open(&mut attr, Target::Context(cpu), NO_GROUP)?;
        let id = self.sys.id(fd).inspect_err(|_| self.sys.close(fd))?;
        Ok(Counter { fd, id, cpu })
    }

    fn is_ours(&self, counter: &Counter) -> bool {
        self.sys.id(counter.fd) == Ok(counter.id)
    }
}

fn attr(pmu: &SysfsPmu) -> Result<Option<(u32, u64)>> {
    let event = pmu.event(EVENT).map_err(|error| unusable(error.to_string()))?;
    Ok(event.map(|event| (event.kind, event.config)))
}

fn unusable(why: String) -> Error {
    Error::new(ErrorKind::System, format!("cannot read energy from power/{EVENT}/: {why}"))
}

fn refused(cpu: u32, errno: Errno) -> Error {
    let error = io::Error::from_raw_os_error(errno.0);
    let (kind, help) = match errno.0 {
        libc::EACCES | libc::EPERM => (
            ErrorKind::Permission,
            "; set kernel.perf_event_paranoid to 0 or less, or give the process CAP_PERFMON",
        ),
        libc::EMFILE => (ErrorKind::NoDescriptors, "; raise the limit with ulimit -n"),
        _ => (ErrorKind::System, "; measure time instead"),
    };
    let why = format!("cannot read energy from power/{EVENT}/ on CPU {cpu}: {error}{help}");
    Error::from_errno(kind, errno.0, why)
}

impl<S: PerfSys> EnergyCounters for PowerPmu<S> {
    fn source(&self) -> &'static str {
        "perf"
    }

    fn unit(&self) -> f64 {
        self.unit
    }

    /// The kernel adds the registers up in 64 bits, and reads them often enough by itself.
    fn periods(&self) -> Vec<u128> {
        vec![1 << 64; self.counters.len()]
    }

    fn read(&self) -> crate::Result<Vec<u64>> {
        let read = |counter: &Counter| {
            let ask = || format!("cannot read energy from power/{EVENT}/ on CPU {}", counter.cpu);
            let fails = |why| {
                let kind = crate::ErrorKind::System;
                Err(crate::Error::new(kind, format!("{}: {why}", ask())))
            };
            if !self.is_ours(counter) {
                return fails(
                    "its descriptor was closed by the program; have the program close only those \
                     that it opened"
                        .to_owned(),
                );
            }
            let mut count = [0];
            match self.sys.read(counter.fd, &mut count) {
                Ok(1) => Ok(count[0]),
                Ok(words) => fails(format!("the kernel answered {words} words instead of one")),
                Err(errno) => fails(io::Error::from_raw_os_error(errno.0).to_string()),
            }
        };
        self.counters.iter().map(read).collect()
    }
}

impl<S: PerfSys> fmt::Debug for PowerPmu<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpus: Vec<u32> = self.counters.iter().map(|counter| counter.cpu).collect();
        f.debug_struct("PowerPmu").field("cpus", &cpus).finish_non_exhaustive()
    }
}

impl<S: PerfSys> Drop for PowerPmu<S> {
    fn drop(&mut self) {
        for counter in self.counters.iter().filter(|counter| self.is_ours(counter)) {
            self.sys.close(counter.fd);
        }
    }
}
