//! What the preloaded library is asked to do, as environment variables.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What a program is to be run with.
///
/// The variables work without the command, too:
/// `LD_PRELOAD=libpacman_omp.so PACMAN_OMP_DIR=/tmp/regions ./app`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The memory that recordings go to. Without this and a directory nothing is recorded.
    pub segment: Option<Segment>,
    /// Where recordings go as files: an existing directory of the user's own.
    pub directory: Option<PathBuf>,
    /// Names of the events to count, with commas between them; empty counts time alone.
    pub events: String,
    /// What adaptation makes less; `None` only observes.
    pub adapt: Option<Objective>,
    /// A model file to choose samples by.
    pub model: Option<PathBuf>,
    /// No region gets more threads than this.
    pub max_threads: Option<u32>,
    /// Guards that are lifted.
    pub lifted: BTreeSet<Guard>,
    /// How idle workers wait once a region is narrowed.
    pub waiting: Waiting,
}

/// A System V segment with an [arena](crate::arena).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The system's number of it, which is used again once it is gone.
    pub id: i32,
    /// The arena's own: see [`Key`](crate::arena::Key).
    pub nonce: u128,
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:032x}", self.id, self.nonce)
    }
}

impl FromStr for Segment {
    type Err = String;

    fn from_str(text: &str) -> Result<Segment, String> {
        let parsed = text.split_once(':').and_then(|(id, nonce)| {
            Some(Segment { id: id.parse().ok()?, nonce: u128::from_str_radix(nonce, 16).ok()? })
        });
        parsed.ok_or_else(|| format!("{text:?} is no number of a segment with its nonce"))
    }
}

/// What adaptation makes less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// Wall time.
    #[default]
    Time,
    /// Energy of the packages.
    Energy,
    /// Energy times time.
    Edp,
    /// Energy times time squared.
    Ed2p,
}

/// How idle workers wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// They stop spinning where a narrowed region would have them spin beside it.
    #[default]
    Auto,
    /// As the runtime was told by the user or by itself.
    Keep,
    /// They block at once, from the start.
    Block,
}

/// A reason why a region keeps the threads it would have without adaptation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guard {
    /// The region has a `num_threads` clause, or a strict push.
    NumThreads,
    /// It is inside another region, or has others inside.
    Nested,
    /// Its tasks depend on each other.
    TaskDepend,
    /// `omp_get_max_threads`, `omp_get_num_procs` or their like was asked since the last region.
    Query,
    /// Its body asks for its thread's number or for how many there are, so that what it does
    /// may depend on the answer beyond the region.
    ThreadNumber,
    /// Its module has thread-local storage, which may have to live from region to region.
    ThreadLocal,
    /// It was never seen to share work out: what every member does, fewer members do less often.
    Replicated,
}

macro_rules! words {
    ($type:ident, $what:literal, $($variant:ident = $word:literal),+) => {
        impl $type {
            /// All of them.
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            /// The word on the command line and in recordings.
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
                    format!(concat!("no ", $what, " is called {:?}: there are {}"), word, all.join(", "))
                })
            }
        }
    };
}

words!(Objective, "objective", Time = "time", Energy = "energy", Edp = "edp", Ed2p = "ed2p");
words!(Waiting, "way of waiting", Auto = "auto", Keep = "keep", Block = "block");
words!(
    Guard,
    "guard",
    NumThreads = "num-threads",
    Nested = "nested",
    TaskDepend = "task-depend",
    Query = "query",
    ThreadNumber = "thread-number",
    ThreadLocal = "thread-local",
    Replicated = "replicated"
);

const SEGMENT: &str = "PACMAN_OMP_SEGMENT";
const DIRECTORY: &str = "PACMAN_OMP_DIR";
const EVENTS: &str = "PACMAN_OMP_EVENTS";
const ADAPT: &str = "PACMAN_OMP_ADAPT";
const MODEL: &str = "PACMAN_OMP_MODEL";
const MAX_THREADS: &str = "PACMAN_OMP_MAX_THREADS";
const LIFTED: &str = "PACMAN_OMP_LIFT";
const WAITING: &str = "PACMAN_OMP_WAITING";

