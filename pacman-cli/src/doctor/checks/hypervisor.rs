//! Virtual counters: those of this guest, and those that this host gives to guests.
//!
//! KVM has two kinds since Linux 7.0: emulated by perf events of the host, and mediated, where the guest has the
//! processor's own counters while it runs (Documentation/admin-guide/kernel-parameters.txt, `enable_mediated_pmu`). No
//! interface tells a guest which one it has. KVM intercepts RDPMC unless the PMU is mediated and the guest has all
//! counters of the processor (arch/x86/kvm/pmu.c, `kvm_need_rdpmc_intercept`), and CPUID always. So the time of a
//! read tells, with the time of CPUID as the yardstick of leaving the guest.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::finding::{Check, Finding, Help};

/// The counters that KVM on this host gives its guests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guests {
    /// No counters.
    Nothing,
    /// Counters that perf events of the host count.
    Emulated { module: &'static str, may_mediate: bool },
    /// The processor's own counters.
    Mediated,
}

impl Guests {
    /// `None` without KVM's module for this processor.
    pub(super) fn read_under(root: &Path) -> Option<Guests> {
        let folder = root.join("sys/module");
        let module = MODULES.into_iter().find(|module| folder.join(module).exists())?;
        let is_on = |path: &str| {
            let text = fs::read_to_string(folder.join(path)).ok()?;
            Some(["Y", "1"].contains(&text.trim()))
        };
        if is_on("kvm/parameters/enable_pmu") == Some(false) {
            return Some(Guests::Nothing);
        }
        let mediated = is_on(&format!("{module}/parameters/enable_mediated_pmu"));
        Some(match mediated {
            Some(true) => Guests::Mediated,
            other => Guests::Emulated { module, may_mediate: other.is_some() },
        })
    }

    pub(super) fn finding(self) -> Finding {
        let looked_at = "read the parameters of KVM's modules";
        let noted = |text: &str| Finding::noted(Check::Guests, looked_at, text);
        match self {
            Guests::Nothing => noted("KVM gives guests no counters (enable_pmu is N)"),
            Guests::Mediated => noted(
                "KVM gives a guest the processor's own counters while it runs (enable_mediated_pmu is Y); perf on \
                 this host cannot count inside of guests",
            ),
            Guests::Emulated { module, may_mediate } => {
                let why =
                    if may_mediate { "enable_mediated_pmu is N" } else { "no enable_mediated_pmu" };
                let finding = noted(&format!(
                    "KVM emulates the counters of guests by perf events of this host ({why}): they compete with this \
                     host's, and a guest may lose counts unnoticed"
                ));
                let setting = format!("options {module} enable_mediated_pmu=1");
                match may_mediate {
                    true => finding.with_help(vec![Help::setting(
                        "to give guests the processor's own, in /etc/modprobe.d",
                        setting,
                    )]),
                    false => finding,
                }
            }
        }
    }
}

const MODULES: [&str; 2] = ["kvm_intel", "kvm_amd"];

/// The kind of KVM's counters, by the times of a read by RDPMC and of leaving the guest.
pub(super) fn told(read: Option<Duration>, exit: Duration) -> String {
    let Some(read) = read else {
        return "KVM's: emulated by the host's perf events, or mediated; only RDPMC would tell"
            .to_owned();
    };
    let times = format!("a read takes {} ns, CPUID {} ns", read.as_nanos(), exit.as_nanos());
    if read <= exit / 3 {
        format!(
            "KVM's mediated ones, which are the processor's own: RDPMC does not leave the guest ({times})"
        )
    } else if read >= exit / 2 {
        format!(
            "KVM's, and RDPMC leaves the guest ({times}): emulated by the host's perf events, which may lose counts \
             unnoticed, or mediated with fewer counters than the processor has"
        )
    } else {
        format!(
            "KVM's: emulated by the host's perf events, or mediated; RDPMC does not tell ({times})"
        )
    }
}

/// Whether KVM runs this guest: its signature in CPUID's first leaf for hypervisors
/// (Documentation/virt/kvm/x86/cpuid.rst).
pub(super) fn is_kvm() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let leaf = cpuid(0x4000_0000);
        let words = [leaf.ebx, leaf.ecx, leaf.edx].map(u32::to_le_bytes);
        words.concat() == b"KVMKVMKVM\0\0\0"
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The time of CPUID, which leaves a guest on every processor.
pub(super) fn exit_time() -> Duration {
    #[cfg(target_arch = "x86_64")]
    {
        quickest(|| {
            std::hint::black_box(cpuid(0));
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    Duration::ZERO
}

#[cfg(target_arch = "x86_64")]
fn cpuid(leaf: u32) -> std::arch::x86_64::CpuidResult {
    // SAFETY: every x86-64 processor has CPUID. With newer versions of Rust the call is safe.
    #[allow(unused_unsafe)]
    unsafe {
        std::arch::x86_64::__cpuid_count(leaf, 0)
    }
}

/// The mean time of a call in the quickest of some batches: other programs only make it longer.
pub(super) fn quickest(mut call: impl FnMut()) -> Duration {
    let mut batch = || {
        let begin = Instant::now();
        (0..CALLS).for_each(|_| call());
        begin.elapsed() / CALLS
    };
    (0..BATCHES).map(|_| batch()).min().unwrap_or_default()
}

const CALLS: u32 = 50;
const BATCHES: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_read_tells_whether_it_leaves_the_guest() {
        let told = |read, exit| told(Some(Duration::from_nanos(read)), Duration::from_nanos(exit));
        assert_eq!(
            told(60, 600),
            "KVM's mediated ones, which are the processor's own: RDPMC does not leave the guest (a read takes 60 ns, \
             CPUID 600 ns)"
        );
        assert!(
            told(900, 600).starts_with("KVM's, and RDPMC leaves the guest (a read takes 900 ns")
        );
        assert!(told(250, 600).contains("RDPMC does not tell"));
        assert!(super::told(None, Duration::ZERO).ends_with("only RDPMC would tell"));
    }

    #[test]
    fn the_modules_say_what_guests_get() {
        let root = tempfile::tempdir().expect("a directory for a test");
        let write = |path: &str, text: &str| {
            let path = root.path().join("sys/module").join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        let read = || Guests::read_under(root.path());
        assert_eq!(read(), None);
        // The module that all processors share gives nothing.
        write("kvm/parameters/enable_pmu", "Y\n");
        assert_eq!(read(), None);
        write("kvm_amd/parameters/nested", "1\n");
        assert_eq!(read(), Some(Guests::Emulated { module: "kvm_amd", may_mediate: false }));
        write("kvm_amd/parameters/enable_mediated_pmu", "N\n");
        let emulated = read().expect("a kind");
        assert_eq!(emulated, Guests::Emulated { module: "kvm_amd", may_mediate: true });
        let help = emulated.finding().help;
        assert_eq!(help[0].setting.as_deref(), Some("options kvm_amd enable_mediated_pmu=1"));
        write("kvm_amd/parameters/enable_mediated_pmu", "Y\n");
        assert_eq!(read(), Some(Guests::Mediated));
        write("kvm/parameters/enable_pmu", "N\n");
        assert_eq!(read(), Some(Guests::Nothing));
    }
}
