//! One report on all ranks.
//!
//! One recording is in memory at a time. Text and page show the first ranks in full, and all at a glance;
//! JSON and CSV have everything.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pacman_events::plural;
use pacman_events::shown::shown_path;
use pacman_events::{Error, ErrorKind, Result};

use super::groups::Groups;
use super::rank_file::{EXTENSION, RankReader, RankRun};
use crate::exit::Exit;
use crate::run::csv;
use crate::run::form::Form;
use crate::run::names::Names;
use crate::run::report::{Column, Overview, ProcessReport, Report, Run, named_ranks};

/// The files of one run, by rank.
#[derive(Debug)]
pub struct Ranks {
    files: Vec<RankPath>,
}

#[derive(Debug)]
struct RankPath {
    path: PathBuf,
    run: RankRun,
}

/// The report on all ranks.
pub struct Merged {
    /// The report, with the first ranks in full.
    pub report: Report,
    /// Of all ranks.
    events: Vec<Column>,
    /// A line about each damaged recording.
    pub damaged: Vec<String>,
    ranks: Ranks,
    names: Names,
    groups: Groups,
}

impl Ranks {
    /// The files of the latest run in a directory, with a line for each other file, and for ranks that are missing.
    ///
    /// # Errors
    /// If it cannot be read, or no file is of a rank.
    pub fn found_in(directory: &Path) -> Result<(Ranks, Vec<String>)> {
        let shown = shown_path(directory);
        let bad = |line: String| Error::new(ErrorKind::InvalidInput, line);
        let unread = |error: std::io::Error| bad(format!("cannot read {shown}: {error}"));
        let (mut files, mut wrong) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(directory).map_err(unread)? {
            let path = entry.map_err(unread)?.path();
            if path.extension() == Some(OsStr::new(EXTENSION)) {
                match RankReader::open(&path) {
                    Ok(reader) => files.push(RankPath { path, run: reader.run }),
                    Err(why) => wrong.push(format!("{} {why}", shown_path(&path))),
                }
            }
        }
        let Some(latest) =
            files.iter().max_by(|one, other| one.run.began.total_cmp(&other.run.began))
        else {
            let why =
                wrong.first().map_or_else(|| "it has no recording of a rank".into(), String::clone);
            return Err(bad(format!("cannot merge {shown}: {why}")));
        };
        let run = (latest.run.job.clone(), latest.run.rank.ranks);
        files.retain(|file| {
            let is_own = (&file.run.job, file.run.rank.ranks) == (&run.0, run.1);
            if !is_own {
                wrong.push(format!("{} is of another run", shown_path(&file.path)));
            }
            is_own
        });
        let left_out = wrong.iter().map(|line| format!("a recording is left out: {line}"));
        let mut lines: Vec<String> = left_out.collect();
        files.sort_by_key(|file| file.run.rank.rank);
        let there: BTreeSet<u32> = files.iter().map(|file| file.run.rank.rank).collect();
        let missing = (0..run.1.unwrap_or(0)).filter(|rank| !there.contains(rank));
        let missing: Vec<u32> = missing.collect();
        if !missing.is_empty() {
            let is = plural::is(missing.len());
            let missing = named_ranks(missing);
            lines.push(format!("{missing} {is} missing in {shown} and in the report"));
        }
        Ok((Ranks { files }, lines))
    }

    /// The report.
    pub fn merged(self) -> Merged {
        let mut names = Names::default();
        let (mut kept, mut left_out) = (Vec::new(), 0);
        let (mut overview, mut events) = (Overview::default(), Vec::<Column>::new());
        let mut damaged = Vec::new();
        let mut groups = Groups::of(self.files.iter().map(|file| &file.run));
        for mut process in self.processes(&mut names, &mut damaged) {
            groups.add(&process);
            process.throttled = groups.throttled(&process);
            overview.add(&process);
            process.columns.events.iter().for_each(|event| csv::add(&mut events, event));
            if kept.len() < KEPT {
                kept.push(process);
            } else {
                left_out += 1;
            }
        }
        let notes = std::mem::take(&mut names.notes);
        let mut report = Report::with(self.run(), kept, overview.finished(), notes);
        report.busy.splice(0..0, groups.lines());
        report.notes.extend(self.failed());
        report.left_out = left_out;
        Merged { report, events, damaged, ranks: self, names, groups }
    }

    /// The processes of all ranks, one at a time.
    fn processes<'a>(
        &'a self,
        names: &'a mut Names,
        damaged: &'a mut Vec<String>,
    ) -> impl Iterator<Item = ProcessReport> + 'a {
        let recordings = self.files.iter().flat_map(|file| {
            let open = RankReader::open(&file.path);
            let (reader, error) = match open {
                Ok(reader) => (Some(reader), None),
                Err(error) => (None, Some(Err(error))),
            };
            reader.into_iter().flatten().chain(error).map(move |recording| (file, recording))
        });
        recordings.filter_map(move |(file, recording)| match recording {
            Ok(mut recording) => {
                recording.process.host.get_or_insert_with(|| file.run.host.clone());
                recording.process.rank.get_or_insert(file.run.rank);
                let run = file.run.clone().into_run();
                Some(ProcessReport::of(&recording, names, run.energy.as_ref()))
            }
            Err(why) => {
                damaged.push(format!("{} {why}", shown_path(&file.path)));
                None
            }
        })
    }

    /// The whole run: from the first begin to the last end, on the host of the first rank.
    fn run(&self) -> Run {
        let began = self.files.iter().map(|file| file.run.began).fold(f64::INFINITY, f64::min);
        let end = self.files.iter().map(|file| file.run.end()).fold(0.0, f64::max);
        let mut run = self.files[0].run.clone().into_run();
        run.ended.seconds = end - began;
        // Energy is of a host. Ranks of one host read the same packages.
        run.energy = None;
        // So is a quota, which has lines of its own.
        run.quota = None;
        let mut exits = self.files.iter().map(|file| file.run.exit());
        run.ended.exit = exits.find(|exit| *exit != Exit::Status(0)).unwrap_or(Exit::Status(0));
        run
    }

    /// A line for each rank that failed.
    fn failed(&self) -> impl Iterator<Item = String> + '_ {
        let failed = self.files.iter().filter(|file| file.run.exit() != Exit::Status(0));
        failed.map(|file| format!("rank {}: {}", file.run.rank.rank, file.run.exit()))
    }
}

impl Merged {
    /// Writes the processes of all ranks, one after the other.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn stream(&mut self, form: Form, out: &mut impl Write) -> io::Result<()> {
        let Merged { report, events, ranks, names, groups, .. } = self;
        // The report's lines name the faults.
        let mut damaged = Vec::new();
        let processes = ranks.processes(names, &mut damaged).map(|mut process| {
            process.throttled = groups.throttled(&process);
            process
        });
        form.stream(report, processes, events, out)
    }
}

/// Ranks that text and page show in full.
const KEPT: usize = 16;
