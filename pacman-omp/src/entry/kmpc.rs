//! libomp's entries that start a team.
//!
//! `__kmpc_fork_call` takes a body and any number of words for it. Stable Rust can neither define such
//! a function nor call the body, so both ends are assembly. The entry stores the words for Rust, and
//! [`pacman_omp_invoke`] passes them to the body.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr;

use crate::arch::{WORDS_OF_BODY, WORDS_OF_CALL, prefetch};
use crate::counting::Counting;
use crate::execution;
use crate::function::Function;
use crate::runtime::Runtime;
use crate::team::{Call, Team, TeamMode, mode};
use crate::worker::Worker;

/// LLVM's `ident_t`, whose last member is the place in the source.
#[repr(C)]
pub(crate) struct Ident {
    reserved_1: i32,
    flags: i32,
    reserved_2: [i32; 2],
    source: *const c_char,
}

impl Ident {
    /// The kind of the construct; 0 if the compiler passes none.
    ///
    /// # Safety
    /// `ident` is null or points to an `ident_t`.
    #[inline]
    pub(super) unsafe fn flags(ident: *const Ident) -> i32 {
        // SAFETY: as the caller guarantees.
        unsafe { ident.as_ref() }.map_or(0, |ident| ident.flags)
    }
}

/// The most arguments of a body without an allocation.
const FEW: usize = 64;

unsafe extern "C-unwind" {
    /// Calls `body(gtid, btid, arguments[0], …)`. At least [`WORDS_OF_BODY`] words must be readable there.
    fn pacman_omp_invoke(
        body: *const c_void,
        gtid: *mut i32,
        btid: *mut i32,
        count: usize,
        arguments: *const usize,
    );
}

crate::arch::words! {
    fork_call = sym fork_call,
}

/// `__kmpc_fork_call` in Rust, with the first three words and those after them.
unsafe extern "C-unwind" fn fork_call(
    place: *const Ident,
    count: i32,
    body: *const c_void,
    first: *const usize,
    others: *const usize,
) {
    if body == kmpc_either as *const c_void {
        // SAFETY: libomp calls this entry for `__kmpc_fork_call_if`, with the word that we passed there.
        return unsafe { pass_on(place, *first as *const Team) };
    }
    let count = count.max(0) as usize;
    let mut few = MaybeUninit::<[usize; 1 + FEW]>::uninit();
    let mut many: Vec<usize>;
    let after_body: *mut usize = if count > FEW {
        many = vec![0; 1 + count];
        many.as_mut_ptr()
    } else {
        few.as_mut_ptr().cast()
    };
    // SAFETY: there are at least 65 words.
    let words = unsafe { after_body.add(1) };
    // SAFETY: the words are the caller's: registers, which are readable even if unused, and the stack
    // arguments. There is room for all of them, and for those that a body gets at least.
    unsafe {
        ptr::copy_nonoverlapping(first, words, WORDS_OF_CALL);
        words.add(WORDS_OF_CALL).write(0);
        for number in WORDS_OF_CALL..count {
            words.add(number).write(*others.add(number - WORDS_OF_CALL));
        }
    }
    let name = Function::__kmpc_fork_call;
    // SAFETY: compilers pass a description, or null.
    let source = unsafe { place.as_ref() }.map_or(ptr::null(), |place| place.source);
    let call = || Call { entry: name, body, data: words.cast(), words: count, threads: 0, source };
    let start = move |team: &Team, threads: u32, mode: TeamMode| {
        let Some(real) = team.real(name) else { return };
        if threads > 0 {
            push_num_threads(team, place, threads);
        }
        // SAFETY: the runtime's function of that name; a team is one word.
        unsafe {
            let real: ForkCall = std::mem::transmute(real);
            real(place, 1, kmpc_body(mode), ptr::from_ref(team));
        }
    };
    let bare = |runtime: &'static Runtime| {
        let Some(real) = runtime.real(name) else { return };
        // SAFETY: the runtime's function of that name, with the program's own arguments. It takes its
        // first three arguments in the registers of a body's.
        unsafe {
            after_body.write(body as usize);
            let (place, words) = (place.cast_mut().cast(), count + 1);
            let count = ptr::without_provenance_mut(count);
            pacman_omp_invoke(real, place, count, words, after_body);
        }
    };
    let ran = execution::run(body, call, start, bare);
    if !ran {
        let (mut gtid, mut btid) = (0, 0);
        // SAFETY: as the runtime does with one thread.
        unsafe { pacman_omp_invoke(body, &raw mut gtid, &raw mut btid, count, words) };
    }
}

