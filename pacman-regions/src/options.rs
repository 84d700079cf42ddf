//! The options of the preloaded library, as environment variables.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::budget::OverheadBudget;
use crate::max_loss::MaxLoss;

/// The options of one run.
///
/// The variables also work without the command:
/// `LD_PRELOAD=libpacman_omp.so PACMAN_OMP_DIR=/tmp/regions ./app`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The memory for recordings. Without a segment or a directory nothing is recorded.
    pub segment: Option<Segment>,
    /// The directory for recordings as files, of processes that cannot attach the segment if there is one. It
    /// must exist. The user must own it, or all users may create files in it and only its owner may list
    /// or remove them (mode 1733).
    pub directory: Option<PathBuf>,
    /// The events to count, separated by commas; empty to record only times.
    pub events: String,
    /// Whether to read the energy of the packages around each region.
    pub energy: bool,
    /// The objective that adaptation minimises; `None` only observes.
    pub adapt: Option<Objective>,
    /// Whether adaptation may give a team fewer threads. A program can notice that, so the user vouches for it.
    pub narrow: bool,
    /// A model file that chooses samples.
    pub model: Option<PathBuf>,
    /// The most threads of an adapted region.
    pub max_threads: Option<u32>,
    /// The most that adaptation may cost; `None` for the controller's own limit.
    pub max_loss: Option<MaxLoss>,
    /// The directory with the measurements of earlier runs, for adaptation; see
    /// [`ProgramMemory`](crate::ProgramMemory). The library only reads there.
    pub memory: Option<PathBuf>,
    /// The memory through which the process shares the machine with others: one segment, whose first page is a
    /// header as an arena's; see [`sharing`](crate::sharing).
    pub share: Option<Segment>,
    /// The memory through which the command cuts samples short: one segment, as for `share`; see
    /// [`watch`](crate::watch).
    pub watch: Option<Segment>,
    /// How idle workers wait while a smaller team runs.
    pub waiting: Waiting,
    /// Whether waits inside regions are timed. Adaptation excludes it.
    pub waits: bool,
    /// Whether single executions are logged, for traces. Adaptation excludes it.
    pub trace: bool,
    /// The part of a region's time that observing it may take; `None` times every execution, as
    /// adaptation, energy and events do.
    pub overhead: Option<OverheadBudget>,
}

/// The System V segments of an [arena](crate::arena), one for each of its pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The system's numbers. The system reuses them after the segments are gone.
    pub ids: Vec<i32>,
    /// The random number of the arena.
    pub nonce: u128,
    /// The inode of the IPC namespace that has them; 0 if it is unknown.
    pub namespace: u64,
}

impl Segment {
    /// The inode of this process's IPC namespace; 0 if it is unknown.
    pub fn own_namespace() -> u64 {
        std::fs::metadata("/proc/self/ns/ipc").map_or(0, |about| about.ino())
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.ids.iter().map(i32::to_string).collect();
        write!(f, "{}:{:032x}:{}", ids.join(","), self.nonce, self.namespace)
    }
}

impl FromStr for Segment {
    type Err = String;

    fn from_str(text: &str) -> Result<Segment, String> {
        let parsed = text.split_once(':').and_then(|(ids, nonce)| {
            let ids: Result<_, _> = ids.split(',').map(str::parse).collect();
            let (nonce, namespace) = nonce.split_once(':').unwrap_or((nonce, "0"));
            let nonce = u128::from_str_radix(nonce, 16).ok()?;
            Some(Segment { ids: ids.ok()?, nonce, namespace: namespace.parse().ok()? })
        });
        parsed.ok_or_else(|| {
            format!("a segment must be NUMBER[,NUMBER…]:NONCE[:NAMESPACE], got {text:?}")
        })
    }
}

/// The objective that adaptation minimises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// Wall time.
    #[default]
    Time,
    /// Energy of the processor packages.
    Energy,
    /// Energy times time.
    Edp,
    /// Energy times time squared.
    Ed2p,
}

/// How idle workers wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// Workers that would spin while a smaller team runs stop spinning.
    #[default]
    Auto,
    /// The runtime or the user decides.
    Keep,
    /// Workers block at once, from the start of the program.
    Block,
}

macro_rules! words {
    ($type:ident, $what:literal, $($variant:ident = $word:literal),+) => {
        impl $type {
            /// All values.
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            /// The name on the command line and in recordings.
            pub fn word(self) -> &'static str {
                match self { $($type::$variant => $word),+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.word())
            }
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(word: &str) -> Result<$type, String> {
                $type::ALL.iter().copied().find(|one| one.word() == word).ok_or_else(|| {
                    let all: Vec<_> = $type::ALL.iter().map(|one| one.word()).collect();
                    format!(concat!($what, " must be one of {}, got {:?}"), all.join(", "), word)
                })
            }
        }
    };
}

