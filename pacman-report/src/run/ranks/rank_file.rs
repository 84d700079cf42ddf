//! The file of one rank: a line about its run, and a line for each recording.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use pacman_core::Provenance;
use pacman_regions::{Rank, Recording};
use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::quota::GroupAccount;
use crate::run::report::{Ended, Run, RunEnergy};

/// The ending of the file of a rank.
pub const EXTENSION: &str = "recordings";

const FORMAT: &str = "pacman-rank";
const VERSION: u32 = 2;

/// The run of one rank, without its recordings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RankRun {
    format: String,
    version: u32,
    /// The rank, and the number of ranks if the launcher tells it.
    pub rank: Rank,
    /// The launcher's name of the job, if it gives one.
    pub job: Option<String>,
    command: Vec<String>,
    #[serde(default)]
    label: Option<String>,
    exit_status: u8,
    signal: Option<i32>,
    /// Seconds since 1970.
    pub began: f64,
    time_s: f64,
    objective: Option<String>,
    simulated: Option<String>,
    energy: Option<RunEnergy>,
    /// The account of its control group, if that has a quota.
    #[serde(default)]
    pub quota: Option<GroupAccount>,
    made_by: String,
    /// The host.
    pub host: String,
    processor: Option<String>,
    system: String,
}

impl RankRun {
    /// Of one rank.
    pub fn of(run: &Run, rank: Rank, job: Option<String>) -> RankRun {
        let Provenance { version, host, processor, system, began, .. } = run.provenance.clone();
        RankRun {
            format: FORMAT.into(),
            version: VERSION,
            rank,
            job,
            command: run.command.clone(),
            label: run.label.clone(),
            exit_status: run.ended.exit.status(),
            signal: run.ended.exit.signal(),
            began: began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            time_s: run.ended.seconds,
            objective: run.objective.clone(),
            simulated: run.simulated.clone(),
            energy: run.energy.clone(),
            quota: run.quota.clone(),
            made_by: version,
            host,
            processor,
            system,
        }
    }

    /// The end of the program, in seconds since 1970.
    pub fn end(&self) -> f64 {
        self.began + self.time_s
    }

    /// The end of the program.
    pub fn exit(&self) -> Exit {
        self.signal.map_or(Exit::Status(self.exit_status), Exit::Signal)
    }

    /// The facts of which a report is made.
    pub fn into_run(self) -> Run {
        let time = |seconds| {
            SystemTime::UNIX_EPOCH + Duration::try_from_secs_f64(seconds).unwrap_or_default()
        };
        let mut provenance = Provenance::here(None, time(self.began));
        let ended = Ended {
            pid: 0,
            exit: self.exit(),
            seconds: self.time_s,
            at: time(self.end()),
            scheduling: None,
        };
        (provenance.version, provenance.host) = (self.made_by, self.host);
        (provenance.processor, provenance.system) = (self.processor, self.system);
        Run {
            command: self.command,
            label: self.label,
            ended,
            provenance,
            objective: self.objective,
            simulated: self.simulated,
            energy: self.energy,
            quota: self.quota,
        }
    }

    /// The text of a file.
    pub fn text(&self, recordings: &[Recording]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        serde_json::to_writer(&mut text, self)?;
        for recording in recordings {
            text.push(b'\n');
            serde_json::to_writer(&mut text, recording)?;
        }
        text.write_all(b"\n")?;
        Ok(text)
    }
}

/// A rank's file that is being read: one recording is in memory at a time.
pub struct RankReader {
    lines: io::Split<BufReader<File>>,
    /// The facts before the recordings.
    pub run: RankRun,
}

impl RankReader {
    /// Opens the file and reads about the run. An error says what is wrong with the file.
    pub fn open(path: &Path) -> Result<RankReader, String> {
        let file = File::open(path).map_err(|error| error.to_string())?;
        let mut lines = BufReader::new(file).split(b'\n');
        let first = lines.next().unwrap_or_else(|| Ok(Vec::new()));
        let first = first.map_err(|error| error.to_string())?;
        let run: RankRun =
            serde_json::from_slice(&first).map_err(|_| "is not the file of a rank".to_owned())?;
        if run.format != FORMAT || run.version != VERSION {
            return Err(format!("has {} {}, not {FORMAT} {VERSION}", run.format, run.version));
        }
        Ok(RankReader { lines, run })
    }
}

impl Iterator for RankReader {
    type Item = Result<Recording, String>;

    fn next(&mut self) -> Option<Result<Recording, String>> {
        let line = match self.lines.next()? {
            Ok(line) => line,
            Err(error) => return Some(Err(error.to_string())),
        };
        Some(
            serde_json::from_slice(&line)
                .map_err(|error| format!("has a damaged recording: {error}")),
        )
    }
}
