//! Decisions before the program starts: how many threads, and how long idle ones spin.

use std::env;

use pacman_core::Topology;
use pacman_core::topology::Quota;
use pacman_events::plural::number;
use pacman_regions::Waiting;

use super::arguments::RunArgs;
use super::spawn::Environment;
use super::spin;
use super::threads::Threads;
use crate::quota::shown;

/// The variable that sets how many threads a team has.
const THREADS: &str = "OMP_NUM_THREADS";
/// The variable that sets how many rounds libgomp's idle threads spin.
const SPIN: &str = "GOMP_SPINCOUNT";
/// Says that the user did not set it.
const OURS: &str = "PACMAN_OMP_SPIN";

/// What was decided.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// The number of threads, and the reason, where the environment did not say.
    threads: Option<(u32, String)>,
    /// The rounds that idle threads of libgomp spin.
    spin: Option<u64>,
}

impl Start {
    pub(super) fn decide(args: &RunArgs) -> Start {
        let default = if args.adapt { Threads::Auto } else { Threads::Keep };
        let threads = match args.threads.unwrap_or(default) {
            Threads::Keep => None,
            Threads::Number(threads) => Some((threads, "--threads".to_owned())),
            Threads::Auto => chosen(),
        };
        let is_asked = args.waiting.is_none_or(|how| how == Waiting::Auto);
        let is_open = is_open(SPIN) && is_open("OMP_WAIT_POLICY");
        let spin = (args.adapt && is_asked && is_open).then(spin::rounds).flatten();
        Start { threads, spin }
    }

    /// Adds the variables for the program. The library takes the spin away again when the runtime has read it.
    pub(super) fn add_to(&self, environment: &mut Environment) {
        let threads = self.threads.as_ref().map(|(threads, _)| (THREADS, threads.to_string()));
        let spin = self.spin.map(|rounds| [(SPIN, rounds.to_string()), (OURS, "1".to_owned())]);
        let all = threads.into_iter().chain(spin.into_iter().flatten());
        environment.set.extend(all.map(|(name, value)| (name, value.into())));
    }

    /// What the first line of the report says: the number of threads, and the reason.
    pub(super) fn heading(&self) -> Option<String> {
        let (threads, why) = self.threads.as_ref()?;
        Some(format!("{} by {why}", number(*threads as usize, "thread")))
    }
}

/// The number of threads where the user left it open and a quota makes the default too many.
fn chosen() -> Option<(u32, String)> {
    let quota = Quota::of_this_process().filter(|_| is_open(THREADS))?;
    // An unknown machine leaves all as it is.
    let here = Topology::detect().ok()?;
    let threads = here.effective_contexts();
    let why = shown(quota.cpus());
    (threads < here.allowed().len()).then_some((threads as u32, why))
}

/// Whether the user left a variable to its default.
fn is_open(name: &str) -> bool {
    env::var_os(name).is_none_or(|value| value.is_empty())
}
