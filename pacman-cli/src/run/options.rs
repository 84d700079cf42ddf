//! From the command line to the program's environment variables.

use std::ffi::OsString;
use std::path::Path;

use pacman_events::shown::shown_path;

use pacman_adapt::Rapl;
use pacman_adapt::predict::{Model, machine_name};
use pacman_core::{Error, ErrorKind, Event, Session, Topology, energy, platform};
use pacman_regions::{Objective, Options, OverheadBudget, Waiting};
use pacman_report::run::Form;

use super::arguments::RunArgs;
use super::library::VARIABLE;
use super::memory::Memory;
use super::shared::Shared;
use super::spawn::Environment;
use super::watch::Watch;
use crate::remembered::Store;
use crate::stat::named_twice;

/// The requests that no machine can meet: the program need not run to find that out.
pub(super) fn never_possible(args: &RunArgs) -> Option<String> {
    args.events().as_deref().and_then(no_events).or_else(|| no_model(args))
}

/// The energy counters for `--energy`; an error says why there are none.
pub(super) fn rapl(args: &RunArgs) -> pacman_core::Result<Option<Rapl>> {
    args.energy.then(energy::detect).transpose()
}

/// The first name that is none. The kernel decides which events its PMUs take, and other machines
/// may count events that this one cannot.
fn no_events(list: &str) -> Option<String> {
    let is_none =
        |error: &Error| matches!(error.kind(), ErrorKind::UnknownEvent | ErrorKind::InvalidInput);
    let portable = Event::names_in(list).filter(|name| !name.contains('/'));
    let portable = portable.filter(|name| Event::group(name).is_none());
    let mut refusals = portable.filter_map(|name| name.parse::<Event>().err().filter(is_none));
    Some(refusals.next()?.to_string())
}

/// Why the model is none, on any machine.
fn no_model(args: &RunArgs) -> Option<String> {
    let path = args.model.as_ref()?;
    let shown = shown_path(path);
    let why = match std::fs::read_to_string(path) {
        Ok(text) => format!("{shown}: {}", Model::from_text(&text).err()?),
        Err(error) => format!("cannot read {shown}: {error}"),
    };
    Some(format!("cannot adapt by the model {why}"))
}

/// The requests that are impossible here, one line each, as the library would say after the run.
pub(super) fn impossible(args: &RunArgs) -> Vec<String> {
    let objective = args.objective.unwrap_or_default();
    let model = args.model.as_deref().and_then(|path| unusable(path, objective));
    uncountable(args).into_iter().chain(model).chain(needs_narrow(args)).collect()
}

/// Why an objective of energy cannot be measured. A look at two directories says so before hours of a run.
pub(super) fn no_energy(args: &RunArgs) -> Option<String> {
    let objective = args.objective.unwrap_or_default();
    let needed = args.adapt && objective != Objective::Time;
    let error = needed.then(energy::detect)?.err()?;
    Some(format!("cannot adapt for {objective}: {error}"))
}

/// The options that say how teams get fewer threads, where teams keep theirs.
fn needs_narrow(args: &RunArgs) -> Option<String> {
    let given = [("--max-threads", args.max_threads.is_some()), ("--share", args.share)];
    let idle: Vec<&str> = given.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
    (!args.narrow && !idle.is_empty()).then(|| {
        format!("cannot adapt by {}: teams keep their threads; add --narrow", idle.join(" and "))
    })
}

fn uncountable(args: &RunArgs) -> Option<String> {
    let events = Event::parse_list(&args.events()?);
    let counted = events.and_then(|events| match named_twice(&events) {
        // Said already.
        Err(_) => Ok(()),
        // As the library will: a session, and a thread of it.
        Ok(()) => {
            let session = Session::builder("pacman-pmu run");
            let session = events.into_iter().fold(session, |session, event| session.event(event));
            session.start()?.attach().map(drop)
        }
    });
    // So is an empty list.
    let error = counted.err().filter(|error| error.kind() != ErrorKind::Empty)?;
    Some(error.to_string())
}

fn unusable(model: &Path, objective: Objective) -> Option<String> {
    let shown = shown_path(model);
    if objective != Objective::Time {
        return Some(format!(
            "cannot adapt for {objective} with {shown}: a model predicts times; leave out --model \
             or --objective"
        ));
    }
    let usable = || -> pacman_adapt::Result<()> {
        let here = Topology::detect()?;
        Model::from_file(model)?.adapting(&machine_name(&here)).map(drop)
    };
    usable().err().map(|error| format!("cannot adapt with {shown}: {error}"))
}

/// The doubtful items in the list of events; the others are counted all the same.
pub(super) fn odd_events(args: &RunArgs) -> Option<String> {
    match Event::parse_list(&args.events()?) {
        Err(error) if error.kind() == ErrorKind::Empty => Some(error.to_string()),
        Err(_) => None,
        Ok(events) => named_twice(&events).err().map(|error| error.to_string()),
    }
}

