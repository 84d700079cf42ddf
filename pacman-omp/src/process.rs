//! The process that the library was loaded into: its beginning, its forks and its end.

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use pacman_core::clock::Clock;
use pacman_core::fork::Lock;
use pacman_core::topology::CpuSet;
use pacman_regions::Options;

use crate::adapt;
use crate::arena;
use crate::fork;
use crate::function::Function;
use crate::heap;
use crate::isolation::isolated;
use crate::recording;
use crate::region;
use crate::runtime::{self, Runtime};
use crate::tls;
use crate::worker::Worker;
use crate::worksharing;

struct Process {
    options: Options,
    clock: Clock,
}

/// What every region reads, on a cache line that nothing else writes to.
#[repr(align(64))]
struct AtEveryRegion {
    /// Whether there is anything to do.
    observed: AtomicBool,
    /// Whether regions are adapted, too.
    adapted: AtomicBool,
    /// When this process began, in ticks; a forked child has its own.
    begun: AtomicU64,
    /// How often the program has called what may change the threads that its teams get.
    changes: AtomicU32,
    /// See [`config_epoch`].
    config_epoch: AtomicU32,
}

static PROCESS: OnceLock<Process> = OnceLock::new();
static HERE: AtEveryRegion = AtEveryRegion {
    observed: AtomicBool::new(false),
    adapted: AtomicBool::new(false),
    begun: AtomicU64::new(0),
    changes: AtomicU32::new(0),
    config_epoch: AtomicU32::new(1),
};
/// The process that all the above is of: in the child of a `vfork` it is another.
static PID: AtomicU32 = AtomicU32::new(0);
/// What the default of threads and the contexts were at the first region.
pub(crate) static FIRST_REGION: Lock<Option<FirstRegion>> = Lock::new(None);
/// The program asked how many threads there may be since the last region.
static ASKED: AtomicBool = AtomicBool::new(false);
/// The program decided how many threads there are to be since the last region.
static DECIDED: AtomicBool = AtomicBool::new(false);
/// It asked at all, so that it may keep something for each thread.
static EVER_ASKED: AtomicBool = AtomicBool::new(false);
/// See [`keeps_by_thread`].
static BY_THREAD: AtomicBool = AtomicBool::new(false);
/// LLVM's leagues start their teams' regions on threads that nothing else marks.
static TEAMS: AtomicBool = AtomicBool::new(false);
pub(crate) static NOTES: Lock<Vec<String>> = Lock::new(Vec::new());

/// What was found at the first region.
#[derive(Clone, Debug)]
pub(crate) struct FirstRegion {
    pub(crate) threads: u32,
    /// The logical CPUs that the process may use.
    pub(crate) cpus: CpuSet,
    /// Ticks of begin and end, and how counts are read.
    pub(crate) overhead: (u64, &'static str),
}

/// The loader calls it before the program begins.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char) = loaded;

unsafe extern "C" fn loaded(_: c_int, _: *const *const c_char, environment: *const *const c_char) {
    let get = |name: &str| -> Option<OsString> {
        // SAFETY: an array of strings with a null at its end, as the C library passes it to
        // every library that it loads; none of it changes before the program begins.
        unsafe {
            let mut at = environment;
            while !at.is_null() && !(*at).is_null() {
                let text = CStr::from_ptr(*at).to_bytes();
                let value = text.strip_prefix(name.as_bytes());
                if let Some(value) = value.and_then(|rest| rest.strip_prefix(b"=")) {
                    return Some(OsStr::from_bytes(value).to_owned());
                }
                at = at.add(1);
            }
        }
        None
    };
    let (options, wrong) = Options::read(get);
    if !options.records() && options.adapt.is_none() {
        return;
    }
    let clock = Clock::detect();
    NOTES.lock().extend(wrong);
    let forced = get(worksharing::FORCED).is_some();
    HERE.adapted.store(options.adapt.is_some() || forced, Ordering::Relaxed);
    if PROCESS.set(Process { options, clock }).is_ok() {
        arena::open(self::options());
        begin();
        recording::command();
        notes().iter().for_each(|line| recording::note(line));
        tls::watch_threads();
        heap::watch_forks();
        pacman_core::backend::install_atfork();
        fork::watch();
        // SAFETY: a function of this library, which is never unloaded.
        unsafe { libc::atexit(at_exit) };
        HERE.observed.store(true, Ordering::Release);
    }
}

/// The process begins, by being started or forked.
pub(crate) fn begin() {
    HERE.begun.store(clock().now(), Ordering::Relaxed);
    PID.store(std::process::id(), Ordering::Relaxed);
    arena::begin();
}

/// Whether regions are observed at all.
#[inline]
pub(crate) fn is_observed() -> bool {
    // ATOMICS: set once before the program begins; acquire for `PROCESS` behind it.
    HERE.observed.load(Ordering::Acquire)
}

/// Whether they may get other threads than the program would have.
#[inline]
pub(crate) fn is_adapted() -> bool {
    HERE.adapted.load(Ordering::Relaxed)
}

/// What was wished for.
pub(crate) fn options() -> &'static Options {
    static NONE: OnceLock<Options> = OnceLock::new();
    PROCESS.get().map_or_else(|| NONE.get_or_init(Options::default), |process| &process.options)
}

/// The clock of all times.
#[inline]
pub(crate) fn clock() -> Clock {
    PROCESS.get().map_or_else(Clock::detect, |process| process.clock)
}

/// `begun`, or when this process began if that was later: a child that was forked inside a region
/// is in an execution that its parent began. And how long that was after the process began.
#[inline(always)]
pub(crate) fn own(begun: u64) -> (u64, u64) {
    let process = HERE.begun.load(Ordering::Relaxed);
    let begun = begun.max(process);
    (begun, begun - process)
}

