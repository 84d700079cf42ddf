//! Adaptation: ask for the number of threads before a region, and report its time afterwards.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pacman_adapt::predict::{Model, Predictor, machine_name};
use pacman_adapt::{Adapter, Choice, Execution, Objective, Phase};
use pacman_core::{Placement, Topology};
use parking_lot::RwLock;

use crate::error::{Failure, Result, Status, answer_isolated};
use crate::input::{self, Sized32};
use crate::machine;
use crate::version;

/// The type behind the handle of an adapter. No value of it exists.
#[allow(non_camel_case_types)]
pub enum pacman_adapter {}

/// The handle of an adapted phase; `pacman_adapt_phase` in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct AdaptPhaseHandle {
    id: u64,
}

/// The options of an adapter; `pacman_adapt_options` in C.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AdaptOptions {
    /// The size of the caller's struct, in bytes.
    pub size: u32,
    /// The ABI that the caller was compiled for.
    pub abi: u32,
    /// The most threads; 0 for as many as can run at once.
    pub max_threads: u32,
    /// A `PACMAN_OBJECTIVE_` number.
    pub objective: u32,
    /// The adapter leaves shorter phases alone, in nanoseconds; 0 lets it measure the limit.
    pub break_even_ns: u64,
    /// The cost of a change of the number of threads, in nanoseconds.
    pub switch_cost_ns: u64,
    /// The order in which cores are used, or null.
    pub placement: *const c_char,
    /// The file of the model that chooses samples, or null.
    pub model: *const c_char,
    /// This machine's name in the model, or null for the name that `machine_name` gives.
    pub machine: *const c_char,
    /// The most that adaptation may cost, as a part of the time without it; 0 for 0.01.
    pub max_loss: f64,
}

// SAFETY: the fields are numbers and raw pointers, in an order that needs no padding.
unsafe impl Sized32 for AdaptOptions {
    const NAME: &'static str = "a pacman_adapt_options";
    const LEAST: usize = std::mem::offset_of!(AdaptOptions, placement);
}

static ADAPTERS: RwLock<BTreeMap<u64, Adapter>> = RwLock::new(BTreeMap::new());
/// The phases by handle, each with its adapter's handle.
static PHASES: RwLock<BTreeMap<u64, (u64, Phase)>> = RwLock::new(BTreeMap::new());

/// The number of the next handle. Handles are odd, and a tag marks them as handles of adaptation.
static NEXT: AtomicU64 = AtomicU64::new(0);
const TAG: u64 = 0xada9_0000_0001;

/// Executions that a thread has asked for and not reported. Executions of different phases may nest.
type Asked = Vec<(u64, Choice, Instant)>;

thread_local! {
    static ASKED: RefCell<Asked> = const { RefCell::new(Vec::new()) };
}

/// Runs `act` on the executions that this thread has asked for. Fails on a thread that is ending.
fn asked<R>(act: impl FnOnce(&mut Asked) -> R) -> Result<R> {
    ASKED.try_with(|asked| act(&mut asked.borrow_mut())).map_err(|_| {
        Failure::new(
            Status::Detached,
            "cannot adapt on this thread: it is ending, and remembers no executions any more",
        )
    })
}

/// Stands for the time since `pacman_adapt_threads`.
const ELAPSED: f64 = -1.0;

/// Opens an adapter.
///
/// # Safety
/// `options` is null or points to a struct of the length in its `size`. Its strings are null or
/// closed by a zero. `adapter` is null or points to a writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_adapt_open(
    options: *const AdaptOptions,
    adapter: *mut *mut pacman_adapter,
) -> c_int {
    answer_isolated(|| {
        input::present(adapter, "an adapter")?;
        // SAFETY: the caller's promise.
        let options = unsafe { input::sized(options) }?;
        version::shake_hands(options.abi)?;
        let topology = machine::topology()?;
        // SAFETY: the caller's promise.
        let predictor = unsafe { predictor(&options, &topology) }?;
        let objective = objective(options.objective)?;
        let needs_energy = objective.needs_energy();
        let mut builder = Adapter::builder(topology)
            .objective(objective)
            .switch_cost(Duration::from_nanos(options.switch_cost_ns));
        // `build` refuses a machine without energy counters, after it has checked the program's options.
        if let Some(Ok(rapl)) = needs_energy.then(pacman_core::energy::detect) {
            builder = builder.energy(rapl);
        }
        if options.max_threads > 0 {
            builder = builder.max_threads(options.max_threads as usize);
        }
        if options.max_loss != 0.0 {
            builder = builder.max_loss(options.max_loss);
        }
        if options.break_even_ns > 0 {
            builder = builder.break_even(Duration::from_nanos(options.break_even_ns));
        }
        if !options.placement.is_null() {
            // SAFETY: the caller's promise.
            let placement = unsafe { input::text(options.placement, "this as a placement") }?;
            builder = builder.placement(placement.parse::<Placement>()?);
        }
        if let Some(predictor) = predictor {
            builder = builder.predictor(predictor);
        }
        let (handle, built) = (handle(), builder.build()?);
        ADAPTERS.write().insert(handle, built);
        // SAFETY: not null, and the caller's promise.
        unsafe { adapter.write(std::ptr::without_provenance_mut(handle as usize)) };
        Ok(Status::Ok)
    })
}

