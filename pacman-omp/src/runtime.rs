//! The real OpenMP runtimes behind the entries.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};

use pacman_regions::RuntimeFamily;
use parking_lot::Mutex;

use crate::module::Module;

macro_rules! functions {
    ($($name:ident),+ $(,)?) => {
        /// A function of a runtime that this library stands before, or calls itself.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        #[allow(non_camel_case_types)]
        pub(crate) enum Function { $($name),+ }

        impl Function {
            const NAMES: &'static [&'static CStr] = &[$({
                const NAME: &CStr = match CStr::from_bytes_with_nul(
                    concat!(stringify!($name), "\0").as_bytes(),
                ) {
                    Ok(name) => name,
                    Err(_) => panic!("a name has no zero inside"),
                };
                NAME
            }),+];
            const ALL: &'static [Function] = &[$(Function::$name),+];
        }
    };
}

functions!(
    GOMP_parallel,
    GOMP_parallel_start,
    GOMP_parallel_end,
    GOMP_parallel_loop_static,
    GOMP_parallel_loop_dynamic,
    GOMP_parallel_loop_guided,
    GOMP_parallel_loop_runtime,
    GOMP_parallel_loop_nonmonotonic_dynamic,
    GOMP_parallel_loop_nonmonotonic_guided,
    GOMP_parallel_loop_nonmonotonic_runtime,
    GOMP_parallel_loop_maybe_nonmonotonic_runtime,
    GOMP_parallel_loop_static_start,
    GOMP_parallel_loop_dynamic_start,
    GOMP_parallel_loop_guided_start,
    GOMP_parallel_loop_runtime_start,
    GOMP_parallel_sections,
    GOMP_parallel_sections_start,
    GOMP_parallel_reductions,
    GOMP_teams_reg,
    GOMP_task,
    __kmpc_fork_call,
    __kmpc_fork_call_if,
    __kmpc_fork_teams,
    __kmpc_push_num_threads,
    __kmpc_push_num_threads_strict,
    __kmpc_push_num_threads_list,
    __kmpc_push_num_threads_list_strict,
    __kmpc_omp_task_with_deps,
    __kmpc_global_thread_num,
    __kmpc_for_static_init_4,
    __kmpc_for_static_init_4u,
    __kmpc_for_static_init_8,
    __kmpc_for_static_init_8u,
    __kmpc_dispatch_init_4,
    __kmpc_dispatch_init_4u,
    __kmpc_dispatch_init_8,
    __kmpc_dispatch_init_8u,
    __kmpc_barrier,
    kmp_set_blocktime,
    kmp_get_blocktime,
    GOMP_loop_start,
    GOMP_loop_ordered_start,
    GOMP_loop_doacross_start,
    GOMP_loop_static_start,
    GOMP_loop_dynamic_start,
    GOMP_loop_guided_start,
    GOMP_loop_runtime_start,
    GOMP_loop_nonmonotonic_dynamic_start,
    GOMP_loop_nonmonotonic_guided_start,
    GOMP_loop_nonmonotonic_runtime_start,
    GOMP_loop_maybe_nonmonotonic_runtime_start,
    GOMP_loop_ordered_static_start,
    GOMP_loop_ordered_dynamic_start,
    GOMP_loop_ordered_guided_start,
    GOMP_loop_ordered_runtime_start,
    GOMP_loop_doacross_static_start,
    GOMP_loop_doacross_dynamic_start,
    GOMP_loop_doacross_guided_start,
    GOMP_loop_doacross_runtime_start,
    GOMP_loop_ull_start,
    GOMP_loop_ull_ordered_start,
    GOMP_loop_ull_doacross_start,
    GOMP_loop_ull_static_start,
    GOMP_loop_ull_dynamic_start,
    GOMP_loop_ull_guided_start,
    GOMP_loop_ull_runtime_start,
    GOMP_loop_ull_nonmonotonic_dynamic_start,
    GOMP_loop_ull_nonmonotonic_guided_start,
    GOMP_loop_ull_nonmonotonic_runtime_start,
    GOMP_loop_ull_maybe_nonmonotonic_runtime_start,
    GOMP_loop_ull_ordered_static_start,
    GOMP_loop_ull_ordered_dynamic_start,
    GOMP_loop_ull_ordered_guided_start,
    GOMP_loop_ull_ordered_runtime_start,
    GOMP_loop_ull_doacross_static_start,
    GOMP_loop_ull_doacross_dynamic_start,
    GOMP_loop_ull_doacross_guided_start,
    GOMP_loop_ull_doacross_runtime_start,
    GOMP_sections_start,
    GOMP_sections2_start,
    GOMP_taskloop,
    GOMP_taskloop_ull,
    __kmpc_omp_task,
    __kmpc_taskloop,
    __kmpc_taskloop_5,
    __kmpc_threadprivate_cached,
    __kmpc_threadprivate_register,
    __kmpc_threadprivate_register_vec,
    ompt_start_tool,
    omp_set_max_active_levels,
    omp_set_max_active_levels_,
    omp_set_nested,
    omp_set_nested_,
    omp_set_dynamic,
    omp_set_dynamic_,
    omp_set_schedule,
    omp_set_schedule_,
    omp_get_schedule,
    omp_get_schedule_,
    omp_init_lock,
    omp_init_lock_,
    omp_init_nest_lock,
    omp_init_nest_lock_,
    omp_get_num_teams,
    omp_get_team_num,
    omp_get_max_threads,
    omp_get_max_threads_,
    omp_get_num_procs,
    omp_get_num_procs_,
    omp_get_thread_limit,
    omp_get_thread_limit_,
    omp_set_num_threads,
    omp_set_num_threads_,
    omp_set_num_threads_8_,
    omp_get_thread_num,
    omp_get_thread_num_,
    omp_get_num_threads,
    omp_get_num_threads_,
    omp_get_team_size,
    omp_get_team_size_,
    omp_get_team_size_8_,
    omp_get_ancestor_thread_num,
    omp_get_ancestor_thread_num_,
    omp_get_ancestor_thread_num_8_,
    omp_get_level,
    omp_in_parallel,
    omp_in_parallel_,
    omp_get_active_level,
    omp_get_active_level_,
    execve,
    execv,
    execvp,
    execvpe,
    execl,
    execlp,
    execle,
    fexecve,
    _exit,
    _Exit,
);

