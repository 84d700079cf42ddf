//! Decisions before the program starts: how many threads, and how long idle ones spin.

use std::env;

use pacman_core::Topology;
use pacman_core::topology::Quota;
use pacman_events::plural::number;
use pacman_regions::{Objective, ProgramKey, StartMemory, Waiting};
use pacman_report::quota::shown;
use pacman_report::run::Report;

use super::arguments::RunArgs;
use super::earlier::Program;
use super::spawn::Environment;
use super::spin;
use super::threads::Threads;
use crate::error;
use crate::remembered::Store;
use pacman_report::words::share;

/// The variable that sets how many threads a team has.
const THREADS: &str = "OMP_NUM_THREADS";
/// The variable that sets how many rounds libgomp's idle threads spin.
const SPIN: &str = "GOMP_SPINCOUNT";
/// Says that the user did not set it.
const OURS: &str = "PACMAN_OMP_SPIN";

/// The decision.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// The number of threads, and the reason, where the environment did not say.
    threads: Option<(u32, String)>,
    /// The rounds that idle threads of libgomp spin.
    spin: Option<u64>,
    /// The program, if the next run of it may start from this one.
    program: Option<Program>,
}

impl Start {
    pub(super) fn decide(args: &RunArgs) -> Start {
        let default = if args.adapt { Threads::Auto } else { Threads::Keep };
        // Memories of whole runs are of their time.
        let is_for_time = args.objective.unwrap_or_default() == Objective::Time;
        let program = (is_for_time && !args.no_memory).then(|| Program::of(args)).flatten();
        let threads = match args.threads.unwrap_or(default) {
            Threads::Keep => None,
            Threads::Number(threads) => Some((threads, "--threads".to_owned())),
            Threads::Auto => chosen(program.as_ref()),
        };
        let is_asked = args.waiting.is_none_or(|how| how == Waiting::Auto);
        let is_open = is_open(SPIN) && is_open("OMP_WAIT_POLICY");
        let spin = (args.adapt && is_asked && is_open).then(spin::rounds).flatten();
        Start { threads, spin, program }
    }

    /// The cost of the run that `report` tells, for the memory of the program. `others` is the processors that other
    /// programs used meanwhile.
    pub(super) fn cost(
        &self,
        report: &Report,
        topology: &Topology,
        others: Option<f64>,
    ) -> Option<(ProgramKey, StartMemory)> {
        let program = self.program.as_ref()?;
        Some((program.key(topology), program.measured(report, others)?))
    }

    /// Adds the variables for the program. The library takes the spin away again when the runtime has read it.
    pub(super) fn add_to(&self, environment: &mut Environment) {
        let threads = self.threads.as_ref().map(|(threads, _)| (THREADS, threads.to_string()));
        let spin = self.spin.map(|rounds| [(SPIN, rounds.to_string()), (OURS, "1".to_owned())]);
        let all = threads.into_iter().chain(spin.into_iter().flatten());
        environment.set.extend(all.map(|(name, value)| (name, value.into())));
    }

    /// The first line of the report: the number of threads, and the reason.
    pub(super) fn heading(&self) -> Option<String> {
        let (threads, why) = self.threads.as_ref()?;
        Some(format!("{} by {why}", number(*threads as usize, "thread")))
    }
}

/// The number of threads where the user left it open: the one that earlier runs were best with, or as many as a quota
/// runs at once.
fn chosen(program: Option<&Program>) -> Option<(u32, String)> {
    if !is_open(THREADS) {
        return None;
    }
    let quota = Quota::of_this_process();
    let known =
        program.zip(Store::of_user()).filter(|(program, store)| store.may_have(program.build_id()));
    if quota.is_none() && known.is_none() {
        return None;
    }
    // An unknown machine leaves all as it is.
    let here = Topology::detect().ok()?;
    let default = here.effective_contexts() as u32;
    let earlier = known.and_then(|(program, store)| {
        let choice = program.choice(&store, &here, default);
        choice.unwrap_or_else(|why| {
            error::complain(format!("the number of threads is the default: {why}"));
            None
        })
    });
    if let Some(choice) = earlier {
        let (ratio, default) = (share(choice.ratio), number(default as usize, "thread"));
        let how = if choice.is_tried { "" } else { " expected" };
        let why = format!("earlier runs ({ratio} of the time of {default}{how})");
        return Some((choice.threads, why));
    }
    let quota = quota.filter(|_| default < here.allowed().len() as u32)?;
    Some((default, shown(quota.cpus())))
}

/// Whether the user left a variable to its default.
fn is_open(name: &str) -> bool {
    env::var_os(name).is_none_or(|value| value.is_empty())
}
