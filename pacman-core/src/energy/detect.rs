//! The sources of energy, in their order.

use std::path::Path;

use pacman_topology::energy::Rapl;

use super::power_pmu::PowerPmu;
use crate::backend::perf::{Kernel, PerfSys};
use crate::platform::DEVICES;
use pacman_events::{Error, ErrorKind, Result};

/// Finds this system's packages: in powercap, else in the perf PMU `power`.
///
/// # Errors
/// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the system has neither;
/// [`ErrorKind::Permission`](crate::ErrorKind::Permission) if this process may read neither;
/// [`ErrorKind::System`](crate::ErrorKind::System) if reading fails otherwise.
///
/// # Examples
///
/// ```
/// match pacman_core::energy::detect() {
///     Ok(rapl) => println!("{} packages in {}", rapl.packages(), rapl.source()),
///     Err(error) => println!("{error}"),
/// }
/// ```
pub fn detect() -> Result<Rapl> {
    detect_in(Path::new("/sys/class/powercap"), Path::new(DEVICES), Kernel)
}

fn detect_in(powercap: &Path, devices: &Path, sys: impl PerfSys) -> Result<Rapl> {
    let missing = match Rapl::under(powercap) {
        Ok(rapl) => return Ok(rapl),
        Err(error) => error,
    };
    match PowerPmu::open(devices, sys) {
        Ok(Some(counters)) => Ok(Rapl::of(counters)),
        Ok(None) if missing.kind() == ErrorKind::Unsupported => Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "cannot read energy: {} has no package zone, and {} no PMU power; a virtual machine or \
                 a processor without RAPL; measure time instead",
                powercap.display(),
                devices.display()
            ),
        )),
        Ok(None) => Err(missing),
        Err(refused) if missing.kind() == ErrorKind::Unsupported => Err(refused),
        Err(refused) => Err(Error::new(refused.kind(), format!("{missing}; {refused}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::RawFd;
    use std::path::PathBuf;
    use std::ptr::NonNull;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use perf_event_open_sys::bindings::perf_event_attr;
    use tempfile::TempDir;

    use super::*;
    use crate::backend::Target;
    use crate::backend::perf::{Errno, RawCount, Register};

    /// A kernel with counters of packages, by descriptor.
    #[derive(Clone, Default)]
    struct Counting(Arc<Mutex<State>>);

    #[derive(Default)]
    struct State {
        /// The type, the event and the CPU of each counter, its count, and whether it is open.
        opened: Vec<(u32, u64, Target, u64, bool)>,
        refusal: Option<i32>,
        /// The program has closed the descriptors, and opened others under their numbers.
        replaced: bool,
    }

    impl Counting {
        fn advance(&self, counts: &[u64]) {
            let mut state = self.0.lock();
            state.opened.iter_mut().zip(counts).for_each(|(counter, count)| counter.3 += count);
        }
    }

    impl PerfSys for Counting {
        fn is_real(&self) -> bool {
            false
        }

        fn open(&self, attr: &mut perf_event_attr, on: Target, _: RawFd) -> Result<RawFd, Errno> {
            let mut state = self.0.lock();
            // The driver refuses an event that excludes a mode.
            if let Some(errno) = state.refusal.or((attr.exclude_kernel() > 0).then_some(22)) {
                return Err(Errno(errno));
            }
            state.opened.push((attr.type_, attr.config, on, 1000, true));
            Ok(state.opened.len() as RawFd - 1)
        }

        fn id(&self, fd: RawFd) -> Result<u64, Errno> {
            Ok(fd as u64 + if self.0.lock().replaced { 70 } else { 7 })
        }

        fn close(&self, fd: RawFd) {
            self.0.lock().opened[fd as usize].4 = false;
        }

        fn enable_group(&self, _: RawFd) -> Result<(), Errno> {
            unreachable!("the counters count from the start")
        }

        fn disable_group(&self, _: RawFd) -> Result<(), Errno> {
            unreachable!("the counters count to the end")
        }

        fn read(&self, fd: RawFd, into: &mut [u64]) -> Result<usize, Errno> {
            into[0] = self.0.lock().opened[fd as usize].3;
            Ok(1)
        }

        fn reserve(&self, _: usize) -> Result<NonNull<u8>, Errno> {
            unreachable!("nothing is mapped")
        }

        unsafe fn map(&self, _: RawFd, _: NonNull<u8>, _: usize) -> Result<(), Errno> {
            unreachable!("nothing is mapped")
        }

        unsafe fn release(&self, _: NonNull<u8>, _: usize) {
            unreachable!("nothing is mapped")
        }

        unsafe fn read_counter(&self, _: Register) -> RawCount {
            unreachable!("nothing is mapped")
        }
    }

    /// A tree of devices with the PMU `power` as Linux shows it.
    fn devices() -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let power = folder.path().join("power");
        for (file, text) in [
            ("type", "23\n"),
            ("cpumask", "0,18\n"),
            ("format/event", "config:0-7\n"),
            ("events/energy-pkg", "event=0x02\n"),
            ("events/energy-pkg.scale", "2.3283064365386962890625e-10\n"),
            ("events/energy-pkg.unit", "Joules\n"),
        ] {
            let path = power.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (folder, power)
    }

    const NOWHERE: &str = "/nowhere";

    #[test]
    fn the_pmu_has_one_counter_for_each_package() {
        let (folder, _) = devices();
        let sys = Counting::default();
        let rapl = detect_in(Path::new(NOWHERE), folder.path(), sys.clone()).unwrap();
        assert_eq!((rapl.source(), rapl.packages()), ("perf", 2));
        for (counter, cpu) in sys.0.lock().opened.iter().zip([0, 18]) {
            assert_eq!((counter.0, counter.1), (23, 2));
            assert!(matches!(counter.2, Target::Context(on) if on == cpu), "{:?}", counter.2);
        }
        let before = rapl.read().unwrap();
        sys.advance(&[3 << 32, 1 << 31]);
        assert_eq!(rapl.read().unwrap().joules_since(&before), Ok(3.5));
        drop(rapl);
        assert!(sys.0.lock().opened.iter().all(|counter| !counter.4), "they are closed");
    }

    #[test]
    fn descriptors_of_the_program_are_neither_read_nor_closed() {
        let (folder, _) = devices();
        let sys = Counting::default();
        let rapl = detect_in(Path::new(NOWHERE), folder.path(), sys.clone()).unwrap();
        sys.0.lock().replaced = true;
        let error = rapl.read().unwrap_err().to_string();
        assert!(error.contains("closed by the program"), "{error}");
        drop(rapl);
        assert!(sys.0.lock().opened.iter().all(|counter| counter.4));
    }

    #[test]
    fn a_refusal_names_the_setting() {
        let (folder, power) = devices();
        let sys = Counting::default();
        let asked = || detect_in(Path::new(NOWHERE), folder.path(), sys.clone()).unwrap_err();
        sys.0.lock().refusal = Some(libc::EACCES);
        let error = asked();
        assert_eq!(error.kind(), crate::ErrorKind::Permission);
        assert!(error.to_string().contains("perf_event_paranoid to 0"), "{error}");
        sys.0.lock().refusal = Some(libc::EINVAL);
        assert_eq!(asked().kind(), crate::ErrorKind::System);
        sys.0.lock().refusal = None;
        fs::write(power.join("events/energy-pkg.unit"), "Watts\n").unwrap();
        assert!(asked().to_string().contains("Watts"), "{}", asked());
        fs::remove_dir_all(power).unwrap();
        assert_eq!(asked().kind(), crate::ErrorKind::Unsupported);
        assert!(asked().to_string().contains("/nowhere has no package zone"), "{}", asked());
    }

    #[test]
    fn powercap_comes_first() {
        let (folder, _) = devices();
        let zone = folder.path().join("powercap/intel-rapl:0");
        fs::create_dir_all(&zone).unwrap();
        for (file, text) in
            [("name", "package-0"), ("energy_uj", "5"), ("max_energy_range_uj", "9")]
        {
            fs::write(zone.join(file), text).unwrap();
        }
        let powercap = folder.path().join("powercap");
        let sys = Counting::default();
        let rapl = detect_in(&powercap, folder.path(), sys.clone()).unwrap();
        assert_eq!((rapl.source(), sys.0.lock().opened.len()), ("powercap", 0));
        fs::write(zone.join("energy_uj"), "none").unwrap();
        let rapl = detect_in(&powercap, folder.path(), sys.clone()).unwrap();
        assert_eq!((rapl.source(), rapl.packages()), ("perf", 2));
        sys.0.lock().refusal = Some(libc::EPERM);
        let error = detect_in(&powercap, folder.path(), sys).unwrap_err().to_string();
        assert!(error.contains("bad number") && error.contains("CAP_PERFMON"), "{error}");
    }
}
