//! `pacman-pmu stat`: counts of an unmodified command, by thread, core or context.

mod affinity;
mod arguments;
mod contexts;
mod events;
mod follow;
mod launch;
mod progress;
mod ptrace;
mod repeat;
mod run;
mod sets;
mod thread;
mod writer;

use pacman_core::backend::Target;
use pacman_core::{Event, Topology};
use pacman_topology::process_files;

use crate::error::CliResult;
use crate::signals::Signals;
use affinity::ThreadPlaces;
pub(crate) use arguments::StatArgs;
use contexts::Contexts;
use events::Chosen;
pub use events::named_twice;
use follow::Follower;
use launch::Held;
pub(crate) use launch::{found, raises_rights};
use sets::EventSets;
use writer::{AnswerWriter, Sink};

/// Runs the command and counts it; the exit status is the command's.
pub(crate) fn stat(args: &StatArgs) -> CliResult {
    match args.pid {
        Some(pid) => process(args, pid),
        None if args.all => contexts(args),
        None => threads(args),
    }
}

fn threads(args: &StatArgs) -> CliResult {
    let topology = topology()?;
    let places = match &args.bind {
        None => ThreadPlaces::none(),
        Some(placement) => ThreadPlaces::of(placement, &topology)?,
    };
    let chosen = sets(args)?;
    let doubt = chosen.made.open(Target::Caller)?.caps().doubt;
    let sink = Sink::open(args)?;
    let signals = Signals::hold()?;
    let mut writer = AnswerWriter::new(args, &chosen.events, doubt, &topology, sink);
    writer.answer.columns = writer.answer.columns.in_sets(chosen.made.sets.clone());
    writer.answer.notes.extend(chosen.footnote);
    if !process_files::are_ours() {
        let foreign = process_files::FOREIGN;
        writer.answer.notes.push(format!("no names and contexts of threads: {foreign}"));
    }
    let follower = |held: &Held| Follower::new(&chosen.made, places.clone(), held.pid, &topology);
    if let Some(times) = args.repeat {
        return repeat::repeat(args, times, &signals, writer, |held| Box::new(follower(held)));
    }
    let held = Held::start(&args.command, &signals)?;
    held.follow()?;
    let mut follower = follower(&held);
    run::run(Some(held), &mut follower, &signals, writer)
}

/// The events to count, in sets if the user named more than fit at once.
fn sets(args: &StatArgs) -> CliResult<Chosen<EventSets>> {
    let list = args.events();
    let open = match list {
        Some(_) => EventSets::rotating,
        None => EventSets::one,
    };
    events::choose(list.as_deref(), &THREADS_SOFTWARE, open, counts)
}

fn process(args: &StatArgs, pid: i32) -> CliResult {
    let topology = topology()?;
    let chosen = sets(args)?;
    let doubt = chosen.made.open(Target::Caller)?.caps().doubt;
    let sink = Sink::open(args)?;
    let signals = Signals::hold()?;
    let held = match args.command.as_slice() {
        [] => None,
        command => Some(Held::start(command, &signals)?),
    };
    let mut writer = AnswerWriter::new(args, &chosen.events, doubt, &topology, sink);
    writer.answer.columns = writer.answer.columns.in_sets(chosen.made.sets.clone());
    writer.answer.notes.extend(chosen.footnote);
    let mut follower = Follower::attach(&chosen.made, pid, &topology)?;
    if let Some(held) = &held {
        follower.count_during(held.pid);
    }
    run::run(held, &mut follower, &signals, writer)
}

fn contexts(args: &StatArgs) -> CliResult {
    let topology = topology()?;
    let cpus = topology.allowed();
    let mut attempts = 0;
    let attempt = |events: &[Event]| {
        // While one attempt is tried the last that worked is still open.
        attempts += 1;
        Contexts::open(&format!("stat-{attempts}"), events, &cpus, &topology)
    };
    let list = args.events();
    let chosen =
        events::choose(list.as_deref(), &CONTEXTS_SOFTWARE, attempt, Contexts::last_counts)?;
    let sink = Sink::open(args)?;
    let signals = Signals::hold()?;
    let held = match args.command.as_slice() {
        [] => None,
        command => Some(Held::start(command, &signals)?),
    };
    let mut contexts = chosen.made;
    let mut writer = AnswerWriter::new(args, &chosen.events, contexts.doubt(), &topology, sink);
    writer.answer.notes.extend(chosen.footnote);
    run::run(held, &mut contexts, &signals, writer)
}

/// Whether the last of `events` counts on the calling thread.
fn counts(sets: &mut EventSets, events: usize) -> bool {
    let counted = || -> pacman_core::Result<u64> {
        let mut counters = sets.open(Target::Caller)?;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        counters.read(&mut before)?;
        events::exercise();
        counters.read(&mut after)?;
        Ok(after[events - 1].since(before[events - 1]).raw)
    };
    counted().is_ok_and(|count| count > 0)
}

fn topology() -> CliResult<Topology> {
    Topology::detect().map_err(|error| error.into())
}

const THREADS_SOFTWARE: [&str; 4] =
    ["task-clock", "page-faults", "context-switches", "cpu-migrations"];

/// A context's clock never stops, and takes the task clock's place.
const CONTEXTS_SOFTWARE: [&str; 4] =
    ["cpu-clock", "page-faults", "context-switches", "cpu-migrations"];
