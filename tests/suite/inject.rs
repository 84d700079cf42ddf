//! Programs whose n-th system call fails, as it would where memory, descriptors or rights ran out.
//!
//! A seccomp filter has the kernel ask this process about each call of the kinds that are watched. A call counts as
//! a module's if that is the innermost one outside of the C library on the stack of the thread. A call is left alone
//! if it is the observed program's own, or if nobody knows whose it is.

use std::io::{self, Error};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use crate::unwind::{Stack, Tables};

/// Far more than any program of the tests needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(40);

/// A system call of the modules that are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its number.
    pub number: i64,
    /// Its arguments.
    pub arguments: [u64; 6],
    /// Which of the modules made it; 0 if those of counters are watched.
    pub module: usize,
}

/// A call that fails. It is known by its kind: threads make their calls in another order each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which of the modules makes it.
    pub module: usize,
    /// Its number.
    pub number: i64,
    /// Which of the module's calls of that number, from 1.
    pub nth: usize,
    /// The error that it gives.
    pub errno: i32,
}

/// Runs a command, watches calls of these numbers by these modules (ends of their paths), and has one
/// of those that may fail do so; these calls in their order.
///
/// The command's standard streams should be files: a pipe that is full would stop both.
///
/// # Errors
/// `Unsupported` where the kernel allows no such filter, or on another processor than x86-64, `TimedOut` if the command
/// hangs and was killed; otherwise if it cannot be started.
pub fn watch(
    command: Command,
    numbers: &[i64],
    modules: &[&str],
    may_fail: impl Fn(&Call) -> bool + Sync,
    fault: Option<Fault>,
) -> io::Result<(Child, Vec<Call>)> {
    // Elsewhere the return address of a function that calls no other is in a register, which `/proc` does not show.
    if !cfg!(target_arch = "x86_64") {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let of_module = |asked: &libc::seccomp_notif, tables: &mut Tables| {
        let module = caller(asked.pid, asked.data.instruction_pointer, modules, tables)?;
        Some(Call::of(asked, module)).filter(&may_fail)
    };
    watch_those(command, numbers, of_module, fault)
}

/// The numbers of the calls that [`watch_counters`] knows.
pub const OF_COUNTERS: [i64; 4] =
    [libc::SYS_perf_event_open, libc::SYS_mmap, libc::SYS_ioctl, libc::SYS_read];

/// As [`watch`], the calls that open, map, switch and read perf's counters, on any processor and whoever makes them.
///
/// # Errors
/// As for [`watch`], without those about the processor.
pub fn watch_counters(command: Command, fault: Option<Fault>) -> io::Result<(Child, Vec<Call>)> {
    let of_counter = |asked: &libc::seccomp_notif, _: &mut Tables| {
        let call = Call::of(asked, 0);
        is_about_counter(asked.pid, &call).then_some(call)
    };
    watch_those(command, &OF_COUNTERS, of_counter, fault)
}

/// Whether it opens a counter, or its descriptor is one.
fn is_about_counter(thread: u32, call: &Call) -> bool {
    let descriptor = match call.number {
        libc::SYS_perf_event_open => return true,
        libc::SYS_mmap => call.arguments[4],
        _ => call.arguments[0],
    };
    let link = std::fs::read_link(format!("/proc/{thread}/fd/{}", descriptor as i32));
    link.is_ok_and(|target| target.as_os_str() == "anon_inode:[perf_event]")
}

impl Call {
    fn of(asked: &libc::seccomp_notif, module: usize) -> Call {
        Call { number: asked.data.nr.into(), arguments: asked.data.args, module }
    }
}

/// Runs a command, and has one of the calls of these numbers fail that `watched` gives.
fn watch_those(
    mut command: Command,
    numbers: &[i64],
    watched: impl Fn(&libc::seccomp_notif, &mut Tables) -> Option<Call> + Sync,
    fault: Option<Fault>,
) -> io::Result<(Child, Vec<Call>)> {
    command.process_group(0);
    let filter = filter(numbers);
    let (ours, theirs) = UnixStream::pair()?;
    let refused = AtomicBool::new(false);
    // The child's number, which is that of its group.
    let group = AtomicI32::new(0);
    let sender = theirs.as_raw_fd();
    // SAFETY: system calls only, on what was made before the fork.
    unsafe { command.pre_exec(move || send(sender, listener(&filter)?)) };
    let (child, calls) = std::thread::scope(|scope| {
        let supervisor = scope.spawn(|| match receive(ours.as_raw_fd()) {
            Ok(listener) => {
                let calls = supervise(&listener, &watched, fault);
                // ATOMICS: a number alone.
                let group = group.load(Ordering::Relaxed);
                if calls.is_err() && group > 0 {
                    // SAFETY: the group is the child's own.
                    unsafe { libc::kill(-group, libc::SIGKILL) };
                }
                calls
            }
            Err(error) => {
                refused.store(true, Ordering::Relaxed);
                Err(error)
            }
        });
        let mut child = command.spawn();
        // Without a child nobody sends.
        drop(command);
        drop(theirs);
        if let Ok(child) = &mut child {
            group.store(child.id() as i32, Ordering::Relaxed);
            // Before Linux 6.11 a listener hears of the last one's end only when that is waited for.
            let _ = child.wait();
        }
        (child, supervisor.join().expect("the supervisor does not panic"))
    });
    if refused.load(Ordering::Relaxed) {
        let why = child.err().map_or_else(|| "no listener".to_owned(), |error| error.to_string());
        return Err(Error::new(io::ErrorKind::Unsupported, why));
    }
    Ok((child?, calls?))
}

/// Calls of these numbers are asked about, all others allowed.
fn filter(numbers: &[i64]) -> Vec<libc::sock_filter> {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    // The number of the call is the first word of what a filter sees.
    let mut filter = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for &number in numbers {
        let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        filter.push(step(equal, 0, 1, u32::try_from(number).expect("a small number")));
        filter.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_USER_NOTIF));
    }
    filter.push(step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW));
    filter
}