/// Each event once; a list with names that are none is left to the library, which says so.
fn events(list: &str) -> String {
    let Ok(events) = Event::parse_list(list) else { return list.to_owned() };
    let mut names: Vec<&str> = Vec::new();
    for event in &events {
        if !names.contains(&event.name()) {
            names.push(event.name());
        }
    }
    names.join(",")
}

/// The budget of the library; `None` if it times every execution. Counts of events, energy, training and
/// adaptation need every execution.
fn overhead(args: &RunArgs) -> Option<OverheadBudget> {
    let needs_all = args.adapt || args.energy || args.events().is_some() || args.record.is_some();
    let budget = args.overhead.unwrap_or(OverheadBudget::DEFAULT);
    (!needs_all && !budget.times_all()).then_some(budget)
}

/// Whether the library may pack threads, for which samples must be watched.
pub(super) fn may_pack(args: &RunArgs) -> bool {
    let objective = args.objective.unwrap_or_default();
    args.adapt && !args.narrow && !args.energy && objective == Objective::Time
}

/// Whether waits are timed: TALP's efficiencies need them.
fn waits(args: &RunArgs) -> bool {
    args.waits || !args.adapt && args.output.as_deref().and_then(Form::of) == Some(Form::Talp)
}

/// The library's environment, with nothing left of another run around this one.
pub(super) fn environment(
    args: &RunArgs,
    library: &Path,
    memory: &Memory,
    kept: Option<&Store>,
    shared: Option<&Shared>,
    watch: Option<&Watch>,
) -> Environment {
    let mut options = Options {
        events: args.events().as_deref().map(events).unwrap_or_default(),
        energy: args.energy,
        adapt: args.adapt.then(|| args.objective.unwrap_or_default()),
        // The program may change its directory before its first region.
        narrow: args.narrow,
        model: args.model.as_ref().map(|path| std::path::absolute(path).unwrap_or(path.clone())),
        max_threads: args.max_threads,
        max_loss: args.max_loss,
        memory: kept.map(|store| store.directory().to_owned()),
        share: shared.map(|shared| shared.segment().clone()),
        watch: watch.map(|watch| watch.segment().clone()),
        waiting: args.waiting.unwrap_or_default(),
        waits: waits(args),
        trace: !args.adapt && args.output.as_deref().and_then(Form::of) == Some(Form::Trace),
        overhead: overhead(args),
        ..Options::default()
    };
    memory.add_to(&mut options);
    let mut environment = Environment::default();
    environment.removed.extend(inherited());
    let set = &mut environment.set;
    set.extend(options.variables());
    set.extend(preload(library));
    if options.waiting == Waiting::Block {
        // The library comes too late for libgomp, which reads its variables when it is loaded.
        let unset = |(name, _): &(&str, &str)| std::env::var_os(name).is_none();
        set.extend(PASSIVE.into_iter().filter(unset).map(|(name, value)| (name, value.into())));
    }
    if let Some(machine) = platform::current().simulation() {
        set.push(("PACMAN_MACHINE", machine.name.into()));
    }
    environment
}

/// Variables of another run around this one.
pub fn inherited() -> impl Iterator<Item = OsString> {
    let ours = |name: &OsString| {
        name.to_str().is_some_and(|name| name.starts_with("PACMAN_OMP_") && name != VARIABLE)
    };
    std::env::vars_os().map(|(name, _)| name).filter(ours)
}

/// The preload variable, with the program's own entries first.
///
/// LLVM's runtime reads this variable to find a tool. Its own search fails if it is linked
/// statically, or if preloaded libraries come after its own symbols.
pub fn preload(library: &Path) -> Vec<(&'static str, OsString)> {
    let appended = |name: &'static str| {
        let before = std::env::var_os(name).filter(|list| !list.is_empty());
        let Some(mut list) = before else { return (name, library.into()) };
        list.push(":");
        list.push(library);
        (name, list)
    };
    let forbidden = std::env::var_os("OMP_TOOL")
        .is_some_and(|word| word.to_string_lossy().trim().eq_ignore_ascii_case("disabled"));
    let mut variables = vec![appended("LD_PRELOAD")];
    if !forbidden {
        variables.push(appended("OMP_TOOL_LIBRARIES"));
    }
    // Kokkos takes one tool, and stops if its two variables differ: the user's own comes first.
    if KOKKOS_TOOLS.iter().all(|name| std::env::var_os(name).is_none()) {
        variables.push((KOKKOS_TOOLS[0], library.into()));
    }
    variables
}

/// The variables that name Kokkos its tool; the library sets the older one for a Kokkos that needs it.
const KOKKOS_TOOLS: [&str; 2] = ["KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY"];
const PASSIVE: [(&str, &str); 2] = [("OMP_WAIT_POLICY", "passive"), ("KMP_BLOCKTIME", "0")];
