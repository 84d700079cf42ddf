//! The real OpenMP runtimes behind the entries, and look-ups in them.

use std::ffi::{CStr, CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use pacman_core::fork::Lock;
use pacman_regions::RuntimeFamily;

use crate::function::Function;
use crate::module::Module;
use crate::notes;
use crate::recording;
use crate::stub;

/// One loaded runtime, with its functions. Each is looked up at its first use.
#[derive(Debug)]
pub(crate) struct Runtime {
    /// The handle of its file, with which look-ups see no other runtime. 0 if look-ups are impossible.
    handle: usize,
    real: [AtomicPtr<c_void>; Function::COUNT],
    pub(crate) path: PathBuf,
    pub(crate) family: RuntimeFamily,
}

/// The runtimes seen so far; never removed.
pub(crate) static KNOWN: Lock<Vec<&'static Runtime>> = Lock::new(Vec::new());

/// The first few of them, for code that must not wait for a lock.
static MET: [AtomicPtr<Runtime>; 8] = [const { AtomicPtr::new(null_mut()) }; 8];

/// Stands in `real` for a function that the runtime lacks.
const ABSENT: *mut c_void = std::ptr::without_provenance_mut(1);

/// A function of the OpenMP API without arguments.
pub(crate) type Question = extern "C" fn() -> c_int;

impl Runtime {
    /// The runtime that has the function `real`.
    pub(crate) fn entered(real: *mut c_void) -> &'static Runtime {
        let module = Module::of(real as u64);
        let mut known = KNOWN.lock();
        if let Some(known) = known.iter().find(|runtime| runtime.path == module.path) {
            return known;
        }
        let handle = loaded(&module.path).unwrap_or(libc::RTLD_NEXT as usize);
        let family = family(handle);
        Runtime::keep(&mut known, Runtime::new(handle, null_mut(), module.path, family))
    }

    /// The runtime whose `function` is `real`, with a cache for repeated calls.
    pub(crate) fn that_has(real: *mut c_void, function: Function) -> &'static Runtime {
        let met = |runtime: &Runtime| runtime.real[function as usize].load(Ordering::Relaxed);
        Runtime::met().find(|runtime| met(runtime) == real).unwrap_or_else(|| {
            let runtime = Runtime::entered(real);
            runtime.real[function as usize].store(real, Ordering::Relaxed);
            runtime
        })
    }

    /// The runtime that has `address`, whose functions cannot be looked up by name.
    pub(crate) fn out_of_reach(address: u64) -> &'static Runtime {
        let module = Module::of(address);
        let mut known = KNOWN.lock();
        if let Some(known) = known.iter().find(|runtime| runtime.path == module.path) {
            return known;
        }
        let family = RuntimeFamily::Libomp;
        Runtime::keep(&mut known, Runtime::new(0, ABSENT, module.path, family))
    }

    fn new(handle: usize, real: *mut c_void, path: PathBuf, family: RuntimeFamily) -> Runtime {
        let real = std::array::from_fn(|_| AtomicPtr::new(real));
        Runtime { handle, real, path, family }
    }

    fn keep(known: &mut Vec<&'static Runtime>, runtime: Runtime) -> &'static Runtime {
        let runtime: &'static Runtime = Box::leak(Box::new(runtime));
        if let Some(met) = MET.get(known.len()) {
            met.store(ptr::from_ref(runtime).cast_mut(), Ordering::Release);
        }
        recording::runtime(known.len(), runtime.family, &runtime.path);
        known.push(runtime);
        runtime
    }

    /// All runtimes seen so far.
    pub(crate) fn known() -> Vec<&'static Runtime> {
        KNOWN.lock().clone()
    }

    /// The first few runtimes, without a lock.
    pub(crate) fn met() -> impl Iterator<Item = &'static Runtime> {
        // ATOMICS: pairs with the release in `keep`.
        // SAFETY: runtimes are never freed.
        MET.iter().map_while(|met| unsafe { met.load(Ordering::Acquire).as_ref() })
    }

    /// Its number, in the order of first use.
    pub(crate) fn index(&self) -> usize {
        KNOWN.lock().iter().position(|known| std::ptr::eq(*known, self)).unwrap_or_default()
    }

    /// The real function, or `None` if this runtime lacks it.
    #[inline]
    pub(crate) fn real(&self, function: Function) -> Option<*mut c_void> {
        let real = self.real[function as usize].load(Ordering::Relaxed);
        // One comparison: null and `ABSENT` are the lowest two addresses.
        if real.addr() > ABSENT.addr() { Some(real) } else { self.find(real, function) }
    }

    /// The real function, if it was looked up before.
    #[inline(always)]
    pub(crate) fn looked_up(&self, function: Function) -> Option<*mut c_void> {
        let real = self.real[function as usize].load(Ordering::Relaxed);
        (real.addr() > ABSENT.addr()).then_some(real)
    }

    /// The real function, or `otherwise` if this runtime lacks it. Regions use it: the compiler tests the
    /// answer of [`real`](Self::real) once more.
    #[inline]
    pub(crate) fn real_or(&self, function: Function, otherwise: *mut c_void) -> *mut c_void {
        #[cold]
        #[inline(never)]
        fn find(runtime: &Runtime, function: Function, otherwise: *mut c_void) -> *mut c_void {
            runtime.real(function).unwrap_or(otherwise)
        }
        let real = self.real[function as usize].load(Ordering::Relaxed);
        if real.addr() > ABSENT.addr() { real } else { find(self, function, otherwise) }
    }

    #[cold]
    fn find(&self, known: *mut c_void, function: Function) -> Option<*mut c_void> {
        if known == ABSENT {
            return None;
        }
        let real = look_up(self.handle, function);
        self.real[function as usize].store(real.unwrap_or(ABSENT), Ordering::Relaxed);
        real
    }

    /// The runtime's own function for a question, which does not pass this library's entries.
    #[inline]
    pub(crate) fn question(&self, function: Function) -> Option<Question> {
        let real = self.real(function)?;
        // SAFETY: callers name functions of the OpenMP API without arguments that return an int.
        Some(unsafe { std::mem::transmute::<*mut c_void, Question>(real) })
    }

    /// The answer to a question that is never negative; `unknown` if this runtime lacks the function.
    #[inline(always)]
    pub(crate) fn ask_or(&self, function: Function, unknown: u32) -> u32 {
        #[cold]
        fn lacking(runtime: &Runtime, function: Function, unknown: u32) -> u32 {
            runtime.ask(function).unwrap_or(unknown)
        }
        let real = self.real[function as usize].load(Ordering::Relaxed);
        if real.addr() <= ABSENT.addr() {
            return lacking(self, function, unknown);
        }
        // SAFETY: as in `question`.
        (unsafe { std::mem::transmute::<*mut c_void, Question>(real) })() as u32
    }

    /// The logical CPUs of its places; none if it does not bind threads.
    pub(crate) fn places(&self) -> Vec<u32> {
        let places = self.ask(Function::omp_get_num_places).unwrap_or(0);
        let sizes = self.real(Function::omp_get_place_num_procs);
        let lists = self.real(Function::omp_get_place_proc_ids);
        let (Some(size), Some(list)) = (sizes, lists) else { return Vec::new() };
        // SAFETY: the types are those of the OpenMP API.
        let (size, list) = unsafe {
            (
                std::mem::transmute::<*mut c_void, extern "C" fn(c_int) -> c_int>(size),
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn(c_int, *mut c_int)>(list),
            )
        };
        let cpus = |place: u32| {
            let place = place as c_int;
            let mut cpus = vec![0; usize::try_from(size(place)).unwrap_or(0)];
            // SAFETY: the vector has room for all of them.
            unsafe { list(place, cpus.as_mut_ptr()) };
            cpus.into_iter().filter_map(|cpu| u32::try_from(cpu).ok())
        };
        (0..places).flat_map(cpus).collect()
    }

    /// The answer to a question, if the runtime has one that is not negative.
    pub(crate) fn ask(&self, function: Function) -> Option<u32> {
        u32::try_from(self.question(function)?()).ok()
    }
}

