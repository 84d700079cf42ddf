//! The measurements of adaptation in earlier runs of a program, as a file.
//!
//! There is a file for each program on each machine. The library reads it in the program's first
//! adapted region, and records what it has measured with each region. The command adds that to the file
//! after the run. So a program writes no file of ours, and needs no rights for one.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use pacman_events::shown::{shown, shown_path};
use serde::{Deserialize, Serialize};

use crate::start_memory::{self, StartChoice, StartMemory};

/// The most bytes of a file; a region has less than 1 kB on a machine of 64 contexts.
const MOST_BYTES: u64 = 4 << 20;
/// The value of [`ProgramMemory::format`].
const FORMAT: &str = "pacman-memory";
/// The value of [`ProgramMemory::version`].
const VERSION: u32 = 1;
/// The most kinds of work of one region that are kept: a program may have as many usual inputs.
const KINDS: usize = 8;

/// The memory of one program on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramMemory {
    /// `pacman-memory`.
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// The program and the machine.
    pub of: ProgramKey,
    /// The regions; the latest are last.
    pub regions: Vec<RegionMemory>,
    /// The runs by the number of threads that they started with; the latest are last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<StartMemory>,
}

/// A program on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramKey {
    /// The name of the executable file, without directories.
    pub program: String,
    /// The build ID of that file, in hexadecimal digits.
    pub build_id: String,
    /// The machine: its processor, cores and contexts, and the contexts that the process may use.
    pub machine: String,
}

/// The measurements of one region, with teams of one default size and work of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegionMemory {
    /// The code of the region: the build ID of its file, `+` and the offset in hexadecimal digits; then
    /// the label of its kernel, if it has one.
    pub region: String,
    /// The name for people, as in reports.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// A hash of the program's arguments in the latest run.
    pub arguments: String,
    /// The threads of the default.
    pub threads: u32,
    /// Whether members are placed, so that configurations have cores and siblings.
    pub placed: bool,
    /// The cost that was minimised: `time`, `energy`, `edp` or `ed2p`.
    pub objective: String,
    /// The cost of an execution at the default; seconds where time was minimised.
    pub default_cost: f64,
    /// The other configurations that were measured, with their costs over the default's.
    pub ratios: Vec<(String, f64)>,
    /// The executions of the latest process.
    pub executions: u64,
    /// The processes that measured it: one a run, or one a rank.
    pub runs: u64,
}

/// The measurements that a process adds to the memory of its program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    /// The program and the machine.
    pub of: ProgramKey,
    /// The region.
    pub region: RegionMemory,
}

impl ProgramKey {
    /// The name of the file of this program and machine, in the directory of memories.
    pub fn file_name(&self) -> String {
        let usual = |byte: &char| byte.is_ascii_alphanumeric() || "._-".contains(*byte);
        let program: String = self.program.chars().filter(usual).take(64).collect();
        let build_id: String =
            self.build_id.chars().filter(char::is_ascii_hexdigit).take(16).collect();
        format!("{program}-{build_id}-{:08x}.json", hash(self.machine.as_bytes()))
    }
}

/// A hash of a program's arguments, which a file that others may read can have.
pub fn hash_of_arguments(arguments: &[u8]) -> String {
    format!("{:08x}", hash(arguments))
}

/// Fowler, Noll and Vo's hash (FNV-1a, 32 bits): a name for a text, the same in every version.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

