//! A forked child of a thread that reads its counters from mapped pages: the
//! kernel does not map those in the child, so a careless read would fault.

use pacman_core::backend::{ReadPath, Reading};
use pacman_core::{ErrorKind, Result, Session};

/// Prints what the child was told, and that the parent still counts.
pub(crate) fn run() -> Result<()> {
    let session = Session::builder("forked").events("INSTRUCTIONS,CYCLES").start()?;
    let thread = session.attach()?;
    assert_eq!(thread.caps().read_path, ReadPath::Rdpmc);
    let (mut before, mut after) = (Reading::EMPTY, Reading::EMPTY);
    thread.read(&mut before)?;
    // SAFETY: this program has one thread, and the child leaves by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let told = thread.read(&mut after).map_err(|error| error.kind());
        let good = told == Err(ErrorKind::Forked);
        // SAFETY: ends the child without the parent's destructors.
        unsafe { libc::_exit(if good { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: waits for the child just made.
    unsafe { libc::waitpid(child, &mut status, 0) };
    if libc::WIFSIGNALED(status) {
        println!("the child died of signal {}", libc::WTERMSIG(status));
    } else {
        println!("the child was told: {}", libc::WEXITSTATUS(status) == 0);
    }
    thread.read(&mut after)?;
    println!("the parent counts: {}", after.count_since(&before, 0) > 0);
    Ok(())
}