words!(Objective, "objective", Time = "time", Energy = "energy", Edp = "edp", Ed2p = "ed2p");
words!(Waiting, "way of waiting", Auto = "auto", Keep = "keep", Block = "block");

const SEGMENT: &str = "PACMAN_OMP_SEGMENT";
const DIRECTORY: &str = "PACMAN_OMP_DIR";
const EVENTS: &str = "PACMAN_OMP_EVENTS";
const ENERGY: &str = "PACMAN_OMP_ENERGY";
const ADAPT: &str = "PACMAN_OMP_ADAPT";
const NARROW: &str = "PACMAN_OMP_NARROW";
const MODEL: &str = "PACMAN_OMP_MODEL";
const MAX_THREADS: &str = "PACMAN_OMP_MAX_THREADS";
const MAX_LOSS: &str = "PACMAN_OMP_MAX_LOSS";
const MEMORY: &str = "PACMAN_OMP_MEMORY";
const WAITING: &str = "PACMAN_OMP_WAITING";
const SHARE: &str = "PACMAN_OMP_SHARE";
const WATCH: &str = "PACMAN_OMP_WATCH";
const WAITS: &str = "PACMAN_OMP_WAITS";
const TRACE: &str = "PACMAN_OMP_TRACE";
const OVERHEAD: &str = "PACMAN_OMP_OVERHEAD";

