//! The number of threads that earlier runs of a program were best with, and the cost of this run for the next one.

use std::os::unix::ffi::OsStrExt;

use pacman_adapt::predict::machine_share;
use pacman_core::Topology;
use pacman_regions::{Ending, ProgramKey, StartChoice, StartMemory, hash_of_arguments};

use super::arguments::RunArgs;
use super::report::{ProcessReport, RegionReport, Report};
use crate::elf;
use crate::exit::Exit;
use crate::remembered::Store;
use crate::stat::found;

/// A number of threads that was not tried must be expected to take at most so much of the time without packing.
const WORTH_TRYING: f64 = 0.9;

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
    /// regions, and if no region ran.
    pub(super) fn measured(&self, report: &Report) -> Option<StartMemory> {
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
            expected: expected(only),
            runs: 1,
        })
    }
}

/// The executions that were in no other region.
fn outermost(region: &RegionReport) -> u64 {
    region.executions.saturating_sub(region.nested)
}

/// Numbers of threads by which regions were packed, with the time in regions that is expected of a run with each, over
/// that of this run.
fn expected(process: &ProcessReport) -> Vec<(u32, f64)> {
    let packed = |region: &RegionReport| {
        region.adaptation.as_ref().map_or_else(Vec::new, |adaptation| adaptation.packed.clone())
    };
    let mut numbers: Vec<u32> =
        process.regions.iter().flat_map(packed).map(|(threads, _)| threads).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let unpacked: f64 = process.regions.iter().map(RegionReport::without_packing).sum();
    let at = |threads: u32| {
        let time = process.regions.iter().map(|region| {
            let known = packed(region).into_iter().find(|(number, _)| *number == threads);
            let ratio = match known {
                // Its team has a size of its own, which stays.
                _ if region.teams.iter().all(|team| team.threads != process.threads) => 1.0,
                Some((_, ratio)) => ratio,
                // Nobody knows: it may need all of the threads that run at once.
                None => f64::from(process.threads.min(process.contexts)) / f64::from(threads),
            };
            region.without_packing() * ratio
        });
        let time: f64 = time.sum();
        let is_worth = time > 0.0 && time <= WORTH_TRYING * unpacked;
        is_worth.then(|| (threads, time / process.in_regions))
    };
    let is_fewer = |threads: &u32| (1..process.threads).contains(threads);
    numbers.into_iter().filter(is_fewer).filter_map(at).collect()
}