/// As `__kmpc_fork_call` with one word or none; serial if `condition` is 0.
#[unsafe(export_name = "pacman_omp_entry___kmpc_fork_call_if")]
pub unsafe extern "C-unwind" fn __kmpc_fork_call_if(
    place: *const Ident,
    _count: i32,
    body: *const c_void,
    condition: i32,
    word: *mut c_void,
) {
    let name = Function::__kmpc_fork_call_if;
    let mut words = [0; WORDS_OF_BODY];
    words[0] = word as usize;
    let count = usize::from(!word.is_null());
    // SAFETY: compilers pass a description, or null.
    let source = unsafe { place.as_ref() }.map_or(ptr::null(), |place| place.source);
    let (data, threads) = (words.as_mut_ptr().cast(), u32::from(condition == 0));
    let call = || Call { entry: name, body, data, words: count, threads, source };
    let start = move |team: &Team, threads: u32, mode: TeamMode| {
        let Some(real) = team.real(name) else { return };
        team.set_mode(mode);
        if condition != 0 && threads > 0 {
            push_num_threads(team, place, threads);
        }
        // SAFETY: the runtime's function of that name.
        unsafe {
            let real: ForkCallIf = std::mem::transmute(real);
            real(place, 1, kmpc_either, condition, ptr::from_ref(team));
        }
    };
    // The runtime calls `__kmpc_fork_call`, which must know the call.
    let bare = |runtime| start(&Team::unobserved(&call(), runtime), threads, TeamMode::Unobserved);
    let ran = execution::run(body, call, start, bare);
    if !ran {
        let (mut gtid, mut btid) = (0, 0);
        // SAFETY: as the runtime does with one thread.
        unsafe { pacman_omp_invoke(body, &raw mut gtid, &raw mut btid, count, words.as_ptr()) };
    }
}

type Microtask = unsafe extern "C-unwind" fn(*mut i32, *mut i32, *const Team);
/// `__kmpc_fork_call` with one word.
type ForkCall = unsafe extern "C-unwind" fn(*const Ident, i32, Microtask, ...);
type ForkCallIf = unsafe extern "C-unwind" fn(*const Ident, i32, Microtask, i32, *const Team);

/// Passes on a call of `__kmpc_fork_call` that libomp made for `__kmpc_fork_call_if`.
unsafe fn pass_on(place: *const Ident, team: *const Team) {
    // SAFETY: the word is the team that `__kmpc_fork_call_if` passed and still has.
    let Some(real) = (unsafe { (*team).real(Function::__kmpc_fork_call) }) else { return };
    // SAFETY: the runtime's function of that name.
    unsafe {
        let real: ForkCall = std::mem::transmute(real);
        real(place, 1, kmpc_either, team);
    }
}

/// Requests the size of the calling thread's next team, as the clause does.
fn push_num_threads(team: &Team, place: *const Ident, threads: u32) {
    let functions = (Function::__kmpc_global_thread_num, Function::__kmpc_push_num_threads);
    let (Some(number), Some(push)) = (team.real(functions.0), team.real(functions.1)) else {
        return;
    };
    // SAFETY: the runtime's functions of those names.
    unsafe {
        let number: unsafe extern "C" fn(*const Ident) -> i32 = std::mem::transmute(number);
        let push: unsafe extern "C" fn(*const Ident, i32, i32) = std::mem::transmute(push);
        push(place, number(place), threads as i32);
    }
}