/// Closes an adapter and its phases.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pacman_adapt_close(adapter: *mut pacman_adapter) -> c_int {
    answer_isolated(|| {
        let handle = adapter.addr() as u64;
        ADAPTERS.write().remove(&handle).ok_or_else(|| unknown(handle, "an open adapter"))?;
        PHASES.write().retain(|_, (owner, _)| *owner != handle);
        Ok(Status::Ok)
    })
}

/// Stores a handle of the adapted phase `name`. The first call with a name makes the phase.
///
/// # Safety
/// `name` is null or a string closed by a zero. `phase` is null or points to a writable word.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_adapt_phase_define(
    adapter: *const pacman_adapter,
    name: *const c_char,
    phase: *mut AdaptPhaseHandle,
) -> c_int {
    answer_isolated(|| {
        input::present(phase, "a phase")?;
        let owner = adapter.addr() as u64;
        // SAFETY: the caller's promise; the name is not kept.
        let name = unsafe { input::text(name, "this as the name of a phase") }?;
        let made = find_adapter(owner)?.phase(name)?;
        let mut phases = PHASES.write();
        let known = phases
            .iter()
            .find(|(_, (other, phase))| *other == owner && phase.name() == name)
            .map(|(&handle, _)| handle);
        let handle = known.unwrap_or_else(handle);
        phases.entry(handle).or_insert((owner, made));
        // SAFETY: not null, and the caller's promise.
        unsafe { phase.write(AdaptPhaseHandle { id: handle }) };
        Ok(Status::Ok)
    })
}

/// Stores the number of threads for the next execution. The number always works, also after a
/// failure.
///
/// # Safety
/// `threads` is null or points to a writable `int`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_adapt_threads(
    phase: AdaptPhaseHandle,
    threads: *mut c_int,
) -> c_int {
    answer_isolated(|| {
        input::present(threads, "the number of threads")?;
        let adapted =
            find_phase(phase).and_then(|adapted| asked(|asked| ask(asked, phase, &adapted)));
        // After a failure the program runs unadapted, as if the library were not there.
        let number = adapted.as_ref().map_or_else(
            |_| std::thread::available_parallelism().map_or(1, |all| all.get()),
            |number| *number,
        );
        // SAFETY: not null, and the caller's promise.
        unsafe { threads.write(number as c_int) };
        adapted.map(|_| Status::Ok)
    })
}

fn ask(asked: &mut Asked, phase: AdaptPhaseHandle, adapted: &Phase) -> usize {
    let choice = adapted.begin();
    let threads = choice.threads();
    // The thread asked again without a report, so the earlier execution did not take place.
    asked.retain(|(other, ..)| *other != phase.id);
    asked.push((phase.id, choice, Instant::now()));
    threads
}

/// Reports the end of the execution that the calling thread asked for.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pacman_adapt_done(phase: AdaptPhaseHandle, seconds: f64) -> c_int {
    answer_isolated(|| {
        let adapted = find_phase(phase)?;
        let last = asked(|asked| {
            let place = asked.iter().rposition(|(other, ..)| *other == phase.id)?;
            Some(asked.remove(place))
        })?;
        let Some((_, choice, begun)) = last else {
            let why = format!(
                "cannot end an execution of {:?}: this thread has not asked pacman_adapt_threads \
                 since the last one",
                adapted.name()
            );
            return Err(Failure::new(Status::PhaseOrder, why));
        };
        let seconds = if seconds == ELAPSED { begun.elapsed().as_secs_f64() } else { seconds };
        adapted.end_with(choice, Execution::seconds(seconds))?;
        Ok(Status::Ok)
    })
}

