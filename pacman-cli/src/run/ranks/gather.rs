//! The directory of a run whose launcher starts one command for each rank.
//!
//! Each command writes the file of its rank. The command that finds the files of all ranks merges them;
//! if two find them at once, the directory `merging` decides. A command removes an older file of its rank
//! before its program starts.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use pacman_core::atomic_write;
use pacman_events::shown::shown_path;
use pacman_regions::{Rank, Recording};

use super::rank_file::{RankReader, RankRun};
use crate::error::{CliError, CliResult};
use crate::run::report::Run;

/// The directory, and the place of this command in it.
#[derive(Debug)]
pub(in crate::run) struct Gathering {
    directory: PathBuf,
    rank: u32,
    ranks: u32,
    job: Option<String>,
}

impl Gathering {
    /// The directory for a report in the file `output`; `None` if no launcher started this command as one
    /// of several ranks.
    ///
    /// # Errors
    /// If the directory cannot be made, or is not this user's alone.
    pub(in crate::run) fn begin(output: &Path) -> CliResult<Option<Gathering>> {
        let Some(Rank { rank, ranks: Some(ranks @ 2..) }) =
            Rank::read(|name| std::env::var_os(name))
        else {
            return Ok(None);
        };
        let directory = directory_of(output);
        let gathering = Gathering { rank, ranks, job: job(), directory };
        gathering.prepare().map_err(|error| {
            CliError::BadInput(format!(
                "cannot use {} for the recordings of {ranks} ranks: {error}",
                shown_path(&gathering.directory)
            ))
        })?;
        Ok(Some(gathering))
    }

    fn prepare(&self) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        let about = fs::symlink_metadata(&self.directory)?;
        // SAFETY: takes nothing.
        let own = about.uid() == unsafe { libc::geteuid() };
        if !about.is_dir() || !own || about.mode() & 0o022 != 0 {
            let why = "it is not a directory that only this user can write to";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        match fs::remove_file(self.directory.join(name(self.rank))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes the file of this rank. Answers the directory if this command is to merge it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(in crate::run) fn finish(
        self,
        run: &Run,
        recordings: &[Recording],
    ) -> CliResult<Option<PathBuf>> {
        let rank = Rank { rank: self.rank, ranks: Some(self.ranks) };
        let text = RankRun::of(run, rank, self.job.clone()).text(recordings);
        let name = name(self.rank);
        text.and_then(|text| atomic_write::write_in(&self.directory, &name, &text)).map_err(
            |error| {
                let path = self.directory.join(&name);
                CliError::Unwritable(format!(
                    "cannot write the recordings of rank {} to {}: {error}",
                    self.rank,
                    shown_path(&path)
                ))
            },
        )?;
        let is_last = self.is_whole() && fs::create_dir(self.directory.join(MERGING)).is_ok();
        Ok(is_last.then_some(self.directory))
    }

    /// Whether the files of all ranks of this job are there.
    fn is_whole(&self) -> bool {
        let paths = || (0..self.ranks).map(|rank| self.directory.join(name(rank)));
        // Names first: only the last commands read all files.
        paths().all(|path| path.exists())
            && paths().all(|path| {
                let file = RankReader::open(&path);
                file.is_ok_and(|file| {
                    (file.run.job, file.run.rank.ranks) == (self.job.clone(), Some(self.ranks))
                })
            })
    }
}

/// The directory beside the report.
fn directory_of(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".");
    name.push(EXTENSION);
    name.into()
}

/// The launcher's name of the job, if it gives one.
fn job() -> Option<String> {
    let variable = |name: &&str| std::env::var(name).ok();
    let parts: Vec<String> =
        ["PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID"].iter().filter_map(variable).collect();
    (!parts.is_empty()).then(|| parts.join("."))
}

pub(super) fn name(rank: u32) -> String {
    format!("rank-{rank}.{FILE_EXTENSION}")
}

/// The file name extension of directories of ranks.
pub(super) const EXTENSION: &str = "ranks";
/// The file name extension of the file of a rank.
pub(super) const FILE_EXTENSION: &str = "recordings";
/// The directory that the merging command makes.
pub(super) const MERGING: &str = "merging";
