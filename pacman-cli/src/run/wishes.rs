//! From the command line to what the program finds in its environment.

use std::ffi::OsString;
use std::path::Path;

use pacman_core::predict::Model;
use pacman_core::{Event, sim};
use pacman_regions::{Waiting, Wishes};

use super::RunArgs;
use super::launch::Environment;
use super::library::VARIABLE;

/// What is wrong with the options whatever the machine.
pub(super) fn check(args: &RunArgs) -> Result<(), String> {
    let Some(path) = &args.model else { return Ok(()) };
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    Model::from_text(&text).map(drop).map_err(|error| format!("{shown}: {error}"))
}

/// Why events cannot be counted here, one line each.
pub(super) fn uncountable(args: &RunArgs) -> Vec<String> {
    let Some(list) = args.events.as_deref() else { return Vec::new() };
    match Event::parse_list(list) {
        Err(error) => vec![error.to_string()],
        Ok(events) => crate::stat::backend(&events).err().iter().map(ToString::to_string).collect(),
    }
}

/// What the library reads, with nothing left of another run around this one.
pub(super) fn environment(args: &RunArgs, library: &Path, directory: &Path) -> Environment {
    let wishes = Wishes {
        directory: Some(directory.to_path_buf()),
        events: args.events.clone().unwrap_or_default(),
        adapt: args.adapt.then(|| args.objective.unwrap_or_default()),
        // The program may change its directory before its first region.
        model: args.model.as_ref().map(|path| std::path::absolute(path).unwrap_or(path.clone())),
        max_threads: args.max_threads,
        lifted: args.lift.iter().copied().collect(),
        waiting: args.waiting.unwrap_or_default(),
    };
    let mut environment = Environment::default();
    environment.removed.extend(inherited());
    let set = &mut environment.set;
    set.extend(wishes.variables().into_iter().map(|(name, value)| (name, value.into())));
    set.extend(preload(library));
    if wishes.waiting == Waiting::Block {
        // The library comes too late for libgomp, which reads its variables when it is loaded.
        let unset = |(name, _): &(&str, &str)| std::env::var_os(name).is_none();
        set.extend(PASSIVE.into_iter().filter(unset).map(|(name, value)| (name, value.into())));
    }
    if let Ok(Some(machine)) = sim::current() {
        set.push(("PACMAN_MACHINE", machine.name().into()));
    }
    environment
}

/// Variables of another run around this one.
pub(crate) fn inherited() -> impl Iterator<Item = OsString> {
    let ours = |name: &OsString| {
        name.to_str().is_some_and(|name| name.starts_with("PACMAN_OMP_") && name != VARIABLE)
    };
    std::env::vars_os().map(|(name, _)| name).filter(ours)
}

/// What has a program load the library, after whatever it is to load already.
///
/// LLVM's runtime asks it for a tool where its own search cannot find it: where it is linked
/// statically, or was opened so that preloaded libraries come after its own symbols.
pub(crate) fn preload(library: &Path) -> Vec<(&'static str, OsString)> {
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
    variables
}

const PASSIVE: [(&str, &str); 2] = [("OMP_WAIT_POLICY", "passive"), ("KMP_BLOCKTIME", "0")];
