//! What one process did in its parallel regions.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The version of the format; a reader refuses others.
pub const VERSION: u32 = 1;

/// All regions of one process, from the loading of the library to its exit.
///
/// Times are in seconds of wall time; counts are user-mode counts of the thread itself
/// unless the event says otherwise, never its sibling's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// [`VERSION`] of who wrote it.
    pub version: u32,
    /// Who ran.
    pub process: Process,
    /// The OpenMP runtimes that were met.
    pub runtimes: Vec<Runtime>,
    /// How many threads a region has by default (`omp_get_max_threads` at the first region).
    pub threads: u32,
    /// Hardware contexts that the process might use at the first region.
    pub contexts: u32,
    /// What was counted, in the order of every [`Row::counts`].
    pub events: Vec<Event>,
    /// What a count costs, measured in this process.
    pub overhead: Overhead,
    /// Every region, in the order of first execution.
    pub regions: Vec<Region>,
    /// When regions ran.
    pub timeline: Timeline,
    /// What the reader should know: one line each.
    pub notes: Vec<String>,
}

/// The process that was observed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The number of the process that started it.
    pub parent: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// From the loading of the library to the recording.
    pub seconds: f64,
    /// How it came to its end.
    pub ending: Ending,
}

/// Where the process was when the recording was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Outside of regions.
    Exit,
    /// Inside a region: executions under way are not in the rows.
    ExitInRegion,
    /// Replaced by another program.
    Exec,
}

/// An OpenMP runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// Whose it is.
    pub family: RuntimeFamily,
    /// The file.
    pub path: PathBuf,
    /// What it says of itself, where it does.
    pub version: Option<String>,
}

/// Whose OpenMP runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeFamily {
    /// GCC's.
    Libgomp,
    /// LLVM's and Intel's.
    Libomp,
}

/// An event that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// As it was asked for.
    pub name: String,
    /// Why it was not counted, if it was not; every row has no count of it then.
    pub uncounted: Option<String>,
}

/// What observing costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// Nanoseconds that a begin and an end take on one thread, a median measured in this process
    /// when it was first needed; `None` if no region ran.
    pub nanoseconds: Option<f64>,
    /// How counts are read: `rdpmc`, `read`, `none`.
    pub reads: String,
}

/// A parallel region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Where its code is.
    pub site: Site,
    /// The runtime's entry that starts it, as `GOMP_parallel`.
    pub entry: String,
    /// Which of [`Recording::runtimes`] ran it.
    pub runtime: usize,
    /// How often it ran, and ended.
    pub executions: u64,
    /// How many of these were inside another region.
    pub nested: u64,
    /// Sum over executions, from before the team starts to after it ended, on the thread that
    /// started it.
    pub seconds: f64,
    /// The shortest execution.
    pub shortest: f64,
    /// The longest execution.
    pub longest: f64,
    /// The sizes that its teams had.
    pub teams: Vec<Team>,
    /// What each thread of the team did, by its number in the team.
    pub rows: Vec<Row>,
    /// What adaptation did with it; `None` if only observed.
    pub adaptation: Option<Adaptation>,
}

/// The code of a region: of the function that the compiler made of its body, or, where OMPT told of
/// it, of the call that starts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The file that has it; empty for code outside of any file.
    pub module: PathBuf,
    /// Its address as the file's symbol table has it (less the address that the module was
    /// loaded at, if the module can be loaded anywhere).
    pub address: u64,
    /// What the compiler left beside the call: `;file;function;line;column;;` of LLVM.
    pub source: Option<String>,
}

/// Executions with a team of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Team {
    /// Threads that took part.
    pub threads: u32,
    /// How many executions.
    pub executions: u64,
    /// Their time.
    pub seconds: f64,
}

/// What one thread of the team did in a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its number in the team.
    pub thread: u32,
    /// How often it took part.
    pub executions: u64,
    /// Time inside the body, waiting at barriers inside included; the wait for the others at
    /// the end of the region is not.
    pub seconds: f64,
    /// The hardware context that it was on when that was looked at last: the first time it takes
    /// part, and every 16th time after that.
    pub cpu: Option<u32>,
    /// How often it was found on another context than when looked at before.
    pub moves: u64,
    /// Executions with counts: fewer than `executions` where a read failed.
    pub counted: u64,
    /// What each event counted over these, by [`Recording::events`]; `None` if it was not.
    pub counts: Vec<Option<u64>>,
}

