//! The states of threads in a region, for every form. Each is defined here once: its name, words, colours, causes of
//! waits, and the advice against it.
//!
//! JSON, CSV, text, verdicts, the page's script and colours, Python's pictures and the manual's tables follow from this
//! table. A new cause is a line of [`Cause`] and a line here.

use pacman_regions::Cause;

/// A state of threads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ThreadState {
    /// Its name in JSON and Python. CSV has the column `<name>_s` for waits.
    pub(crate) name: &'static str,
    /// Its name on the page.
    pub(crate) title: &'static str,
    /// Its meaning, as the report and the manual have it.
    pub(crate) about: &'static str,
    /// Its colour on light and on dark pages.
    pub(crate) colours: [&'static str; 2],
    /// Its background on the page, with `COLOUR` in the places of the colour.
    pub(crate) pattern: &'static str,
    /// The causes of waits in it, each with the words after `threads wait`.
    pub(crate) causes: &'static [(Cause, &'static str)],
    /// Words about waits that have a remedy of their own.
    pub(in crate::run) blame: Option<Blame>,
}

/// The words of a verdict.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::run) struct Blame {
    /// The subject of its sentence.
    pub(in crate::run) subject: &'static str,
    /// Advice in plain words; `None` where the factor of the efficiency tree has it.
    pub(in crate::run) help: Option<&'static str>,
    /// Threads that meet wait for one that has waited so: without its wait it would have been there earlier.
    pub(in crate::run) is_passed_on: bool,
}

/// The states, in the order of bars.
pub(crate) const THREAD_STATES: [ThreadState; 10] = [
    ThreadState {
        name: "useful",
        title: "useful",
        about: "The program's own code, and tasks wherever they run, also inside of a barrier.",
        colours: ["#4a6f8f", "#7fa6c9"],
        pattern: "COLOUR",
        causes: &[],
        blame: None,
    },
    ThreadState {
        name: "start",
        title: "start",
        about: "From the start of the region to the thread's part.",
        colours: ["#6b6f76", "#a3abb6"],
        pattern: "radial-gradient(COLOUR 32%, transparent 36%) 0 0 / 6px 6px, var(--s-ground)",
        causes: &[],
        blame: None,
    },
    ThreadState {
        name: "barrier",
        title: "barrier",
        about: "Waits at barriers.",
        colours: ["#d9730d", "#f0913a"],
        pattern: "repeating-linear-gradient(135deg, COLOUR 0 5px, var(--s-ground) 5px 8px)",
        causes: &[(Cause::Barrier, "at a barrier")],
        blame: None,
    },
    ThreadState {
        name: "worksharing",
        title: "loop end",
        about: "Waits at ends of loops, sections and `single`, and in reductions.",
        colours: ["#c79a00", "#d9b436"],
        pattern: "repeating-linear-gradient(45deg, COLOUR 0 5px, var(--s-ground) 5px 8px)",
        causes: &[
            (Cause::Loop, "at the end of a loop"),
            (Cause::Sections, "at the end of sections"),
            (Cause::Single, "at the end of a single"),
            (Cause::Worksharing, "at the end of a worksharing construct"),
            (Cause::Reduction, "in a reduction"),
        ],
        blame: None,
    },
    ThreadState {
        name: "lock",
        title: "lock",
        about: "Waits for critical sections, atomic operations and locks.",
        colours: ["#b3246b", "#e0609f"],
        pattern: "repeating-linear-gradient(45deg, var(--s-line) 0 1.5px, transparent 1.5px 6px), \
                  repeating-linear-gradient(135deg, var(--s-line) 0 1.5px, transparent 1.5px 6px), COLOUR",
        causes: &[
            (Cause::Critical, "for a critical section"),
            (Cause::Atomic, "for an atomic operation"),
            (Cause::Lock, "for a lock"),
        ],
        blame: Some(Blame {
            subject: "Waiting for a lock",
            help: Some("To help: hold the lock for less work, use several locks, or a reduction."),
            is_passed_on: true,
        }),
    },
    ThreadState {
        name: "chunks",
        title: "chunks of loops",
        about: "Requests for chunks of loops.",
        colours: ["#1c7ed6", "#74b9ff"],
        pattern: "repeating-linear-gradient(90deg, COLOUR 0 6px, var(--s-ground) 6px 8px)",
        causes: &[(Cause::Chunks, "to get chunks of a loop")],
        blame: Some(Blame {
            subject: "Asking for chunks of loops",
            help: Some("To help: give the loop larger chunks, as by schedule(dynamic, 64)."),
            is_passed_on: false,
        }),
    },
    ThreadState {
        name: "ordered",
        title: "ordered",
        about: "Waits for ordered parts, and for iterations that others have to end first.",
        colours: ["#7a4cb8", "#ab84e6"],
        pattern: "repeating-linear-gradient(90deg, COLOUR 0 4px, var(--s-ground) 4px 7px)",
        causes: &[(Cause::Ordered, "for an ordered part")],
        blame: Some(Blame {
            subject: "Waiting for an ordered part",
            help: Some("To help: do less inside of the ordered part."),
            is_passed_on: false,
        }),
    },
    ThreadState {
        name: "tasks",
        title: "tasks",
        about: "Waits in `taskwait` and at ends of taskgroups.",
        colours: ["#0e8a85", "#45bdb5"],
        pattern: "repeating-linear-gradient(0deg, COLOUR 0 3px, var(--s-ground) 3px 5px)",
        causes: &[
            (Cause::Taskwait, "in a taskwait"),
            (Cause::Taskgroup, "at the end of a taskgroup"),
        ],
        blame: Some(Blame {
            subject: "Waiting for tasks",
            help: Some(
                "To help: create more tasks, or tasks of more equal size, before threads wait for them.",
            ),
            is_passed_on: false,
        }),
    },
    ThreadState {
        name: "mpi",
        title: "MPI",
        about: "Calls of MPI.",
        colours: ["#4a7d1f", "#93c45f"],
        pattern: "repeating-linear-gradient(0deg, var(--s-line) 0 1.5px, transparent 1.5px 6px), \
                  repeating-linear-gradient(90deg, var(--s-line) 0 1.5px, transparent 1.5px 6px), COLOUR",
        causes: &[(Cause::Mpi, "in MPI")],
        blame: Some(Blame { subject: "MPI", help: None, is_passed_on: false }),
    },
    ThreadState {
        name: "end",
        title: "region end",
        about: "From the thread's part to the end of the region, without tasks.",
        colours: ["#8a5a3c", "#c58e6a"],
        pattern: "repeating-linear-gradient(135deg, COLOUR 0 2px, var(--s-ground) 2px 6px)",
        causes: &[],
        blame: None,
    },
];