/// Installs the filter on this process; the descriptor through which the kernel asks.
fn listener(filter: &[libc::sock_filter]) -> io::Result<RawFd> {
    // No signal but a fatal one interrupts who waits for the answer, and so no call is asked about twice.
    const WAIT_KILLABLE_RECV: libc::c_ulong = 1 << 5;
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE_RECV;
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: numbers, and a program that lives until the calls return.
    let answer = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        let mode = libc::SECCOMP_SET_MODE_FILTER;
        libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program)
    };
    if answer < 0 { Err(Error::last_os_error()) } else { Ok(answer as RawFd) }
}

/// A message of one byte with room for a descriptor.
#[repr(C)]
struct Message {
    header: libc::cmsghdr,
    descriptor: RawFd,
    _padding: u32,
}

/// Hands `message` and one byte to `call`, and has a failure as an error.
fn transfer(
    message: &mut Message,
    call: impl FnOnce(*mut libc::msghdr) -> isize,
) -> io::Result<usize> {
    let mut byte = 0u8;
    let mut vector = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // SAFETY: all zeros are a header without anything.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut vector;
    header.msg_iovlen = 1;
    header.msg_control = (&raw mut *message).cast();
    header.msg_controllen = size_of::<Message>() as _;
    let length = call(&raw mut header);
    if length < 0 { Err(Error::last_os_error()) } else { Ok(length as usize) }
}

fn empty_message(descriptor: RawFd) -> Message {
    let length = size_of::<libc::cmsghdr>() + size_of::<RawFd>();
    let header = libc::cmsghdr {
        cmsg_len: length as _,
        cmsg_level: libc::SOL_SOCKET,
        cmsg_type: libc::SCM_RIGHTS,
    };
    Message { header, descriptor, _padding: 0 }
}

fn send(socket: RawFd, descriptor: RawFd) -> io::Result<()> {
    // SAFETY: the message lives during the call.
    let send = |header: *mut libc::msghdr| unsafe { libc::sendmsg(socket, header, 0) };
    transfer(&mut empty_message(descriptor), send).map(drop)
}

fn receive(socket: RawFd) -> io::Result<OwnedFd> {
    let mut message = empty_message(-1);
    // SAFETY: the message lives during the call.
    let receive = |header: *mut libc::msghdr| unsafe {
        libc::recvmsg(socket, header, libc::MSG_CMSG_CLOEXEC)
    };
    if transfer(&mut message, receive)? == 0 || message.descriptor < 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    // SAFETY: the kernel has just made it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(message.descriptor) })
}

impl Fault {
    /// Whether it is the latest of the calls that fails.
    fn is_now(&self, calls: &[Call]) -> bool {
        let is_alike = |call: &&Call| (call.module, call.number) == (self.module, self.number);
        calls.last().filter(is_alike).is_some() && calls.iter().filter(is_alike).count() == self.nth
    }
}

/// Answers until nobody is left to ask.
fn supervise(
    listener: &OwnedFd,
    watched: impl Fn(&libc::seccomp_notif, &mut Tables) -> Option<Call>,
    fault: Option<Fault>,
) -> io::Result<Vec<Call>> {
    /// SECCOMP_IOCTL_NOTIF_RECV and _SEND of linux/seccomp.h.
    const RECEIVE: libc::c_ulong = 0xc050_2100;
    const SEND: libc::c_ulong = 0xc018_2101;
    let (mut calls, mut tables) = (Vec::new(), Tables::default());
    let deadline = Instant::now() + PATIENCE;
    loop {
        if Instant::now() > deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut wait = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which lives during the call.
        let ready = unsafe { libc::poll(&raw mut wait, 1, PATIENCE.as_millis() as i32) };
        if ready == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if wait.revents & libc::POLLIN == 0 {
            return Ok(calls);
        }
        // SAFETY: all zeros are what the kernel wants before it asks.
        let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the structure is the one of this request.
        if unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE, &raw mut asked) } != 0 {
            // It was killed meanwhile.
            continue;
        }
        let call = watched(&asked, &mut tables);
        calls.extend(call);
        let fails = call.is_some() && fault.is_some_and(|fault| fault.is_now(&calls));
        let mut answer = libc::seccomp_notif_resp {
            id: asked.id,
            val: 0,
            error: if fails { -fault.map_or(0, |fault| fault.errno) } else { 0 },
            flags: if fails { 0 } else { libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32 },
        };
        // SAFETY: as above; who was killed meanwhile needs no answer.
        unsafe { libc::ioctl(listener.as_raw_fd(), SEND, &raw mut answer) };
    }
}

/// Which of the modules is the innermost on the stack of a thread, outside of the C library. What the loader does is
/// nobody's.
fn caller(thread: u32, pointer: u64, modules: &[&str], tables: &mut Tables) -> Option<usize> {
    let is_library = |name: &str| ["libc.so.6", "[vdso]"].iter().any(|end| name.ends_with(end));
    let found = Stack::of(thread).ok()?;
    let found = found.innermost(pointer, tables, is_library)?;
    modules.iter().position(|end| found.ends_with(end))
}