impl Options {
    /// The variables to set; what is not wished for is left out.
    pub fn variables(&self) -> Vec<(&'static str, OsString)> {
        let mut all: Vec<(&'static str, OsString)> = Vec::new();
        all.extend(self.segment.map(|segment| (SEGMENT, segment.to_string().into())));
        all.extend(self.directory.as_ref().map(|path| (DIRECTORY, path.into())));
        if !self.events.is_empty() {
            all.push((EVENTS, self.events.clone().into()));
        }
        all.extend(self.adapt.map(|objective| (ADAPT, objective.to_string().into())));
        all.extend(self.model.as_ref().map(|path| (MODEL, path.into())));
        all.extend(self.max_threads.map(|most| (MAX_THREADS, most.to_string().into())));
        if !self.lifted.is_empty() {
            let words: Vec<_> = self.lifted.iter().map(|guard| guard.word()).collect();
            all.push((LIFTED, words.join(",").into()));
        }
        if self.waiting != Waiting::Auto {
            all.push((WAITING, self.waiting.to_string().into()));
        }
        all
    }

    /// Whether anything is to be recorded.
    pub fn records(&self) -> bool {
        self.segment.is_some() || self.directory.is_some()
    }

    /// What `variable` answers for the names above, and a line for each that makes no sense.
    ///
    /// A wish that makes no sense is left out: the program is to run in any case.
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
            ..Options::default()
        };
        let mut parsed = |name: &str, problem: String| wrong.push(format!("{name}: {problem}"));
        if let Some(word) = get(SEGMENT) {
            match word.parse() {
                Ok(segment) => options.segment = Some(segment),
                Err(problem) => parsed(SEGMENT, problem),
            }
        }
        if let Some(word) = get(ADAPT) {
            match word.parse() {
                Ok(objective) => options.adapt = Some(objective),
                Err(problem) => parsed(ADAPT, problem),
            }
        }
        if let Some(word) = get(WAITING) {
            match word.parse() {
                Ok(waiting) => options.waiting = waiting,
                Err(problem) => parsed(WAITING, problem),
            }
        }
        if let Some(word) = get(MAX_THREADS) {
            match word.parse() {
                Ok(most) if most > 0 => options.max_threads = Some(most),
                _ => parsed(MAX_THREADS, format!("{word:?} is no number of threads above 0")),
            }
        }
        for word in get(LIFTED).iter().flat_map(|words| words.split(',')) {
            match word.parse() {
                Ok(guard) => drop(options.lifted.insert(guard)),
                Err(problem) => parsed(LIFTED, problem),
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
    fn wishes_come_back_from_their_variables() {
        let bytes = OsStr::from_bytes(b"/tmp/not\xfftext");
        let options = Options {
            segment: Some(Segment { id: 32_769, nonce: 0xfe << 120 | 7 }),
            directory: Some(bytes.into()),
            events: "CYCLES,INSTRUCTIONS".into(),
            adapt: Some(Objective::Edp),
            model: Some("m.json".into()),
            max_threads: Some(6),
            lifted: [Guard::Query, Guard::ThreadLocal].into(),
            waiting: Waiting::Block,
        };
        let variables = options.variables();
        let get = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
        };
        assert_eq!(Options::read(get), (options, Vec::new()));
        assert_eq!(Options::read(|_| None), (Options::default(), Vec::new()));
    }

    #[test]
    fn nonsense_is_left_out_and_said() {
        let get = |name: &str| match name {
            SEGMENT => Some("7".into()),
            ADAPT => Some("speed".into()),
            MAX_THREADS => Some("0".into()),
            LIFTED => Some("query,everything".into()),
            _ => None,
        };
        let (options, wrong) = Options::read(get);
        assert_eq!((options.adapt, options.max_threads), (None, None));
        assert_eq!(options.lifted, [Guard::Query].into());
        assert_eq!((options.segment, wrong.len()), (None, 4));
        assert!(wrong[1].contains("time, energy, edp, ed2p"), "{}", wrong[1]);
    }
}