impl ThreadState {
    /// The state of threads that wait for this cause.
    pub(in crate::run) fn of(cause: Cause) -> &'static ThreadState {
        let (state, _) = PLACES[cause as usize];
        &THREAD_STATES[state]
    }

    /// Whether threads wait in it, and for something that has a name.
    pub(crate) fn is_wait(&self) -> bool {
        !self.causes.is_empty()
    }
}

/// The words about threads that wait for this cause: `at a barrier`.
pub(in crate::run) fn words(cause: Cause) -> &'static str {
    let (state, place) = PLACES[cause as usize];
    THREAD_STATES[state].causes[place].1
}

/// The state of each cause and its place there, by the cause's number. It compiles only if each has one.
const PLACES: [(usize, usize); Cause::ALL.len() + 1] = {
    const NOWHERE: (usize, usize) = (usize::MAX, usize::MAX);
    let mut places = [NOWHERE; Cause::ALL.len() + 1];
    let mut state = 0;
    while state < THREAD_STATES.len() {
        let causes = THREAD_STATES[state].causes;
        let mut place = 0;
        while place < causes.len() {
            let cause = causes[place].0 as usize;
            assert!(places[cause].0 == NOWHERE.0, "a cause is in two states");
            places[cause] = (state, place);
            place += 1;
        }
        state += 1;
    }
    let mut cause = 0;
    while cause < Cause::ALL.len() {
        assert!(places[Cause::ALL[cause] as usize].0 != NOWHERE.0, "a cause is in no state");
        cause += 1;
    }
    places
};
