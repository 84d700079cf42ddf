//! Starts the program without a copy of this process's page tables.

use std::ffi::{CStr, CString, OsStr, OsString, c_char};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::ptr;

use crate::signals::Inherited;
use crate::started;

/// The variables that a program's environment gets.
#[derive(Debug, Default)]
pub(super) struct Environment {
    pub(super) set: Vec<(&'static str, OsString)>,
    pub(super) removed: Vec<OsString>,
}

/// Starts the program by `posix_spawnp`. `None` if it must be started by `fork`: the program shall have
/// signals or streams that `posix_spawn` cannot give it, or only a shell can run it.
pub(super) fn spawn(
    command: &[OsString],
    environment: &Environment,
    inherited: &Inherited,
) -> Option<io::Result<libc::pid_t>> {
    if !inherited.has_default_child_signal() || started::has_closed_streams() {
        return None;
    }
    let arguments = strings(command.iter().cloned())?;
    let variables = strings(variables(environment))?;
    let attributes = Attributes::of(inherited)?;
    let mut pid = 0;
    // SAFETY: the lists end in a null, and all that they point to lives until after the call.
    let error = unsafe {
        libc::posix_spawnp(
            &raw mut pid,
            arguments[0].as_ptr(),
            ptr::null(),
            &raw const attributes.0,
            pointers(&arguments).as_ptr(),
            pointers(&variables).as_ptr(),
        )
    };
    match error {
        0 => Some(Ok(pid)),
        // `execvp` has a shell run such a file.
        libc::ENOEXEC => None,
        error => Some(Err(io::Error::from_raw_os_error(error))),
    }
}

/// The entries of this process's environment in their order, with the changes of `environment` behind them. A name that
/// stands twice does so in the program, and so does an entry without `=`.
fn variables(environment: &Environment) -> impl Iterator<Item = OsString> {
    let is_changed = |entry: &OsString| {
        let name = entry.as_bytes().split(|&byte| byte == b'=').next().unwrap_or_default();
        environment.removed.iter().any(|removed| removed.as_bytes() == name)
            || environment.set.iter().any(|(set, _)| set.as_bytes() == name)
    };
    let mut all = entries();
    all.retain(|entry| !is_changed(entry));
    all.extend(environment.set.iter().map(|(name, value)| {
        let mut text = OsString::from(name);
        text.push("=");
        text.push(value);
        text
    }));
    all.into_iter()
}

/// The entries of this process's environment. `std::env` has no name twice.
fn entries() -> Vec<OsString> {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: the C library's list, which ends in a null or is one. No thread of this process changes it.
    unsafe {
        let entry = |at: usize| (!environ.is_null()).then(|| *environ.add(at));
        let all = (0..).map_while(entry).take_while(|entry| !entry.is_null());
        all.map(|entry| OsStr::from_bytes(CStr::from_ptr(entry).to_bytes()).to_owned()).collect()
    }
}

/// `None` if a text has a zero byte.
fn strings(texts: impl Iterator<Item = OsString>) -> Option<Vec<CString>> {
    texts.map(|text| CString::new(text.into_vec()).ok()).collect()
}

fn pointers(texts: &[CString]) -> Vec<*mut c_char> {
    let texts = texts.iter().map(|text| text.as_ptr().cast_mut());
    texts.chain([ptr::null_mut()]).collect()
}

/// The C library's own signals.
const INTERNAL: [u32; 2] = [32, 33];

/// Whether this process ignores one of the C library's own signals, of which `sigaction` says nothing.
fn ignores_internal(signal: u32) -> bool {
    // The kernel's structure: a handler, flags, a restorer and a set of signals.
    let mut action = [0usize; 4];
    // SAFETY: the kernel writes one structure of that size.
    let status = unsafe {
        let (none, set) = (std::ptr::null::<usize>(), size_of::<u64>());
        libc::syscall(libc::SYS_rt_sigaction, signal, none, action.as_mut_ptr(), set)
    };
    status == 0 && action[0] == libc::SIG_IGN
}

/// The signals of a program that is to be started.
struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn of(inherited: &Inherited) -> Option<Attributes> {
        let flags = libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF;
        let mut attributes = MaybeUninit::uninit();
        let mut defaults = MaybeUninit::uninit();
        // SAFETY: the first call initialises the value, `sigemptyset` the set.
        unsafe {
            if libc::posix_spawnattr_init(attributes.as_mut_ptr()) != 0 {
                return None;
            }
            let mut attributes = Attributes(attributes.assume_init());
            libc::sigemptyset(defaults.as_mut_ptr());
            // A child of `posix_spawn` ignores the C library's own signals, unless they are in this set,
            // which `sigaddset` refuses. Sets of signals are bits from signal 1 on.
            for signal in INTERNAL.into_iter().filter(|&signal| !ignores_internal(signal)) {
                *defaults.as_mut_ptr().cast::<u64>() |= 1 << (signal - 1);
            }
            // Rust's runtime ignores it.
            if !started::has_ignored_pipe() {
                libc::sigaddset(defaults.as_mut_ptr(), libc::SIGPIPE);
            }
            let at = &raw mut attributes.0;
            let is_set = libc::posix_spawnattr_setsigdefault(at, defaults.as_ptr()) == 0
                && libc::posix_spawnattr_setsigmask(at, inherited.mask()) == 0
                && libc::posix_spawnattr_setflags(at, flags as libc::c_short) == 0;
            is_set.then_some(attributes)
        }
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: `of` initialised it.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}