impl ProgramMemory {
    /// The memory of a program that has none.
    pub fn new(of: ProgramKey) -> ProgramMemory {
        ProgramMemory {
            format: FORMAT.to_owned(),
            version: VERSION,
            of,
            regions: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// Reads the memory of a program on a machine from the directory of memories; an empty one if there
    /// is none.
    ///
    /// # Errors
    /// A line that says what is wrong with the file.
    pub fn read_in(directory: &Path, of: &ProgramKey) -> Result<ProgramMemory, String> {
        ProgramMemory::check(directory)?;
        let path = directory.join(of.file_name());
        match ProgramMemory::read(&path) {
            Ok(Some(memory)) if memory.of == *of => Ok(memory),
            Ok(Some(_)) => Err(format!("{} is of another program or machine", shown_path(&path))),
            Ok(None) => Ok(ProgramMemory::new(of.clone())),
            Err(why) => Err(why),
        }
    }

    /// Checks that no other user may write to a directory of memories. A missing one is no error.
    ///
    /// # Errors
    /// A line that says who may.
    pub fn check(directory: &Path) -> Result<(), String> {
        let refused = |why: &dyn Display| {
            Err(format!("cannot use memories in {}: {why}", shown_path(directory)))
        };
        let about = match std::fs::metadata(directory) {
            Ok(about) => about,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return refused(&error),
        };
        // SAFETY: it only returns a number.
        let user = unsafe { libc::geteuid() };
        if about.uid() != user {
            return refused(&format_args!(
                "user {} owns it; PACMAN_OMP_MEMORY names another directory",
                about.uid()
            ));
        }
        if about.mode() & 0o002 != 0 {
            return refused(
                &"every user may write to it; PACMAN_OMP_MEMORY names another directory",
            );
        }
        Ok(())
    }

    /// Reads a file; `None` if there is none.
    ///
    /// # Errors
    /// A line that says what is wrong with the file.
    pub fn read(path: &Path) -> Result<Option<ProgramMemory>, String> {
        let text = File::open(path).and_then(text_of);
        // The reason may quote the file.
        let wrong = |why: String| {
            Err(format!("{} is not an adaptation memory: {}", shown_path(path), shown(&why)))
        };
        match text {
            Ok(text) => ProgramMemory::from_text(&text).map(Some).or_else(wrong),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == ErrorKind::InvalidData => wrong(error.to_string()),
            Err(error) => Err(format!("cannot read {}: {error}", shown_path(path))),
        }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// A line that says what is wrong with it.
    pub fn from_text(text: &str) -> Result<ProgramMemory, String> {
        let memory: ProgramMemory =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        if memory.format != FORMAT || memory.version != VERSION {
            return Err(format!(
                "it is {:?} of version {}, and this release reads {FORMAT:?} of version {VERSION}",
                memory.format, memory.version
            ));
        }
        let is_cost = |cost: f64| cost.is_finite() && cost > 0.0;
        let wrong = memory.regions.iter().find(|region| {
            !is_cost(region.default_cost) || region.ratios.iter().any(|one| !is_cost(one.1))
        });
        match wrong {
            Some(region) => Err(format!("region {:?} has a cost that is none", region.region)),
            None if memory.starts.iter().all(|start| {
                is_cost(start.cost)
                    && is_cost(start.least)
                    && start.expected.iter().all(|one| is_cost(one.1))
            }) =>
            {
                Ok(memory)
            }
            None => Err("a run has a cost that is none".to_owned()),
        }
    }

    /// The text of a file.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a memory has no odd keys");
        text.push('\n');
        text
    }

    /// Takes the cost of a run with the number of threads that it started with.
    pub fn add_start(&mut self, new: StartMemory) {
        start_memory::add(&mut self.starts, new);
    }

    /// The number of threads to start with, for a run with `arguments`, as [`hash_of_arguments`] has them, whose default
    /// would be `default`. `None` if that is the best one as far as is known.
    pub fn start(&self, arguments: &str, default: u32) -> Option<StartChoice> {
        start_memory::choose(&self.starts, arguments, default)
    }

    /// Takes what a run has measured of a region. It replaces what is known of the same work: with the
    /// same arguments, or with costs of the default that are `alike`.
    ///
    /// Of more kinds of work than a region may have, the oldest is forgotten.
    pub fn add(&mut self, mut new: RegionMemory, alike: impl Fn(f64, f64) -> bool) {
        let is_same = |old: &RegionMemory| {
            let same = old.arguments == new.arguments;
            old.is_of(&new) && (same || alike(old.default_cost, new.default_cost))
        };
        if let Some(at) = self.regions.iter().position(is_same) {
            let old = self.regions.remove(at);
            new.runs = new.runs.saturating_add(old.runs);
        }
        let kinds = self.regions.iter().filter(|old| old.is_of(&new)).count();
        if kinds >= KINDS {
            let oldest = self.regions.iter().position(|old| old.is_of(&new));
            oldest.map(|at| self.regions.remove(at));
        }
        self.regions.push(new);
    }
}

fn text_of(file: File) -> io::Result<String> {
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    match text.len() as u64 > MOST_BYTES {
        true => Err(io::Error::new(ErrorKind::InvalidData, "it has more than 4 MiB")),
        false => Ok(text),
    }
}

impl RegionMemory {
    /// Whether both are of one region, with the same default and objective.
    pub fn is_of(&self, other: &RegionMemory) -> bool {
        let key = |one: &RegionMemory| (one.threads, one.placed);
        key(self) == key(other) && self.region == other.region && self.objective == other.objective
    }

    /// The configuration with the least cost, and its cost over the default's; `None` if that is the
    /// default.
    pub fn best(&self) -> Option<(&str, f64)> {
        let least = self.ratios.iter().min_by(|one, other| one.1.total_cmp(&other.1))?;
        (least.1 < 1.0).then_some((least.0.as_str(), least.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> ProgramKey {
        ProgramKey {
            program: "cg.W".into(),
            build_id: "0123456789abcdef0123".into(),
            machine: "foobar".into(),
        }
    }

    fn region(default_cost: f64) -> RegionMemory {
        RegionMemory {
            region: "0123+0x40".into(),
            name: String::new(),
            arguments: default_cost.to_string(),
            threads: 4,
            placed: false,
            objective: "time".into(),
            default_cost,
            ratios: vec![("2".into(), 0.7), ("1".into(), 0.9)],
            executions: 30,
            runs: 1,
        }
    }

    fn alike(one: f64, other: f64) -> bool {
        (one / other).ln().abs() < 0.2
    }

    #[test]
    fn the_name_of_the_file_is_safe_and_differs_by_machine() {
        assert_eq!(key().file_name(), "cg.W-0123456789abcdef-bf9cf968.json");
        let odd = ProgramKey { program: "../a b\n".into(), build_id: "/x".into(), ..key() };
        assert_eq!(odd.file_name(), "..ab--bf9cf968.json");
        let other = ProgramKey { machine: "another".into(), ..key() };
        assert_ne!(other.file_name(), key().file_name());
    }

    #[test]
    fn a_run_replaces_what_is_known_of_the_same_work() {
        let mut memory = ProgramMemory::new(key());
        for cost in [1.0, 1.1, 5.0, 1.05] {
            memory.add(region(cost), alike);
        }
        memory.add(RegionMemory { arguments: "5".into(), ..region(50.0) }, alike);
        let known: Vec<_> = memory.regions.iter().map(|one| (one.default_cost, one.runs)).collect();
        assert_eq!(known, [(1.05, 3), (50.0, 2)], "by cost, and by arguments");
        memory.add(RegionMemory { threads: 2, ..region(1.05) }, alike);
        assert_eq!(memory.regions.len(), 3, "another team is another matter");
        assert_eq!(memory.regions[0].best(), Some(("2", 0.7)));
        let text = memory.to_text();
        assert_eq!(ProgramMemory::from_text(&text), Ok(memory));
    }

    #[test]
    fn the_oldest_kind_of_work_is_forgotten() {
        let mut memory = ProgramMemory::new(key());
        (0..20).for_each(|power| memory.add(region(2f64.powi(power)), alike));
        let known: Vec<_> = memory.regions.iter().map(|one| one.default_cost.log2()).collect();
        assert_eq!(known, (12..20).map(f64::from).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_no_memory_is_refused_in_a_line() {
        let text = |edit: fn(&mut ProgramMemory)| {
            let mut memory = ProgramMemory::new(key());
            memory.add(region(1.0), alike);
            memory.add_start(StartMemory {
                arguments: "1".into(),
                threads: 4,
                cost: 1e-3,
                least: 1e-3,
                expected: vec![(1, 0.5)],
                runs: 1,
                others: Some(0.5),
                others_at_least: None,
            });
            edit(&mut memory);
            memory.to_text()
        };
        let cases = [
            (text(|memory| memory.version = 2), "this release reads"),
            (text(|memory| memory.format = "other".into()), "this release reads"),
            (text(|memory| memory.regions[0].ratios[0].1 = -1.0), "a cost that is none"),
            (text(|memory| memory.regions[0].default_cost = 0.0), "a cost that is none"),
            (text(|memory| memory.starts[0].cost = f64::INFINITY), "expected f64"),
            (text(|memory| memory.starts[0].expected[0].1 = 0.0), "a cost that is none"),
            (text(|memory| memory.starts[0].least = -1.0), "a cost that is none"),
            (text(|_| ()).replace("\"threads\"", "\"x\""), "unknown field"),
            (text(|_| ())[..40].to_owned(), "EOF"),
            (String::new(), "EOF"),
        ];
        for (text, why) in cases {
            let error = ProgramMemory::from_text(&text).unwrap_err();
            assert!(error.contains(why) && !error.contains('\n'), "{error}");
        }
    }
}