/// The body that every member of a libomp team runs.
#[inline(always)]
fn kmpc_body(mode: TeamMode) -> Microtask {
    match mode {
        TeamMode::Unobserved => kmpc_bare,
        TeamMode::Observed => kmpc_watched::<{ mode::OBSERVED }>,
        TeamMode::Adapted => kmpc_watched::<{ mode::ADAPTED }>,
        TeamMode::Waits => kmpc_watched::<{ mode::WAITS }>,
        TeamMode::Sampled => kmpc_watched::<{ mode::SAMPLED }>,
        TeamMode::Rotating => kmpc_watched::<{ mode::ROTATING }>,
        TeamMode::Traced => kmpc_watched::<{ mode::TRACED }>,
        TeamMode::Packed => kmpc_watched::<{ mode::PACKED }>,
    }
}

/// The body that every member of an observed libomp team runs.
unsafe extern "C-unwind" fn kmpc_watched<const MODE: u8>(
    gtid: *mut i32,
    btid: *mut i32,
    team: *const Team,
) {
    // SAFETY: libomp passes the team that was started with this body, which lives until all members are done, and the
    // numbers of the calling member.
    unsafe {
        match Worker::known() {
            Some(worker) => match worker.counters() {
                Some(counters) => kmpc_part::<MODE>(gtid, btid, team, worker, counters),
                None if worker.is_prepared() => kmpc_part::<MODE>(gtid, btid, team, worker, ()),
                None => kmpc_first::<MODE>(gtid, btid, team),
            },
            None => kmpc_first::<MODE>(gtid, btid, team),
        }
    }
}

/// The first part of a thread, which opens its counters.
#[cold]
#[inline(never)]
unsafe extern "C-unwind" fn kmpc_first<const MODE: u8>(
    gtid: *mut i32,
    btid: *mut i32,
    team: *const Team,
) {
    Worker::here().prepared();
    // SAFETY: libomp passes the team that was started with this body, which lives until all members are done, and the
    // numbers of the calling member.
    unsafe { kmpc_watched::<MODE>(gtid, btid, team) }
}

#[inline(never)]
unsafe extern "C-unwind" fn kmpc_part<const MODE: u8>(
    gtid: *mut i32,
    btid: *mut i32,
    team: *const Team,
    worker: &Worker,
    counting: impl Counting,
) {
    // SAFETY: the entry passes a team with the body of its mode, and the team lives until all members
    // are done. libomp passes the number in the team.
    unsafe {
        let (this, thread) = (&*team, *btid);
        // The words are on another line of the primary thread's stack, and needed after the clock is
        // read. A prefetch has no other effect.
        if this.words() > 0 {
            prefetch(this.data.cast());
        }
        let body = move || kmpc_bare(gtid, btid, team);
        this.take_part::<MODE>((worker, counting), move || thread as u32, body);
    }
}

/// Runs the program's own body.
#[inline]
unsafe extern "C-unwind" fn kmpc_bare(gtid: *mut i32, btid: *mut i32, team: *const Team) {
    // SAFETY: the program's own words for its own body, with room for [`WORDS_OF_BODY`] at least.
    unsafe {
        let team = &*team;
        pacman_omp_invoke(team.body, gtid, btid, team.words(), team.data.cast());
    }
}

/// The body of any mode. It marks libomp's own call of `__kmpc_fork_call`.
unsafe extern "C-unwind" fn kmpc_either(gtid: *mut i32, btid: *mut i32, team: *const Team) {
    // SAFETY: libomp passes the team that was started with this body, which lives until all members are done, and the
    // numbers of the calling member.
    unsafe { kmpc_body((*team).mode())(gtid, btid, team) }
}