/// Stores the logical CPUs for the threads of the execution that the calling thread asked for.
///
/// # Safety
/// `cpus` is null or points to `n` writable words. `count` is null or points to a writable
/// `size_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_adapt_cpus(
    phase: AdaptPhaseHandle,
    cpus: *mut u32,
    n: usize,
    count: *mut usize,
) -> c_int {
    answer_isolated(|| {
        input::present(cpus, "cpus")?;
        input::present(count, "the number of cpus")?;
        let adapted = find_phase(phase)?;
        let on = asked(|asked| {
            let mine = asked.iter().rfind(|(other, ..)| *other == phase.id);
            mine.map(|(_, choice, _)| choice.configuration())
        })?;
        let Some(on) = on else {
            let why = format!(
                "cannot tell the cpus of {:?}: this thread has not asked pacman_adapt_threads",
                adapted.name()
            );
            return Err(Failure::new(Status::PhaseOrder, why));
        };
        let owner = PHASES.read().get(&phase.id).map_or(0, |(owner, _)| *owner);
        let places = find_adapter(owner)?.places(on)?;
        if n < places.len() {
            let why = format!("cannot list cpus: there is room for {n}, {on} has {}", places.len());
            return Err(Failure::new(Status::Size, why));
        }
        for (index, place) in places.iter().enumerate() {
            // SAFETY: index < n, by the caller's promise.
            unsafe { cpus.add(index).write(place.cpu()) };
        }
        // SAFETY: not null, and the caller's promise.
        unsafe { count.write(places.len()) };
        Ok(Status::Ok)
    })
}

/// Stores the reason for the next execution's configuration.
///
/// # Safety
/// `line` is null or points to `n` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_adapt_why(
    phase: AdaptPhaseHandle,
    line: *mut c_char,
    n: usize,
) -> c_int {
    answer_isolated(|| {
        input::present(line, "a line")?;
        let why = find_phase(phase)?.why();
        if n == 0 {
            return Err(Failure::new(
                Status::Size,
                "cannot return a line: there is room for 0 bytes",
            ));
        }
        let mut length = why.len().min(n - 1);
        while !why.is_char_boundary(length) {
            length -= 1;
        }
        // SAFETY: length + 1 <= n, and the caller promises n writable bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(why.as_ptr(), line.cast(), length);
            line.add(length).write(0);
        }
        Ok(Status::Ok)
    })
}

/// Looks at the machine again and drops configurations that no longer fit.
///
/// # Safety
/// `dropped` is null or points to a writable `size_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pacman_adapt_refresh(
    adapter: *const pacman_adapter,
    dropped: *mut usize,
) -> c_int {
    answer_isolated(|| {
        let gone = find_adapter(adapter.addr() as u64)?.refresh()?;
        if !dropped.is_null() {
            // SAFETY: not null, and the caller's promise.
            unsafe { dropped.write(gone.len()) };
        }
        Ok(Status::Ok)
    })
}

/// The predictor of the options' model, if they name one.
///
/// # Safety
/// The options' strings are null or closed by a zero.
unsafe fn predictor(
    options: &AdaptOptions,
    topology: &Topology,
) -> Result<Option<Arc<dyn Predictor>>> {
    if options.model.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise; neither string is kept.
    let file = unsafe { input::bytes(options.model, "this as the file of a model") }?;
    let machine = match options.machine.is_null() {
        true => machine_name(topology),
        // SAFETY: as above.
        false => unsafe { input::text(options.machine, "this as a machine") }?.to_owned(),
    };
    let model = Model::from_file(Path::new(OsStr::from_bytes(file)))?;
    Ok(Some(model.adapting(&machine)?))
}

fn objective(number: u32) -> Result<Objective> {
    Ok(match number {
        0 => Objective::Time,
        1 => Objective::Energy,
        2 => Objective::EnergyDelay,
        3 => Objective::EnergyDelaySquared,
        other => {
            let why = format!(
                "cannot adapt for objective {other}: there is no such number; use a \
                 PACMAN_OBJECTIVE_ of pacman.h"
            );
            return Err(Failure::new(Status::Invalid, why));
        }
    })
}

fn handle() -> u64 {
    TAG + 2 * NEXT.fetch_add(1, Ordering::Relaxed)
}

fn find_adapter(handle: u64) -> Result<Adapter> {
    ADAPTERS.read().get(&handle).cloned().ok_or_else(|| unknown(handle, "an open adapter"))
}

fn find_phase(handle: AdaptPhaseHandle) -> Result<Phase> {
    let found = PHASES.read().get(&handle.id).map(|(_, phase)| phase.clone());
    found.ok_or_else(|| unknown(handle.id, "a phase of an open adapter"))
}

#[cold]
fn unknown(handle: u64, what: &str) -> Failure {
    let why = format!("cannot adapt: {handle:#x} is not {what}; it may have been closed");
    Failure::new(Status::Handle, why)
}
