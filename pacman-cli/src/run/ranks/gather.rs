//! The directory of a run whose launcher starts one command for each rank.
//!
//! Each command has a [`Claim`] on the file `rank-N.running` while it runs, and writes `rank-N.recordings`
//! at its end. The command that finds the files of all ranks merges them. So a command that ends knows of
//! each other rank whether it has ended, runs, was killed, or never began: if none is left that can merge,
//! the command says so. Commands that begin or merge take turns by a claim on the file `turn`.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use pacman_core::atomic_write;
use pacman_events::shown::shown_path;
use pacman_regions::{Rank, Recording};
use serde::{Deserialize, Serialize};

use super::claim::{self, Claim, Hold};
use crate::error::{self, CliError, CliResult};
use pacman_report::run::ranks::{EXTENSION as FILE_EXTENSION, RankReader, RankRun};
use pacman_report::run::{Run, named_ranks};

/// The directory, and the place of this command in it.
#[derive(Debug)]
pub(in crate::run) struct Gathering {
    directory: PathBuf,
    /// The report that was asked for.
    output: PathBuf,
    rank: u32,
    /// `None` if the launcher does not say it.
    ranks: Option<u32>,
    job: String,
    /// Others see by it that this command runs.
    _running: Claim,
}

/// The contents of the file that a command holds while it runs.
#[derive(Debug, Serialize, Deserialize)]
struct Begun {
    job: String,
    ranks: Option<u32>,
    /// Whether the launcher named the job.
    named: bool,
}

/// The end of one rank in a directory.
#[derive(Debug)]
pub(in crate::run) enum Gathered {
    /// All ranks are there: this command merges them.
    Whole(Turn),
    /// Another command merges, or will.
    Elsewhere,
}

/// The right to merge a directory, which ends with the value or the process.
#[derive(Debug)]
pub(in crate::run) struct Turn {
    pub(super) directory: PathBuf,
    _claim: Option<Claim>,
}

/// The state of another rank.
#[derive(Debug, PartialEq, Eq)]
enum Other {
    Ended,
    Runs,
    Killed,
    NotBegun,
}

impl Gathering {
    /// The directory for a report in the file `output`; `None` if no launcher started this command as one
    /// of several ranks.
    ///
    /// # Errors
    /// If the directory cannot be made, is not this user's alone, or another run writes to it.
    pub(in crate::run) fn begin(output: &Path) -> CliResult<Option<Gathering>> {
        let get = |name: &str| std::env::var_os(name);
        let Some(Rank { rank, ranks }) = Rank::read(get).filter(|rank| rank.ranks != Some(1))
        else {
            return Ok(None);
        };
        let directory = directory_of(output);
        let begun = begin(&directory, rank, ranks, Rank::job(get)).map_err(|error| {
            CliError::BadInput(format!(
                "cannot use {} for the recordings of rank {rank}: {error}; name a report elsewhere \
                 with -o",
                shown_path(&directory)
            ))
        })?;
        let (running, job) = begun;
        if !running.is_locked {
            error::complain(format!(
                "{} is on a file system without locks: if a rank on another host is killed, only \
                 pacman-pmu merge writes the report",
                shown_path(&directory)
            ));
        }
        let output = output.to_path_buf();
        Ok(Some(Gathering { directory, output, rank, ranks, job, _running: running }))
    }

