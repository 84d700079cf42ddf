//! A control group with a quota, and busy processes, which go away with their values.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A control group that leaves so many processors.
pub(crate) struct Group(PathBuf);

impl Group {
    /// `None` where none can be made.
    pub(crate) fn new(cpus: f64) -> Option<Group> {
        let name = format!("pacman-adapt-beside-{}", std::process::id());
        let micros = (1e5 * cpus) as u64;
        let (first, second) = (micros.to_string(), format!("{micros} 100000"));
        for (parent, file, text) in [
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", &first),
            ("/sys/fs/cgroup/cpu,cpuacct", "cpu.cfs_quota_us", &first),
            ("/sys/fs/cgroup", "cpu.max", &second),
        ] {
            let directory = Path::new(parent).join(&name);
            if fs::create_dir(&directory).is_err() {
                continue;
            }
            let group = Group(directory);
            if group.0.join(file).exists() && fs::write(group.0.join(file), text).is_ok() {
                return Some(group);
            }
        }
        None
    }

    /// Runs these words inside.
    pub(crate) fn command(&self, words: &[PathBuf]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\""]).arg(&self.0);
        command.args(words);
        command
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The kernel counts the last process for a moment after its end.
        let end = Instant::now() + Duration::from_secs(5);
        while fs::remove_dir(&self.0).is_err() && Instant::now() < end {
            std::thread::yield_now();
        }
    }
}

/// Processes that use a processor each.
pub(crate) struct Busy(Vec<Child>);

impl Busy {
    pub(crate) fn start(loops: usize) -> io::Result<Busy> {
        let mut all = Busy(Vec::new());
        for _ in 0..loops {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
            all.0.push(command.spawn()?);
        }
        Ok(all)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
