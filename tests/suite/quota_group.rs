//! A control group with a quota of processors, which goes away with the value.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A control group that leaves its processes a number of processors, in periods of 0.1 s.
pub struct QuotaGroup(PathBuf);

impl QuotaGroup {
    /// `None` where none can be made.
    pub fn new(cpus: f64) -> Option<QuotaGroup> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("pacman-quota-{}-{number}", std::process::id());
        let micros = (1e5 * cpus) as u64;
        let (first, second) = (micros.to_string(), format!("{micros} 100000"));
        let shares = ("cpu.shares", "262144");
        for (parent, file, text, (weight, most)) in [
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", &first, shares),
            ("/sys/fs/cgroup/cpu,cpuacct", "cpu.cfs_quota_us", &first, shares),
            ("/sys/fs/cgroup", "cpu.max", &second, ("cpu.weight", "10000")),
        ] {
            let directory = Path::new(parent).join(&name);
            if fs::create_dir(&directory).is_err() {
                continue;
            }
            let group = QuotaGroup(directory);
            if group.0.join(file).exists() && fs::write(group.0.join(file), text).is_ok() {
                // The quota shall keep its processes waiting, and not other work of the machine.
                fs::write(group.0.join(weight), most).ok()?;
                return Some(group);
            }
        }
        None
    }

    /// The same command, inside of the group from its begin.
    pub fn inside(&self, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        inside.args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\""]).arg(&self.0);
        inside.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside
    }
}

impl Drop for QuotaGroup {
    fn drop(&mut self) {
        // The kernel counts the last process for a moment after its end.
        let end = Instant::now() + Duration::from_secs(5);
        while fs::remove_dir(&self.0).is_err() && Instant::now() < end {
            std::thread::yield_now();
        }
    }
}
