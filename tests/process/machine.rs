//! `PACMAN_MACHINE` through the C API: a wrong name is refused, a right one decides for the process.

use std::ffi::CStr;

use pacman::error::pacman_last_error;
use pacman::topology::{TopologyCounts, pacman_topology_read};

#[test]
fn c_functions_follow_the_variable() {
    let mut counts = TopologyCounts { size: 32, ..TopologyCounts::default() };
    // SAFETY: this process has one test, and nothing else reads its environment now.
    unsafe { std::env::set_var("PACMAN_MACHINE", "p5") };
    // SAFETY: the struct is as long as its size says.
    let refused = unsafe { pacman_topology_read(&mut counts) };
    // SAFETY: the message is closed by a zero, and lasts until this thread's next failure.
    let said = unsafe { CStr::from_ptr(pacman_last_error()) }.to_str().unwrap();
    assert_eq!(refused, -3, "PACMAN_E_INVALID: {said}");
    assert!(said.starts_with("cannot simulate \"p5\": there are p4, nehalem"), "{said}");
    assert!(said.ends_with("(PACMAN_MACHINE in the environment)"), "{said}");

    // SAFETY: as above.
    unsafe { std::env::set_var("PACMAN_MACHINE", "knl") };
    // SAFETY: as above.
    assert_eq!(unsafe { pacman_topology_read(&mut counts) }, 0);
    assert_eq!((counts.contexts, counts.cores, counts.contexts_per_core), (256, 64, 4));
    // The first success decides.
    // SAFETY: as above.
    unsafe { std::env::remove_var("PACMAN_MACHINE") };
    // SAFETY: as above.
    assert_eq!(unsafe { pacman_topology_read(&mut counts) }, 0);
    assert_eq!(counts.contexts, 256);
}