    /// Writes the file of this rank.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(in crate::run) fn write(&self, run: &Run, recordings: &[Recording]) -> CliResult<()> {
        let rank = Rank { rank: self.rank, ranks: self.ranks };
        let text = RankRun::of(run, rank, Some(self.job.clone())).text(recordings);
        let name = recordings_of(self.rank);
        text.and_then(|text| atomic_write::write_in(&self.directory, &name, &text)).map_err(
            |error| {
                let path = self.directory.join(&name);
                CliError::Unwritable(format!(
                    "cannot write the recordings of rank {} to {}: {error}; its report went to \
                     standard error",
                    self.rank,
                    shown_path(&path)
                ))
            },
        )
    }

    /// The rank that merges, after the file of this one was written.
    ///
    /// Some launchers kill the commands of all ranks once the program of one has `failed`: then nobody is left to say
    /// that no report is written. So this rank says how to get one.
    ///
    /// # Errors
    /// If nobody is left to write the report.
    pub(in crate::run) fn finish(self, failed: bool) -> CliResult<Gathered> {
        let gathered = self.gathered();
        if failed && matches!(gathered, Ok(Gathered::Elsewhere)) && self.directory.exists() {
            let [output, directory] = [&self.output, &self.directory].map(|path| shown_path(path));
            error::complain(format!(
                "rank {} failed, and others run; if the launcher kills their commands, {output} is not \
                 written, and pacman-pmu merge {directory} -o {output} writes it",
                self.rank
            ));
        }
        gathered.map_err(|why| {
            let [output, directory] = [&self.output, &self.directory].map(|path| shown_path(path));
            CliError::Unwritable(format!(
                "the report {output} is not written: {why}; pacman-pmu merge {directory} writes a \
                 report on the other ranks"
            ))
        })
    }

    /// Whether this command is to merge. An error says why nobody will.
    fn gathered(&self) -> Result<Gathered, String> {
        let Some(ranks) = self.ranks else {
            return Err("the launcher does not say how many ranks there are".into());
        };
        let deadline = Instant::now() + BEGINS_WITHIN;
        loop {
            let turn = match Claim::wait(&self.directory.join(TURN)) {
                // Another command has merged the files, this rank's among them, and removed them.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Gathered::Elsewhere);
                }
                turn => turn.map_err(|error| error.to_string())?,
            };
            if !self.directory.join(recordings_of(self.rank)).exists() {
                return Ok(Gathered::Elsewhere);
            }
            // Most others still run. If the next ones are asked first, few are asked.
            let others = (1..ranks).map(|next| (self.rank + next) % ranks);
            let (mut killed, mut not_begun) = (BTreeSet::new(), BTreeSet::new());
            for other in others {
                match self.state_of(other).map_err(|error| error.to_string())? {
                    Other::Ended => {}
                    Other::Runs => return Ok(Gathered::Elsewhere),
                    Other::Killed => drop(killed.insert(other)),
                    Other::NotBegun => drop(not_begun.insert(other)),
                }
            }
            if killed.is_empty() && not_begun.is_empty() {
                return self.turn(turn);
            }
            // A launcher may start this rank's short program before it starts the next command.
            if killed.is_empty() && Instant::now() < deadline {
                drop(turn);
                thread::sleep(LOOKS_EVERY);
                continue;
            }
            let all = [(killed, "was killed"), (not_begun, "did not begin")];
            let parts = all.into_iter().filter(|(ranks, _)| !ranks.is_empty());
            let parts: Vec<String> =
                parts.map(|(ranks, what)| format!("{} {what}", named_ranks(ranks))).collect();
            return Err(parts.join(", and "));
        }
    }

    /// The turn to merge, for which a file system without locks needs a file.
    fn turn(&self, turn: Option<Claim>) -> Result<Gathered, String> {
        let directory = self.directory.clone();
        let claim = match turn {
            Some(claim) => claim,
            None => match Claim::take(&directory.join(TURN)).map_err(|error| error.to_string())? {
                Ok(mut claim) => {
                    claim.say(()).map(|()| claim).map_err(|error| error.to_string())?
                }
                Err(Hold::Held) => return Ok(Gathered::Elsewhere),
                Err(_) => {
                    return Err("a command on another host merges the ranks, or was killed".into());
                }
            },
        };
        Ok(Gathered::Whole(Turn { directory, _claim: Some(claim) }))
    }

    fn state_of(&self, other: u32) -> io::Result<Other> {
        if let Ok(file) = RankReader::open(&self.directory.join(recordings_of(other))) {
            let (job, ranks) = (file.run.job.as_deref(), file.run.rank.ranks);
            if (job, ranks) == (Some(&self.job), self.ranks) {
                return Ok(Other::Ended);
            }
        }
        let seen = claim::seen::<Begun>(&self.directory.join(running(other)))?;
        Ok(match seen {
            Some((Hold::Held | Hold::Unknown, _)) => Other::Runs,
            Some((Hold::None, Some(begun))) if begun.job == self.job => Other::Killed,
            _ => Other::NotBegun,
        })
    }
}

