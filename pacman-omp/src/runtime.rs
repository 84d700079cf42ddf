//! The real OpenMP runtimes behind the entries, and look-ups in them.

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use pacman_regions::RuntimeFamily;

use crate::function::Function;
use crate::lock::Lock;
use crate::module::{File, Module};
use crate::recording;
use crate::scope::Scope;

/// One runtime, with its functions. Each is looked up at its first use. A runtime that is unloaded has none
/// until its file is loaded again.
#[derive(Debug)]
pub(crate) struct Runtime {
    /// Where its functions are looked up; `None` if that is impossible.
    scope: Option<Scope>,
    real: [AtomicPtr<c_void>; Function::COUNT],
    pub(crate) file: &'static File,
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
        if let Some(known) = known.iter().find(|runtime| ptr::eq(runtime.file, module.file)) {
            return known;
        }
        let scope = Scope::of(module.file);
        let family = family(scope);
        Runtime::keep(&mut known, Runtime::new(Some(scope), module.file, family))
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
        if let Some(known) = known.iter().find(|runtime| ptr::eq(runtime.file, module.file)) {
            return known;
        }
        Runtime::keep(&mut known, Runtime::new(None, module.file, RuntimeFamily::Libomp))
    }

    fn new(scope: Option<Scope>, file: &'static File, family: RuntimeFamily) -> Runtime {
        let real = std::array::from_fn(|_| AtomicPtr::new(null_mut()));
        Runtime { scope, real, file, family }
    }

    fn keep(known: &mut Vec<&'static Runtime>, runtime: Runtime) -> &'static Runtime {
        let runtime: &'static Runtime = Box::leak(Box::new(runtime));
        if let Some(met) = MET.get(known.len()) {
            met.store(ptr::from_ref(runtime).cast_mut(), Ordering::Release);
        }
        recording::runtime(known.len(), runtime.family, &runtime.file.path);
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
        let Some(scope) = self.scope else {
            self.real[function as usize].store(ABSENT, Ordering::Relaxed);
            return None;
        };
        // While its file is not loaded, nothing is known of its functions.
        let real = scope.function(function.symbol())?;
        self.real[function as usize].store(real.unwrap_or(ABSENT), Ordering::Relaxed);
        real
    }

    /// Forgets the functions at `addresses`.
    fn forget(&self, addresses: &Range<u64>) {
        for real in &self.real {
            let known = real.load(Ordering::Relaxed);
            if addresses.contains(&(known as u64)) {
                // ATOMICS: no thread calls a function that is gone.
                real.store(null_mut(), Ordering::Relaxed);
            }
        }
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

/// Forgets the functions of all runtimes at `addresses`.
pub(crate) fn forget(addresses: &Range<u64>) {
    KNOWN.lock().iter().for_each(|runtime| runtime.forget(addresses));
}

/// The family of the runtime. Only libgomp has OpenACC's functions, since GCC 5.
fn family(scope: Scope) -> RuntimeFamily {
    match scope.has(c"GOACC_parallel_keyed") || !scope.has(c"__kmpc_begin") {
        true => RuntimeFamily::Libgomp,
        false => RuntimeFamily::Libomp,
    }
}