impl Function {
    /// The symbol.
    pub(crate) fn name(self) -> &'static str {
        Function::NAMES[self as usize].to_str().unwrap_or_default()
    }

    /// The function of that number, as the assembly entries pass it.
    pub(crate) fn numbered(number: u32) -> Function {
        Function::ALL[number as usize]
    }
}

/// One loaded runtime: where its functions are, each looked up when it is first wanted.
#[derive(Debug)]
pub(crate) struct Runtime {
    /// Where symbols are looked up: what `dlopen` answered, or `RTLD_NEXT`.
    handle: usize,
    real: [AtomicPtr<c_void>; Function::ALL.len()],
    pub(crate) path: PathBuf,
    pub(crate) family: RuntimeFamily,
}

/// The runtimes met so far; never taken out.
static KNOWN: Mutex<Vec<&'static Runtime>> = Mutex::new(Vec::new());
/// The runtime of the global scope, once there is one.
static GLOBAL: AtomicPtr<Runtime> = AtomicPtr::new(std::ptr::null_mut());

/// A pointer that `real` holds for a function that the runtime does not have.
const ABSENT: *mut c_void = std::ptr::without_provenance_mut(1);

impl Runtime {
    /// The runtime that `caller`, an address in the calling module, would have reached for
    /// `function` without this library; `None` if there is none.
    ///
    /// Symbols of the global scope come first, as they do for the caller. A module that was
    /// loaded with its own scope brings its runtime along: that one is found through the module.
    pub(crate) fn of(caller: u64, function: Function) -> Option<&'static Runtime> {
        let global = GLOBAL.load(Ordering::Acquire);
        // SAFETY: entered below, and never freed.
        if let Some(global) = unsafe { global.as_ref() } {
            // Another module may have brought a runtime of the other family.
            if global.real(function).is_some() {
                return Some(global);
            }
        }
        Runtime::search(caller, function)
    }

    #[cold]
    fn search(caller: u64, function: Function) -> Option<&'static Runtime> {
        let next = lookup(libc::RTLD_NEXT as usize, function);
        if let Some(real) = next {
            let runtime = Runtime::entered(libc::RTLD_NEXT as usize, real);
            GLOBAL.store(std::ptr::from_ref(runtime).cast_mut(), Ordering::Release);
            return Some(runtime);
        }
        let module = Module::of(caller);
        if module.is_program {
            return None;
        }
        let path = CString::new(module.path.as_os_str().as_bytes()).ok()?;
        // SAFETY: the module is loaded: this finds it again and adds to its count of users.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if handle.is_null() {
            return None;
        }
        let real = lookup(handle as usize, function)?;
        Some(Runtime::entered(handle as usize, real))
    }

    fn entered(handle: usize, real: *mut c_void) -> &'static Runtime {
        let module = Module::of(real as u64);
        let mut known = KNOWN.lock();
        if let Some(known) = known.iter().find(|runtime| runtime.path == module.path) {
            return known;
        }
        // SAFETY: a look-up by name.
        let is_libomp =
            unsafe { !libc::dlsym(handle as *mut c_void, c"__kmpc_begin".as_ptr()).is_null() };
        let family = if is_libomp { RuntimeFamily::Libomp } else { RuntimeFamily::Libgomp };
        let real = [const { AtomicPtr::new(std::ptr::null_mut()) }; Function::ALL.len()];
        let runtime: &'static Runtime =
            Box::leak(Box::new(Runtime { handle, real, path: module.path, family }));
        known.push(runtime);
        runtime
    }

    /// The runtime that has `address`, whose functions cannot be reached by name.
    pub(crate) fn out_of_reach(address: u64) -> &'static Runtime {
        let module = Module::of(address);
        let mut known = KNOWN.lock();
        if let Some(known) = known.iter().find(|runtime| runtime.path == module.path) {
            return known;
        }
        let real = [const { AtomicPtr::new(ABSENT) }; Function::ALL.len()];
        let (handle, family) = (0, RuntimeFamily::Libomp);
        let runtime: &'static Runtime =
            Box::leak(Box::new(Runtime { handle, real, path: module.path, family }));
        known.push(runtime);
        runtime
    }

    /// All that were met.
    pub(crate) fn known() -> Vec<&'static Runtime> {
        KNOWN.lock().clone()
    }

    /// The only runtime met so far, for callers that cannot say whose they are.
    fn any() -> Option<&'static Runtime> {
        KNOWN.try_lock()?.first().copied()
    }

    /// Its place among those met.
    pub(crate) fn index(&self) -> usize {
        KNOWN.lock().iter().position(|known| std::ptr::eq(*known, self)).unwrap_or_default()
    }

    /// The real function, or `None` if this runtime lacks it.
    #[inline]
    pub(crate) fn real(&self, function: Function) -> Option<*mut c_void> {
        let real = self.real[function as usize].load(Ordering::Relaxed);
        if real.is_null() { self.look_up(function) } else { (real != ABSENT).then_some(real) }
    }

    #[cold]
    fn look_up(&self, function: Function) -> Option<*mut c_void> {
        let real = lookup(self.handle, function);
        self.real[function as usize].store(real.unwrap_or(ABSENT), Ordering::Relaxed);
        real
    }
}