/// Takes the place of the rank in the directory. Answers the name of the job.
fn begin(
    directory: &Path,
    rank: u32,
    ranks: Option<u32>,
    job: Option<String>,
) -> io::Result<(Claim, String)> {
    let turn = loop {
        prepare(directory)?;
        match Claim::wait(&directory.join(TURN)) {
            // The last command of an earlier run has just removed the directory.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            turn => break turn?,
        }
    };
    let busy = |why: &str| Err(io::Error::new(io::ErrorKind::ResourceBusy, why.to_owned()));
    let Ok(mut claim) = Claim::take(&directory.join(running(rank)))? else {
        return busy("another command writes those of this rank");
    };
    let named = job.is_some();
    let other = one_alive(directory, rank)?;
    let job = match (job, &other) {
        (Some(job), _) => job,
        // Without locks, two commands that begin at once cannot see each other.
        (None, _) if turn.is_none() => {
            let why = "the launcher names no job, and the file system has no locks";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        // Ranks of a job without a name have the name that the first of them made.
        (None, Some(other)) if !other.named => other.job.clone(),
        (None, _) => fresh_name(),
    };
    if other.as_ref().is_some_and(|other| (&other.job, other.ranks) != (&job, ranks)) {
        return busy("another run writes to it");
    }
    let own = directory.join(recordings_of(rank));
    let has_ended = RankReader::open(&own).is_ok_and(|own| own.run.job.as_deref() == Some(&job));
    if has_ended && other.is_some() {
        return busy("this rank has ended already, and others of its run go on");
    }
    match fs::remove_file(&own) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    claim.say(Begun { job: job.clone(), ranks, named })?;
    Ok((claim, job))
}

/// A command of another rank that runs.
fn one_alive(directory: &Path, rank: u32) -> io::Result<Option<Begun>> {
    let own = running(rank);
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if path.extension().is_none_or(|ending| ending != RUNNING) || name == own.as_str() {
            continue;
        }
        if let Some((Hold::Held | Hold::Unknown, Some(begun))) = claim::seen(&path)? {
            return Ok(Some(begun));
        }
    }
    Ok(None)
}

/// Makes the directory, or looks whether it is this user's alone.
fn prepare(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    let about = match fs::symlink_metadata(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return prepare(directory),
        about => about?,
    };
    // SAFETY: takes nothing.
    let own = about.uid() == unsafe { libc::geteuid() };
    if !about.is_dir() || !own || about.mode() & 0o022 != 0 {
        let why = "it is not a directory that only this user can write to";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

/// A name that no other job has.
fn fresh_name() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let place = claim::place();
    format!("{place} {} {}", std::process::id(), now.unwrap_or_default().as_nanos())
}

/// The directory beside the report.
fn directory_of(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".");
    name.push(EXTENSION);
    name.into()
}

pub(super) fn recordings_of(rank: u32) -> String {
    format!("rank-{rank}.{FILE_EXTENSION}")
}

pub(super) fn running(rank: u32) -> String {
    format!("rank-{rank}.{RUNNING}")
}

/// The file name extension of directories of ranks.
pub(super) const EXTENSION: &str = "ranks";
/// The file name extension of the file that the command of a rank has while it runs.
pub(super) const RUNNING: &str = "running";
/// The file that a command has while it begins or merges.
pub(super) const TURN: &str = "turn";
/// The longest time between the begins of two ranks that a command waits for. A program that waits for
/// the other ranks, as in `MPI_Init`, does not need it.
const BEGINS_WITHIN: Duration = Duration::from_secs(2);
const LOOKS_EVERY: Duration = Duration::from_millis(20);
