//! The remedies of a cause: commands, options, settings.

use super::cause::{Cause, Circumstances, Scope};
use super::finding::Help;
use pacman_core::backend::perf::UserReads;

impl Circumstances<'_> {
    /// The remedies of the cause.
    pub(super) fn help(&self, cause: Cause, asks: Scope) -> Vec<Help> {
        let level = asks.level();
        let sysctl =
            |when| Help::command(when, format!("sudo sysctl kernel.perf_event_paranoid={level}"));
        match cause {
            Cause::Capability => self.grant(sysctl("on the host, until its next boot")),
            Cause::CountersTaken => vec![
                Help::command("to see who counts", "ps -C perf,toplev,pcm,likwid-perfctr,vtune"),
                Help::advice("otherwise", "count fewer events at a time"),
            ],
            Cause::DescriptorLimit => vec![self.more_files()],
            Cause::HybridCores => {
                let pmu = self.permissions.pmus.last().map_or("cpu_core", String::as_str);
                vec![Help::command(
                    "to stay on one core type",
                    format!(
                        "taskset -c \"$(cat /sys/bus/event_source/devices/{pmu}/cpus)\" PROGRAM"
                    ),
                )]
            }
            Cause::LockedMemory => vec![
                Help::command("until the next boot", "sudo sysctl kernel.perf_event_mlock_kb=2048"),
                Help::command("in this shell", "ulimit -l unlimited"),
            ],
            Cause::NoPmuInVm => vec![
                Help::setting("QEMU with KVM", "-cpu host,pmu=on"),
                Help::setting("libvirt", "<features><pmu state='on'/></features>"),
                Help::setting("VMware", "vpmc.enable = \"TRUE\""),
                Help::advice(
                    "a cloud",
                    "choose a bare-metal instance, or a type that offers a PMU",
                ),
            ],
            Cause::Paranoid => vec![
                sysctl("until the next boot"),
                Help::command(
                    "for good",
                    format!(
                        "echo kernel.perf_event_paranoid={level} | \
                         sudo tee /etc/sysctl.d/50-perf.conf"
                    ),
                ),
                Help::command("for one program", "sudo setcap cap_perfmon+ep PROGRAM"),
            ],
            Cause::PmuNotDriven => {
                vec![Help::command("to see why", "sudo dmesg | grep -i -A8 'performance events'")]
            }
            // Linux then shows all counters to all programs, and does not ask the processor to hide any.
            Cause::HiddenCounters if self.permissions.user_reads != UserReads::ByPage => Vec::new(),
            Cause::HiddenCounters => vec![Help::command(
                "until the next boot",
                "echo 2 | sudo tee /sys/bus/event_source/devices/cpu/rdpmc",
            )],
            Cause::RdpmcOff => vec![Help::command(
                "until the next boot",
                "echo 1 | sudo tee /sys/bus/event_source/devices/cpu/rdpmc",
            )],
            Cause::Seccomp => self.unfilter(),
            Cause::SecurityModule => vec![
                Help::command("SELinux", "sudo ausearch -m AVC -ts recent | grep perf_event"),
                Help::command("AppArmor and others", "sudo dmesg | grep -i denied"),
            ],
            Cause::SilentPmu => vec![Help::advice(
                "in a virtual machine",
                "ask for a PMU that counts (QEMU with KVM: -cpu host,pmu=on)",
            )],
            Cause::SystemDescriptors => {
                vec![Help::command("until the next boot", "sudo sysctl fs.file-max=1000000")]
            }
            Cause::TooFewCounters => {
                vec![Help::advice("in any case", "count fewer events at a time, over several runs")]
            }
            Cause::UserAccessOff => vec![
                Help::command("until the next boot", "sudo sysctl kernel.perf_user_access=1"),
                Help::command(
                    "for good",
                    "echo kernel.perf_user_access=1 | sudo tee /etc/sysctl.d/50-perf-user.conf",
                ),
            ],
            Cause::UserNamespace => vec![
                sysctl("on the host, until its next boot"),
                Help::command("Podman", "sudo podman run --cap-add=PERFMON IMAGE"),
            ],
            Cause::Watchdog => {
                vec![Help::command("until the next boot", "sudo sysctl kernel.nmi_watchdog=0")]
            }
            Cause::NoLedger
            | Cause::NoPerfEvents
            | Cause::NotOffered
            | Cause::NotTried
            | Cause::Unexplained(_)
            | Cause::UnsupportedArchitecture => Vec::new(),
        }
    }

    /// The remedy that raises the limit on open files to the number for a full machine.
    pub(super) fn more_files(&self) -> Help {
        let wanted = (self.around.contexts * 8 + self.around.open_files).next_power_of_two();
        Help::command("in this shell", format!("ulimit -n {}", wanted.max(1024)))
    }

    fn grant(&self, on_the_host: Help) -> Vec<Help> {
        let mut help = match self.permissions.container {
            Some("docker") => vec![Help::command("Docker", "docker run --cap-add=PERFMON IMAGE")],
            Some("podman") => vec![Help::command("Podman", "podman run --cap-add=PERFMON IMAGE")],
            Some(_) => vec![
                Help::command("systemd-nspawn", "systemd-nspawn --capability=CAP_PERFMON"),
                Help::setting("LXC", "lxc.cap.keep = perfmon"),
            ],
            None => vec![Help::setting(
                "a systemd service",
                "CapabilityBoundingSet=CAP_PERFMON and AmbientCapabilities=CAP_PERFMON",
            )],
        };
        if self.permissions.container.is_some() {
            help.push(Help::setting(
                "Kubernetes",
                "securityContext: {capabilities: {add: [PERFMON]}}",
            ));
        }
        if self.around.may_gain_capability && !self.around.root {
            // The container has the capability; its unprivileged user does not.
            help.insert(
                0,
                Help::command(
                    "for one program, as root in the container",
                    "setcap cap_perfmon+ep PROGRAM",
                ),
            );
        }
        help.push(on_the_host);
        help
    }

    fn unfilter(&self) -> Vec<Help> {
        let profile = "--security-opt seccomp=PROFILE.json";
        let engine = match self.permissions.container {
            Some("podman") => "podman",
            _ => "docker",
        };
        let mut help = vec![
            // Their own profiles let the call through with the capability.
            Help::command(
                "the engine's own profile",
                format!("{engine} run --cap-add=PERFMON IMAGE"),
            ),
            Help::command(
                "a profile that allows perf_event_open",
                format!("{engine} run {profile} IMAGE"),
            ),
        ];
        if !matches!(self.permissions.container, Some("docker" | "podman")) {
            help.push(Help::setting("a systemd service", "SystemCallFilter=perf_event_open"));
        }
        help
    }
}
