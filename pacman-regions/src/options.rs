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

/// A variable of the environment: its name, its value if the option is set, and how its value sets the option.
type Variable = (
    &'static str,
    fn(&Options) -> Option<OsString>,
    fn(&mut Options, &OsStr) -> Result<(), String>,
);

/// In the order in which they are read: waits and traces depend on adaptation.
const VARIABLES: [Variable; 16] = [
    ("PACMAN_OMP_SEGMENT", |of| text(&of.segment), |of, value| parse(&mut of.segment, value)),
    ("PACMAN_OMP_DIR", |of| path(&of.directory), |of, value| set_path(&mut of.directory, value)),
    (
        "PACMAN_OMP_EVENTS",
        |of| Some(of.events.clone().into()).filter(|events: &OsString| !events.is_empty()),
        |of, value| {
            of.events = value.to_string_lossy().into_owned();
            Ok(())
        },
    ),
    ("PACMAN_OMP_ENERGY", |of| flag(of.energy), |of, value| parse_flag(&mut of.energy, value)),
    ("PACMAN_OMP_ADAPT", |of| text(&of.adapt), |of, value| parse(&mut of.adapt, value)),
    ("PACMAN_OMP_NARROW", |of| flag(of.narrow), |of, value| parse_flag(&mut of.narrow, value)),
    ("PACMAN_OMP_MODEL", |of| path(&of.model), |of, value| set_path(&mut of.model, value)),
    (
        "PACMAN_OMP_MAX_THREADS",
        |of| text(&of.max_threads),
        |of, value| match value.to_string_lossy().parse() {
            Ok(most) if most > 0 => {
                of.max_threads = Some(most);
                Ok(())
            }
            _ => Err(format!("the number of threads must be above 0, got {value:?}")),
        },
    ),
    ("PACMAN_OMP_MAX_LOSS", |of| text(&of.max_loss), |of, value| parse(&mut of.max_loss, value)),
    ("PACMAN_OMP_MEMORY", |of| path(&of.memory), |of, value| set_path(&mut of.memory, value)),
    ("PACMAN_OMP_SHARE", |of| text(&of.share), |of, value| parse(&mut of.share, value)),
    ("PACMAN_OMP_WATCH", |of| text(&of.watch), |of, value| parse(&mut of.watch, value)),
    (
        "PACMAN_OMP_WAITING",
        |of| text(&Some(of.waiting).filter(|waiting| *waiting != Waiting::Auto)),
        |of, value| {
            of.waiting = value.to_string_lossy().parse()?;
            Ok(())
        },
    ),
    (
        "PACMAN_OMP_WAITS",
        |of| flag(of.waits),
        |of, value| {
            parse_flag(&mut of.waits, value)?;
            if of.waits && of.adapt.is_some() {
                of.waits = false;
                return Err("waits are not timed where regions are adapted".into());
            }
            Ok(())
        },
    ),
    (
        "PACMAN_OMP_TRACE",
        |of| flag(of.trace),
        |of, value| {
            parse_flag(&mut of.trace, value)?;
            of.trace &= of.adapt.is_none();
            Ok(())
        },
    ),
    (
        "PACMAN_OMP_OVERHEAD",
        |of| text(&of.overhead),
        |of, value| {
            parse(&mut of.overhead, value)?;
            of.overhead = of.overhead.filter(|budget| !budget.times_all());
            Ok(())
        },
    ),
];

fn text(option: &Option<impl fmt::Display>) -> Option<OsString> {
    option.as_ref().map(|value| value.to_string().into())
}

fn parse<T: FromStr<Err = String>>(option: &mut Option<T>, value: &OsStr) -> Result<(), String> {
    *option = Some(value.to_string_lossy().parse()?);
    Ok(())
}

fn path(option: &Option<PathBuf>) -> Option<OsString> {
    option.as_ref().map(Into::into)
}

fn set_path(option: &mut Option<PathBuf>, value: &OsStr) -> Result<(), String> {
    *option = Some(value.into());
    Ok(())
}

fn flag(is_set: bool) -> Option<OsString> {
    is_set.then(|| "1".into())
}

fn parse_flag(option: &mut bool, value: &OsStr) -> Result<(), String> {
    *option = match value.as_encoded_bytes() {
        b"0" => false,
        b"1" => true,
        _ => return Err(format!("must be 0 or 1, got {value:?}")),
    };
    Ok(())
}

impl Options {
    /// The variables to set. An unset option has no variable.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        VARIABLES.iter().filter_map(|(name, value, _)| Some((*name, value(self)?))).collect()
    }

    /// Whether the process records.
    pub fn records(&self) -> bool {
        self.segment.is_some() || self.directory.is_some()
    }

    /// Reads the options from variables. Also returns a line for each invalid variable.
    ///
    /// An invalid option is left out, because the program must run in any case.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> (Options, Vec<String>) {
        let (mut options, mut wrong) = (Options::default(), Vec::new());
        for (name, _, set) in &VARIABLES {
            let Some(value) = variable(name).filter(|value| !value.is_empty()) else { continue };
            if let Err(problem) = set(&mut options, &value) {
                wrong.push(format!("{name}: {problem}"));
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
            "PACMAN_OMP_SEGMENT" => Some("7".into()),
            "PACMAN_OMP_ENERGY" => Some("yes".into()),
            "PACMAN_OMP_ADAPT" => Some("speed".into()),
            "PACMAN_OMP_MAX_THREADS" => Some("0".into()),
            "PACMAN_OMP_MAX_LOSS" => Some("5".into()),
            "PACMAN_OMP_WAITS" => Some("yes".into()),
            "PACMAN_OMP_TRACE" => Some("yes".into()),
            "PACMAN_OMP_OVERHEAD" => Some("0".into()),
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