/// Ticks from `begun` to `ended`, as far as they are this process's.
#[inline(always)]
pub(crate) fn between(begun: u64, ended: u64) -> u64 {
    ended.saturating_sub(own(begun).0)
}

/// The program asked how many threads there may be, outside of regions.
pub(crate) fn asked() {
    set_once(&ASKED);
    asked_inside();
}

/// The program decided how many threads there are to be, outside of regions: it knows their number
/// from then on.
pub(crate) fn decided() {
    set_once(&DECIDED);
    asked_inside();
}

/// Whether it did since this was called last.
#[inline]
pub(crate) fn take_decided() -> bool {
    DECIDED.load(Ordering::Relaxed) && DECIDED.swap(false, Ordering::Relaxed)
}

/// The same from inside of a region.
pub(crate) fn asked_inside() {
    set_once(&EVER_ASKED);
}

/// Whether it asked outside of regions since this was called last.
#[inline]
pub(crate) fn take_asked() -> bool {
    ASKED.load(Ordering::Relaxed) && ASKED.swap(false, Ordering::Relaxed)
}

/// Whether it ever asked.
#[inline]
pub(crate) fn has_asked() -> bool {
    EVER_ASKED.load(Ordering::Relaxed)
}

/// The program calls a function that may change how many threads its teams get.
pub(crate) fn may_change_teams() {
    HERE.changes.fetch_add(1, Ordering::Relaxed);
    advance_config_epoch();
}

/// How often it has. What a runtime answered stays true while this does, on the same thread.
#[inline]
pub(crate) fn changes() -> u32 {
    HERE.changes.load(Ordering::Relaxed)
}

/// How often anything has happened by which a region may no longer run as it did before: the
/// program has called what may change its teams, was seen to do what it had not done before, or
/// threads were bound. Never 0.
///
/// Who has looked at all of that and finds the same number later need not look again. The number
/// is asked for before the look.
#[inline(always)]
pub(crate) fn config_epoch() -> u32 {
    // ATOMICS: what other threads do at the same time may be noticed one region later.
    HERE.config_epoch.load(Ordering::Relaxed)
}

/// Something of that kind has happened.
#[cold]
pub(crate) fn advance_config_epoch() {
    let next = |config_epoch: u32| Some(config_epoch.checked_add(1).unwrap_or(1));
    let _ = HERE.config_epoch.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
}

/// What `known` is about has happened, which is news the first time.
#[inline]
pub(crate) fn set_once(known: &AtomicBool) {
    if !known.load(Ordering::Relaxed) {
        known.store(true, Ordering::Relaxed);
        advance_config_epoch();
    }
}

/// The program has data by thread that the runtime keeps for it: clang's without thread-local
/// storage of the system.
pub(crate) fn keeps_by_thread() {
    set_once(&BY_THREAD);
}

/// Whether it has such data.
pub(crate) fn has_data_by_thread() -> bool {
    BY_THREAD.load(Ordering::Relaxed)
}

/// The program has run a league of teams.
pub(crate) fn teams() {
    set_once(&TEAMS);
}

/// Whether it has run one.
pub(crate) fn has_teams() -> bool {
    TEAMS.load(Ordering::Relaxed)
}

/// Something that the reader of the recording should know; the same line is kept once.
pub(crate) fn note(line: String) {
    let mut notes = NOTES.lock();
    if !notes.contains(&line) {
        recording::note(&line);
        notes.push(line);
    }
}

/// The notes so far.
pub(crate) fn notes() -> Vec<String> {
    NOTES.lock().clone()
}

/// What was found at the first region.
pub(crate) fn first() -> Option<FirstRegion> {
    FIRST_REGION.lock().clone()
}

/// Looks at the machine and the runtime when a new region is met.
///
/// Where the runtime cannot be asked for its number of threads it is what this region asked for.
pub(crate) fn first_region(runtime: &'static Runtime, requested: u32) {
    if FIRST_REGION.lock().is_some() {
        return;
    }
    // Not with the lock: libomp begins when it is asked, and then has a lock that it holds over
    // forks as well, and takes before ours.
    let threads = runtime.ask(Function::omp_get_max_threads).unwrap_or(requested);
    // A runtime that binds threads has bound this one by now.
    let cpus = own_mask().chain(runtime.places()).collect();
    let mut first = FIRST_REGION.lock();
    if first.is_some() {
        return;
    }
    let overhead = isolated(|| Worker::here().measured());
    recording::first(first.insert(FirstRegion { threads, cpus, overhead }));
}

/// The logical CPUs that the calling thread may use.
fn own_mask() -> impl Iterator<Item = u32> {
    // SAFETY: a plain set of bits, filled by the call.
    let mask = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, std::mem::size_of_val(&set), &raw mut set);
        set
    };
    // SAFETY: all these are in the set.
    (0..libc::CPU_SETSIZE as u32)
        .filter(move |cpu| unsafe { libc::CPU_ISSET(*cpu as usize, &mask) })
}

/// Whether memory is this process's: in the child of a `vfork` it is the parent's.
fn is_own() -> bool {
    is_observed() && std::process::id() == PID.load(Ordering::Relaxed)
}

extern "C" fn at_exit() {
    if is_own() {
        isolated(runtime::note_unreached_runtime);
        if is_adapted() {
            region::all().into_iter().for_each(adapt::record_outcome);
        }
        ends(false);
    }
}

/// The process ends without its exit handlers, or becomes another program. It may be in a signal
/// handler, anywhere in its code: only numbers are stored.
pub(crate) fn leaves(becomes_another: bool) {
    if is_own() {
        ends(becomes_another);
    }
}

fn ends(becomes_another: bool) {
    arena::ends(becomes_another, own(clock().now()).1);
}
