//! Following a process that runs already.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::time::Instant;

use pacman_core::Topology;
use pacman_core::backend::Target;
use pacman_topology::process_files;

use super::{Follower, State};
use crate::error::{CliError, CliResult};
use crate::stat::affinity::ThreadPlaces;
use crate::stat::sets::EventSets;
use crate::stat::{ptrace, thread};

impl<'a> Follower<'a> {
    /// Follows all threads of process `pid`, and every thread and process that they make. They are
    /// counted from now on, and run on meanwhile.
    ///
    /// # Errors
    /// If there is no such process, or if it cannot be traced or counted. It then runs on alone.
    pub(crate) fn attach(
        sets: &'a EventSets,
        pid: i32,
        topology: &'a Topology,
    ) -> CliResult<Follower<'a>> {
        match thread::process_of(pid) {
            _ if !process_files::are_ours() => {
                let foreign = process_files::FOREIGN;
                return Err(CliError::Refused(format!("cannot count process {pid}: {foreign}")));
            }
            Some(process) if process != pid => {
                return Err(CliError::bad_input(format!(
                    "cannot count process {pid}: it is a thread of process {process}; name that one"
                )));
            }
            _ => {}
        }
        let mut follower = Follower {
            sets,
            topology,
            places: ThreadPlaces::none(),
            threads: Vec::new(),
            alive: HashMap::new(),
            coming: HashSet::new(),
            stuck: HashSet::new(),
            apart: HashMap::new(),
            main: pid,
            // Not `Waiting`: nobody may kill a process that this one did not start.
            state: State::Running,
            attached: true,
            duration: None,
            began: Instant::now(),
        };
        follower.seize_all(pid)?;
        Ok(follower)
    }

    /// Counts until `command`, a child of this process, ends, and not only until the process does.
    pub(crate) fn count_during(&mut self, command: i32) {
        self.duration = Some(command);
    }

    fn seize_all(&mut self, pid: i32) -> CliResult<()> {
        let mut seized: HashSet<i32> = HashSet::new();
        loop {
            // A thread that is not seized yet may have made another one meanwhile.
            let new: Vec<i32> = tasks(pid).filter(|tid| !seized.contains(tid)).collect();
            if new.is_empty() {
                break;
            }
            for tid in new {
                seized.insert(tid);
                match ptrace::seize(tid) {
                    Ok(()) => {
                        // Without permission to count, one thread tells for all of them.
                        if self.threads.is_empty() {
                            drop(self.sets.open(Target::Thread(tid))?);
                        }
                        self.admit(tid);
                    }
                    // It was made by a seized thread, and stops by itself.
                    Err(_) if is_traced_here(tid) => {}
                    // It has ended.
                    Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                    Err(_) if has_ended(tid) => {}
                    Err(error) => return Err(refusal(pid, &error)),
                }
            }
        }
        if self.threads.is_empty() {
            return Err(refusal(pid, &io::Error::from_raw_os_error(libc::ESRCH)));
        }
        Ok(())
    }
}

fn tasks(pid: i32) -> impl Iterator<Item = i32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn is_traced_here(tid: i32) -> bool {
    field(tid, "TracerPid:").is_some_and(|tracer| tracer == std::process::id().to_string())
}

/// Whether nobody has waited for a thread that has ended; it cannot be traced any more.
fn has_ended(tid: i32) -> bool {
    field(tid, "State:").is_none_or(|state| state.starts_with(['Z', 'X']))
}

fn field(tid: i32, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(value.trim().to_string())
}

#[cold]
fn refusal(pid: i32, error: &io::Error) -> CliError {
    let tracer = field(pid, "TracerPid:").filter(|tracer| tracer != "0");
    let remedy = match (error.raw_os_error(), tracer) {
        (Some(libc::ESRCH), _) => "name a process that runs".into(),
        (_, Some(tracer)) => format!("process {tracer} traces it already; end that one"),
        _ => {
            "run as root, or as the process's user with kernel.yama.ptrace_scope 0; in a container \
              allow ptrace; or count with -a"
                .into()
        }
    };
    CliError::Refused(format!("cannot count process {pid}: ptrace says {error}: {remedy}"))
}