/// The handle of a loaded module, which then stays loaded.
pub(crate) fn loaded(path: &Path) -> Option<usize> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: finds the module again and adds a reference to it.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    (!handle.is_null()).then_some(handle as usize)
}

/// The symbol of that name; null if there is none. `handle` is one of `dlopen` that is never closed, or RTLD_NEXT.
fn by_name(handle: usize, name: &CStr) -> *mut c_void {
    if handle == libc::RTLD_NEXT as usize {
        return stub::next(name);
    }
    // SAFETY: a C string.
    unsafe { libc::dlsym(handle as *mut c_void, name.as_ptr()) }
}

/// Looks up a symbol. Never finds this library's own function of that name: the library is not after
/// itself, and not among another module's dependencies.
pub(crate) fn look_up(handle: usize, function: Function) -> Option<*mut c_void> {
    if handle == 0 {
        return None;
    }
    let real = by_name(handle, function.symbol());
    (!real.is_null()).then_some(real)
}

/// Notes a loaded runtime whose calls did not pass this library, with its address and the possible
/// reasons.
pub(crate) fn note_unreached_runtime() {
    if !KNOWN.lock().is_empty() {
        return;
    }
    if let Some((path, address)) = Module::named(&["libgomp.so", "libomp.so", "libiomp5.so"]) {
        notes::note(format!(
            "{} is loaded at {address:#x}, and no call to it came by: either there was none, or its \
             calls were bound past the library (by RTLD_DEEPBIND, or to a runtime linked statically)",
            path.display()
        ));
    }
}

/// The family of the runtime.
///
/// The first name is OpenACC's, which only libgomp has, since GCC 5. A failed look-up leaves its message
/// on the program's heap, which should stay as it is (see `heap.rs`). So the test for libgomp comes
/// first.
fn family(handle: usize) -> RuntimeFamily {
    let has = |name: &CStr| !by_name(handle, name).is_null();
    match has(c"GOACC_parallel_keyed") || !has(c"__kmpc_begin") {
        true => RuntimeFamily::Libgomp,
        false => RuntimeFamily::Libomp,
    }
}
