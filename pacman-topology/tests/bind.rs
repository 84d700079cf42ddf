//! Binding threads of this process; a test binary of its own because masks are the process's state.
//!
//! Every test binds only threads it has made, so the tests can run side by side.

#[path = "topology/tree.rs"]
#[allow(dead_code, reason = "each test binary uses its part of the helper")]
mod tree;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use pacman_topology::CpuSet;
use pacman_topology::current_cpu;
use pacman_topology::{Binding, ErrorKind, Placement, Topology};

use crate::tree::Tree;

/// The calling thread's mask, as the kernel prints it.
fn mask() -> CpuSet {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    CpuSet::from_list(line).unwrap()
}

fn only(cpu: u32) -> CpuSet {
    [cpu].into_iter().collect()
}

fn set_mask(cpus: &CpuSet) {
    let list = cpus.to_string();
    let thread = fs::read_link("/proc/thread-self").unwrap();
    let id = thread.file_name().unwrap().to_str().unwrap().to_owned();
    let status = std::process::Command::new("taskset").args(["-cp", &list, &id]).output().unwrap();
    assert!(status.status.success(), "{status:?}");
}

fn on_a_thread(body: impl FnOnce(&Topology) + Send) {
    let here = Topology::detect().unwrap();
    thread::scope(|scope| scope.spawn(|| body(&here)).join()).unwrap();
}

#[test]
fn every_allowed_context_can_be_bound_and_left() {
    on_a_thread(|here| {
        let before = mask();
        let count = here.allowed().len();
        for place in Placement::Compact.places(here, count).unwrap() {
            let binding = Binding::bind(here, &place).unwrap();
            assert_eq!(mask(), only(place.cpu()));
            assert_eq!(*binding.place(), place);
            assert_eq!(current_cpu(), Some(place.cpu()));
            binding.check().unwrap();
            drop(binding);
            assert_eq!(mask(), before);
        }
    });
}

#[test]
fn a_panic_restores_the_mask() {
    on_a_thread(|here| {
        let before = mask();
        let place = Placement::Compact.places(here, 1).unwrap()[0];
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let _binding = Binding::bind(here, &place).unwrap();
            assert_eq!(mask(), only(place.cpu()));
            std::panic::resume_unwind(Box::new("inside the binding"));
        }));
        assert!(outcome.is_err());
        assert_eq!(mask(), before);
    });
}

#[test]
fn nested_bindings_unwind_in_order() {
    on_a_thread(|here| {
        let before = mask();
        let cpus: Vec<u32> = here.allowed().iter().collect();
        let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
        let outer = Binding::bind(here, &here.place(first).unwrap()).unwrap();
        let inner = Binding::bind(here, &here.place(last).unwrap()).unwrap();
        assert_eq!(mask(), only(last));
        assert_eq!(
            Topology::detect().unwrap().allowed(),
            here.allowed(),
            "a bound thread still sees all"
        );
        drop(inner);
        assert_eq!(mask(), only(first));
        drop(outer);
        assert_eq!(mask(), before);
    });
}

#[test]
fn a_mask_that_someone_else_set_is_kept() {
    on_a_thread(|here| {
        let all = here.allowed();
        if all.len() < 2 {
            pacman_suite::skipped("one context");
            return;
        }
        let place = here.place(all.first().unwrap()).unwrap();
        let binding = Binding::bind(here, &place).unwrap();
        let others = all.difference(&only(place.cpu()));
        set_mask(&others);
        let error = binding.check().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PlaceNotAllowed);
        assert_eq!(
            error.to_string(),
            format!(
                "cannot keep the thread on cpu {}: its mask is now {others}; the cpuset was changed, the cpu went \
                 offline, or someone else set the mask; detect the topology and bind again",
                place.cpu()
            )
        );
        drop(binding);
        assert_eq!(mask(), others);
    });
}

#[test]
fn a_narrowed_thread_is_told_who_narrowed_it() {
    on_a_thread(|here| {
        let all = here.allowed();
        if all.len() < 2 {
            pacman_suite::skipped("one context");
            return;
        }
        let (first, last) = (all.first().unwrap(), all.last().unwrap());
        set_mask(&only(first));
        let smaller = Topology::detect().unwrap();
        assert_eq!(smaller.allowed(), only(first));
        let error = smaller.place(last).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PlaceNotAllowed);
        assert_eq!(
            error.to_string(),
            format!(
                "cannot place a thread on cpu {last}: the affinity mask leaves cpu {first}; run there, \
                 or start the program without taskset or numactl"
            )
        );
    });
}

#[test]
fn another_machine_cannot_be_bound_to() {
    on_a_thread(|_| {
        let before = mask();
        let made_up = Topology::synthetic("1 core").unwrap();
        let error = Binding::bind(&made_up, &made_up.place(0).unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ForeignTopology);
        assert_eq!(
            error.to_string(),
            "cannot bind to cpu 0: the topology is synthetic \"1 core\", not this system's; use Topology::detect"
        );

        let tree = Tree::of("xeon-e5-2660v2");
        let server = tree.read();
        let error = Binding::bind(&server, &server.place(0).unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ForeignTopology);
        assert_eq!(
            error.to_string(),
            format!(
                "cannot bind to cpu 0: the topology is {}/sys, not this system's; use Topology::detect",
                tree.root().display()
            )
        );
        assert_eq!(mask(), before);
    });
}

#[test]
fn a_place_of_another_topology_is_refused() {
    on_a_thread(|here| {
        let other = Topology::synthetic("3 packages, 3000 cores, 3 threads").unwrap();
        let place = other.place(26_000).unwrap();
        let error = Binding::bind(here, &place).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoSuchPlace);
        assert_eq!(
            error.to_string(),
            "cannot bind to cpu 26000 (package 2, core 8666, sibling 2): the place belongs to another topology; \
             ask this one for its places"
        );
    });
}

#[test]
fn two_threads_hold_two_places_at_once() {
    let here = Topology::detect().unwrap();
    let count = here.allowed().len().min(2);
    let places = Placement::Scatter.places(&here, count).unwrap();
    let barrier = pacman_suite::Barrier::new(count);
    thread::scope(|scope| {
        for place in &places {
            scope.spawn(|| {
                let _binding = Binding::bind(&here, place).unwrap();
                barrier.wait();
                assert_eq!(mask(), only(place.cpu()));
                barrier.wait();
            });
        }
    });
}
