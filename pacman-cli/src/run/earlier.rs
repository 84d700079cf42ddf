//! The number of threads that earlier runs of a program were best with, and the cost of this run for the next one.

use std::os::unix::ffi::OsStrExt;

use pacman_adapt::predict::machine_share;
use pacman_core::Topology;
use pacman_regions::{Ending, ProgramKey, StartChoice, StartMemory, hash_of_arguments};

use super::arguments::RunArgs;
use crate::elf;
use crate::remembered::Store;
use crate::stat::found;
use pacman_report::exit::Exit;
use pacman_report::run::{RegionReport, Report, expected};

/// A program, before its machine is known.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// The words of the command, as reports have them.
    command: Vec<String>,
    name: String,
    build_id: String,
    arguments: String,
}

impl Program {
    /// `None` for a script, and for a program without a build ID: nothing would tell another build from it.
    pub(super) fn of(args: &RunArgs) -> Option<Program> {
        let file = found(&args.command[0])?;
        let build_id = elf::build_id(&file)?;
        // As the kernel has them: each word ends with a zero, here without the first one.
        let mut words = vec![0];
        for word in &args.command[1..] {
            words.extend(word.as_bytes());
            words.push(0);
        }
        Some(Program {
            command: args.command.iter().map(pacman_events::shown::text_of).collect(),
            name: file.file_name()?.to_string_lossy().into_owned(),
            build_id,
            arguments: hash_of_arguments(&words),
        })
    }

    /// The build ID of its file.
    pub(super) fn build_id(&self) -> &str {
        &self.build_id
    }

    pub(super) fn key(&self, topology: &Topology) -> ProgramKey {
        ProgramKey {
            program: self.name.clone(),
            build_id: self.build_id.clone(),
            machine: machine_share(topology),
        }
    }

    /// The number of threads to start with, where the default would be `default`.
    ///
    /// # Errors
    /// A line that says what is wrong with the memory.
    pub(super) fn choice(
        &self,
        store: &Store,
        topology: &Topology,
        default: u32,
    ) -> Result<Option<StartChoice>, String> {
        let memory = store.of(&self.key(topology))?;
        Ok(memory.start(&self.arguments, default))
    }

    /// The cost of the run that `report` tells. `None` if the program failed or was ended, if not just this program ran
    /// regions, and if no region ran. `others` is the processors that other programs used.
    pub(super) fn measured(&self, report: &Report, others: Option<f64>) -> Option<StartMemory> {
        let mut observed = report.observed();
        let (only, None) = (observed.next()?, observed.next()) else { return None };
        // A run that was cut off has another mixture of regions.
        let is_whole = report.ended.exit == Exit::Status(0) && only.process.ending == Ending::Exit;
        let is_it = only.process.pid == report.ended.pid && only.process.command == self.command;
        let executions: u64 = only.regions.iter().map(outermost).sum();
        let cost = only.in_regions / executions as f64;
        let is_measured = is_it && is_whole && executions > 0 && only.roots == 1 && cost > 0.0;
        is_measured.then(|| StartMemory {
            arguments: self.arguments.clone(),
            threads: only.threads,
            cost,
            least: cost,
            expected: expected::of(only),
            runs: 1,
            others,
            others_at_least: others,
        })
    }
}

/// The executions that were in no other region.
fn outermost(region: &RegionReport) -> u64 {
    region.executions.saturating_sub(region.nested)
}