/// What the controller did with a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adaptation {
    /// What the controller was at when the process ended.
    pub state: String,
    /// Threads it would run with next.
    pub threads: u32,
    /// Its configuration, as `2x1`.
    pub configuration: String,
    /// Why, in one line.
    pub why: String,
    /// Executions on fewer threads than without adaptation.
    pub narrowed: u64,
    /// Seconds that the controller reckons it gained (below 0: lost) against the default.
    pub gained: Option<f64>,
    /// Guards that acted.
    pub guards: Vec<Guarded>,
    /// Loops inside it that got threads of their own number.
    pub loops: Vec<Loop>,
}

/// A guard that kept a region as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guarded {
    /// The guard's word, as `--lift` takes it.
    pub guard: String,
    /// What it saw, in one line.
    pub why: String,
    /// How many executions it decided.
    pub executions: u64,
}

/// A stretch of worksharing loops between two barriers of a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loop {
    /// Where: the first loop's `;file;function;line;column;;`, or its address.
    pub source: String,
    /// How often it ran.
    pub executions: u64,
    /// Threads that get iterations, at the end.
    pub threads: u32,
    /// Why, in one line; also why it cannot be adapted.
    pub why: String,
}

/// When regions ran: bins of equal length over the life of the process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Length of a bin in seconds.
    pub bin: f64,
    /// A row for each region that ran outside of others, by its index in [`Recording::regions`].
    pub rows: Vec<TimelineRow>,
}

/// A region over time. Both lists are as long as the process lived in bins, or shorter: what is
/// missing at the end is 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimelineRow {
    /// Which of [`Recording::regions`].
    pub region: usize,
    /// Seconds of each bin during which it ran.
    pub seconds: Vec<f64>,
    /// The same times the size of the team: divided by `seconds` it is how wide the region was.
    pub thread_seconds: Vec<f64>,
}

impl Recording {
    /// Writes it to a file of this process's own in `directory`, whole or not at all.
    ///
    /// # Errors
    /// What the file system says.
    pub fn leave_in(&self, directory: &Path) -> io::Result<PathBuf> {
        // A process may replace itself by another program, which then records under the same pid.
        let mut turn = 0;
        let path = loop {
            let path = directory.join(format!("{}-{turn}.json", self.process.pid));
            if !path.exists() {
                break path;
            }
            turn += 1;
        };
        self.leave_at(&path)?;
        Ok(path)
    }

    /// Writes it to that file, whole or not at all.
    ///
    /// # Errors
    /// What the file system says.
    pub fn leave_at(&self, path: &Path) -> io::Result<()> {
        let partial = path.with_extension("partial");
        let mut file = io::BufWriter::new(std::fs::File::create(&partial)?);
        serde_json::to_writer(&mut file, self)?;
        file.flush()?;
        std::fs::rename(&partial, path)
    }

    /// All recordings in `directory`, by process, and a line for each file that is none.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn found_in(directory: &Path) -> io::Result<(Vec<Recording>, Vec<String>)> {
        let (mut found, mut wrong) = (Vec::new(), Vec::new());
        let mut paths: Vec<PathBuf> = std::fs::read_dir(directory)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<_>>()?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        for path in paths {
            match Recording::from_file(&path) {
                Ok(recording) => found.push(recording),
                Err(problem) => wrong.push(format!("{}: {problem}", path.display())),
            }
        }
        found.sort_by_key(|recording| recording.process.pid);
        Ok((found, wrong))
    }

    fn from_file(path: &Path) -> Result<Recording, String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let recording: Recording =
            serde_json::from_str(&text).map_err(|error| format!("is no recording: {error}"))?;
        if recording.version != VERSION {
            return Err(format!("has version {}, not {VERSION}", recording.version));
        }
        Ok(recording)
    }
}