impl Options {
    /// The variables to set. An unset option has no variable.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let mut all: Vec<(&'static str, OsString)> = Vec::new();
        all.extend(self.segment.as_ref().map(|segment| (SEGMENT, segment.to_string().into())));
        all.extend(self.directory.as_ref().map(|path| (DIRECTORY, path.into())));
        if !self.events.is_empty() {
            all.push((EVENTS, self.events.clone().into()));
        }
        all.extend(self.energy.then(|| (ENERGY, "1".into())));
        all.extend(self.adapt.map(|objective| (ADAPT, objective.to_string().into())));
        all.extend(self.narrow.then(|| (NARROW, "1".into())));
        all.extend(self.model.as_ref().map(|path| (MODEL, path.into())));
        all.extend(self.max_threads.map(|most| (MAX_THREADS, most.to_string().into())));
        all.extend(self.max_loss.map(|most| (MAX_LOSS, most.to_string().into())));
        all.extend(self.memory.as_ref().map(|path| (MEMORY, path.into())));
        all.extend(self.share.as_ref().map(|segment| (SHARE, segment.to_string().into())));
        all.extend(self.watch.as_ref().map(|segment| (WATCH, segment.to_string().into())));
        if self.waiting != Waiting::Auto {
            all.push((WAITING, self.waiting.to_string().into()));
        }
        if self.waits {
            all.push((WAITS, "1".into()));
        }
        if self.trace {
            all.push((TRACE, "1".into()));
        }
        all.extend(self.overhead.map(|budget| (OVERHEAD, budget.to_string().into())));
        all
    }

    /// Whether the process records.
    pub fn records(&self) -> bool {
        self.segment.is_some() || self.directory.is_some()
    }

    /// Reads the options from variables. Also returns a line for each invalid variable.
    ///
    /// An invalid option is left out, because the program must run in any case.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> (Options, Vec<String>) {
        let mut wrong = Vec::new();
        let path = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let text = |value: &OsStr| value.to_string_lossy().into_owned();
        let get =
            |name: &str| variable(name).as_deref().map(text).filter(|value| !value.is_empty());
        let mut options = Options {
            directory: path(DIRECTORY),
            events: get(EVENTS).unwrap_or_default(),
            model: path(MODEL),
            memory: path(MEMORY),
            ..Options::default()
        };
        let mut parsed = |name: &str, problem: String| wrong.push(format!("{name}: {problem}"));
        if let Some(word) = get(SEGMENT) {
            match word.parse() {
                Ok(segment) => options.segment = Some(segment),
                Err(problem) => parsed(SEGMENT, problem),
            }
        }
        if let Some(word) = get(SHARE) {
            match word.parse() {
                Ok(segment) => options.share = Some(segment),
                Err(problem) => parsed(SHARE, problem),
            }
        }
        if let Some(word) = get(WATCH) {
            match word.parse() {
                Ok(segment) => options.watch = Some(segment),
                Err(problem) => parsed(WATCH, problem),
            }
        }
        match get(ENERGY).as_deref() {
            None | Some("0") => {}
            Some("1") => options.energy = true,
            Some(word) => parsed(ENERGY, format!("must be 0 or 1, got {word:?}")),
        }
        if let Some(word) = get(ADAPT) {
            match word.parse() {
                Ok(objective) => options.adapt = Some(objective),
                Err(problem) => parsed(ADAPT, problem),
            }
        }
        match get(NARROW).as_deref() {
            None | Some("0") => {}
            Some("1") => options.narrow = true,
            Some(word) => parsed(NARROW, format!("must be 0 or 1, got {word:?}")),
        }
        if let Some(word) = get(WAITING) {
            match word.parse() {
                Ok(waiting) => options.waiting = waiting,
                Err(problem) => parsed(WAITING, problem),
            }
        }
        if let Some(word) = get(WAITS) {
            match word.as_str() {
                "0" => {}
                "1" if options.adapt.is_none() => options.waits = true,
                "1" => parsed(WAITS, "waits are not timed where regions are adapted".into()),
                _ => parsed(WAITS, format!("it must be 0 or 1, got {word:?}")),
            }
        }
        if let Some(word) = get(TRACE) {
            match word.as_str() {
                "0" => {}
                "1" => options.trace = options.adapt.is_none(),
                _ => parsed(TRACE, format!("it must be 0 or 1, got {word:?}")),
            }
        }
        if let Some(word) = get(MAX_THREADS) {
            match word.parse() {
                Ok(most) if most > 0 => options.max_threads = Some(most),
                _ => parsed(
                    MAX_THREADS,
                    format!("the number of threads must be above 0, got {word:?}"),
                ),
            }
        }
        if let Some(word) = get(OVERHEAD) {
            match word.parse::<OverheadBudget>() {
                Ok(budget) => options.overhead = Some(budget).filter(|one| !one.times_all()),
                Err(problem) => parsed(OVERHEAD, problem),
            }
        }
        if let Some(word) = get(MAX_LOSS) {
            match word.parse() {
                Ok(most) => options.max_loss = Some(most),
                Err(problem) => parsed(MAX_LOSS, problem),
            }
        }
        (options, wrong)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn options_survive_their_variables() {
        let bytes = OsStr::from_bytes(b"/tmp/not\xfftext");
        let options = Options {
            segment: Some(Segment { ids: vec![32_769, 7], nonce: 0xfe << 120 | 7, namespace: 9 }),
            directory: Some(bytes.into()),
            events: "CYCLES,INSTRUCTIONS".into(),
            energy: true,
            adapt: Some(Objective::Edp),
            narrow: true,
            model: Some("m.json".into()),
            max_threads: Some(6),
            max_loss: Some("2.5%".parse().expect("a loss")),
            memory: Some("/cache/memory".into()),
            share: Some(Segment { ids: vec![5], nonce: 3, namespace: 0 }),
            watch: Some(Segment { ids: vec![6], nonce: 4, namespace: 1 }),
            waiting: Waiting::Block,
            waits: false,
            trace: false,
            overhead: Some(OverheadBudget::DEFAULT),
        };
        let variables = options.variables();
        let get = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
        };
        assert_eq!(Options::read(get), (options, Vec::new()));
        assert_eq!(Options::read(|_| None), (Options::default(), Vec::new()));
    }

    #[test]
    fn waits_are_timed_only_without_adaptation() {
        let options = Options { waits: true, trace: true, ..Options::default() };
        let of = |options: &Options| {
            let variables = options.variables();
            let get = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
            };
            Options::read(get)
        };
        assert_eq!(of(&options), (options.clone(), Vec::new()));
        let (both, wrong) = of(&Options { adapt: Some(Objective::Time), ..options });
        assert_eq!((both.waits, both.adapt, wrong.len()), (false, Some(Objective::Time), 1));
        assert!(!both.trace);
    }

    #[test]
    fn invalid_options_are_left_out_and_reported() {
        let get = |name: &str| match name {
            SEGMENT => Some("7".into()),
            ENERGY => Some("yes".into()),
            ADAPT => Some("speed".into()),
            MAX_THREADS => Some("0".into()),
            MAX_LOSS => Some("5".into()),
            WAITS => Some("yes".into()),
            TRACE => Some("yes".into()),
            OVERHEAD => Some("0".into()),
            _ => None,
        };
        let (options, wrong) = Options::read(get);
        assert!(!options.waits && !options.trace && options.overhead.is_none());
        assert_eq!((options.adapt, options.max_threads, options.max_loss), (None, None, None));
        assert_eq!((options.segment, options.energy, wrong.len()), (None, false, 8));
        assert_eq!(wrong[1], "PACMAN_OMP_ENERGY: must be 0 or 1, got \"yes\"");
        assert!(wrong[2].contains("time, energy, edp, ed2p"), "{}", wrong[2]);
    }
}