thread_local! {
    /// Calls whose real function was found through their module: return address and function.
    static FOUND: [Cell<(u64, *mut c_void)>; 64] =
        const { [const { Cell::new((0, std::ptr::null_mut())) }; 64] };
}

/// The real function of that name for a call that returns to `caller`, where no region says whose
/// it is.
#[inline]
pub(crate) fn real_for(caller: u64, function: Function) -> Option<*mut c_void> {
    let global = GLOBAL.load(Ordering::Acquire);
    // SAFETY: never freed.
    if let Some(real) = unsafe { global.as_ref() }.and_then(|global| global.real(function)) {
        return Some(real);
    }
    FOUND.with(|found| {
        let found = &found[(caller as usize >> 1) % 64];
        let (known, real) = found.get();
        if known == caller {
            return Some(real);
        }
        let real = match Runtime::of(caller, function) {
            Some(runtime) => runtime.real(function),
            None => Runtime::any().and_then(|runtime| runtime.real(function)),
        };
        found.set(real.map_or((0, std::ptr::null_mut()), |real| (caller, real)));
        real
    })
}

/// A function of the C library that this library stands before.
pub(crate) fn real_of_system(function: Function) -> Option<*mut c_void> {
    lookup(libc::RTLD_NEXT as usize, function)
}

/// Looks a symbol up. Neither way of asking answers this library's own function of that name:
/// it is not after itself, and not among what another module needs.
fn lookup(handle: usize, function: Function) -> Option<*mut c_void> {
    let name = Function::NAMES[function as usize];
    // SAFETY: a handle of `dlopen` that is never closed, or RTLD_NEXT.
    let real = unsafe { libc::dlsym(handle as *mut c_void, name.as_ptr()) };
    (!real.is_null()).then_some(real)
}
