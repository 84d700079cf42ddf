//! Attaching needs little of the calling thread's stack: programs give their threads as little as
//! the system allows.

use std::ffi::c_void;
use std::ptr::null_mut;

use pacman_core::Session;

use crate::session;

/// Room for all that a build without optimisation puts on the stack.
const STACK: usize = 1 << 20;
const PAINT: u8 = 0xa5;
/// Of attach, a phase and detach, which took 21 kB when this was written, and 35 kB before rows were
/// made on the heap. Without optimisation every move is a copy of its own: with it, they take less
/// than half of that.
const MOST: usize = 24 << 10;

extern "C" fn attach_and_leave(open: *mut c_void) -> *mut c_void {
    // SAFETY: the test passes its session, and waits for this thread.
    let open = unsafe { &*open.cast::<Session>() };
    let phase = open.phase("phase").unwrap();
    let thread = open.attach().unwrap();
    thread.run(phase, || ()).unwrap();
    thread.detach();
    null_mut()
}

/// How many bytes of its stack a thread used for that.
fn used(open: &Session) -> usize {
    // SAFETY: the stack is a mapping of its own, which outlives its thread; all pointers are to
    // live values.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let stack = libc::mmap(null_mut(), STACK, access, flags, -1, 0);
        assert_ne!(stack, libc::MAP_FAILED);
        stack.cast::<u8>().write_bytes(PAINT, STACK);
        let (mut attributes, mut thread) = (std::mem::zeroed(), std::mem::zeroed());
        assert_eq!(libc::pthread_attr_init(&mut attributes), 0);
        assert_eq!(libc::pthread_attr_setstack(&mut attributes, stack, STACK), 0);
        let argument = std::ptr::from_ref(open).cast_mut().cast();
        assert_eq!(libc::pthread_create(&mut thread, &attributes, attach_and_leave, argument), 0);
        assert_eq!(libc::pthread_join(thread, null_mut()), 0);
        libc::pthread_attr_destroy(&mut attributes);
        let bytes = std::slice::from_raw_parts(stack.cast::<u8>(), STACK);
        let untouched = bytes.iter().take_while(|byte| **byte == PAINT).count();
        libc::munmap(stack, STACK);
        STACK - untouched
    }
}

#[test]
fn attaching_takes_little_stack() {
    let open = session("small-stack", "task-clock,page-faults");
    // The first use of what is made once is not the thread's.
    used(&open);
    let used = used(&open);
    assert!((1 << 10..MOST).contains(&used), "{used} bytes");
}
