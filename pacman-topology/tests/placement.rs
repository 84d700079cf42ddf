//! Placement policies: known answers, properties on every kind of machine, and refusals word for word.

#[path = "topology/tree.rs"]
#[allow(dead_code, reason = "each test binary uses its part of the helper")]
mod tree;

use std::collections::BTreeSet;

use pacman_topology::CoreType;
use pacman_topology::{ErrorKind, Place, Placement, Topology};
use proptest::prelude::*;

use crate::tree::Tree;

fn cpus(machine: &Topology, placement: &str, threads: usize) -> Vec<u32> {
    let places = placement.parse::<Placement>().unwrap().places(machine, threads).unwrap();
    places.iter().map(Place::cpu).collect()
}

fn refusal(machine: &Topology, placement: &str, threads: usize) -> (ErrorKind, String) {
    let error = placement.parse::<Placement>().unwrap().places(machine, threads).unwrap_err();
    (error.kind(), error.to_string())
}

/// The server, with only some CPUs left by its cgroup.
fn confined(cpus: &str) -> Topology {
    Tree::of("xeon-e5-2660v2")
        .with("proc/self/cgroup", "0::/")
        .with("sys/fs/cgroup/cpuset.cpus.effective", cpus)
        .read()
}

#[test]
fn policies_on_a_two_way_server() {
    let server = Tree::of("xeon-e5-2660v2").read();
    assert_eq!(cpus(&server, "compact", 6), [0, 20, 1, 21, 2, 22]);
    assert_eq!(cpus(&server, "compact", 40)[18..22], [9, 29, 10, 30]);
    assert_eq!(cpus(&server, "scatter", 6), [0, 10, 1, 11, 2, 12]);
    assert_eq!(cpus(&server, "scatter", 40)[18..24], [9, 19, 20, 30, 21, 31]);
    assert_eq!(cpus(&server, "one-per-core", 20), (0..20).collect::<Vec<_>>());
    assert_eq!(cpus(&server, "siblings-together", 6), [0, 20, 10, 30, 1, 21]);
    assert_eq!(cpus(&server, "30,5-7,20", 5), [30, 5, 6, 7, 20]);
    assert_eq!(cpus(&server, "30,5-7,20", 2), [30, 5]);
}

#[test]
fn places_carry_their_whole_address() {
    let server = Tree::of("xeon-e5-2660v2").read();
    let place = Placement::SiblingsTogether.places(&server, 4).unwrap()[3];
    assert_eq!(
        (place.cpu(), place.package(), place.core(), place.sibling(), place.node()),
        (30, 1, 10, 1, 1)
    );
    assert_eq!(place.core_type(), CoreType::Uniform);
    assert_eq!(place.to_string(), "cpu 30 (package 1, core 10, sibling 1)");
    assert_eq!(server.place(30).unwrap(), place);
}

#[test]
fn scatter_alternates_dies_within_a_package() {
    let opteron = Tree::of("opteron-two-dies").read();
    assert_eq!(cpus(&opteron, "scatter", 9), [0, 12, 24, 36, 6, 18, 30, 42, 1]);
}

#[test]
fn knights_landing_uses_second_siblings_last() {
    let phi = Tree::of("xeon-phi-7250").read();
    assert_eq!(cpus(&phi, "compact", 5), [0, 68, 136, 204, 1]);
    assert_eq!(cpus(&phi, "scatter", 272), (0..272).collect::<Vec<_>>());
    assert_eq!(cpus(&phi, "siblings-together", 8), [0, 68, 136, 204, 1, 69, 137, 205]);
}

#[test]
fn uneven_cores_of_power8() {
    let power = Tree::of("power8-smt8").read();
    assert_eq!(
        cpus(&power, "scatter", 15),
        [8, 40, 80, 128, 48, 88, 136, 56, 96, 152, 68, 104, 72, 112, 153]
    );
    assert_eq!(cpus(&power, "siblings-together", 8), (152..160).collect::<Vec<_>>());
    assert_eq!(
        refusal(&power, "siblings-together", 4),
        (
            ErrorKind::InvalidInput,
            "cannot place 4 threads siblings-together: the last core, 13 with cpus 152-159, would not be full; use \
             8 threads"
                .to_owned()
        )
    );
}

#[test]
fn hybrids_fill_performance_cores_first() {
    let hybrid = Tree::of("core-i9-12900k").read();
    assert_eq!(cpus(&hybrid, "compact", 18), (0..18).collect::<Vec<_>>());
    assert_eq!(
        cpus(&hybrid, "scatter", 24),
        [0, 2, 4, 6, 8, 10, 12, 14, 16, 17, 18, 19, 20, 21, 22, 23, 1, 3, 5, 7, 9, 11, 13, 15]
    );
    assert_eq!(cpus(&hybrid, "one-per-core", 9), [0, 2, 4, 6, 8, 10, 12, 14, 16]);
    assert_eq!(
        Placement::SiblingsTogether.capacity(&hybrid).unwrap(),
        16,
        "E-cores have no siblings"
    );

    // Whatever the numbering: here the efficiency cores come first.
    let other = Topology::synthetic("4 e-cores, 2 p-cores, 2 threads").unwrap();
    assert_eq!(cpus(&other, "compact", 5), [4, 5, 6, 7, 0]);
    assert_eq!(cpus(&other, "scatter", 8), [4, 6, 0, 1, 2, 3, 5, 7]);
    assert_eq!(cpus(&other, "one-per-core", 3), [4, 6, 0]);
}

#[test]
fn only_allowed_contexts_are_given() {
    let machine = confined("0-2,20,31");
    assert_eq!(cpus(&machine, "compact", 5), [0, 20, 1, 2, 31]);
    assert_eq!(cpus(&machine, "scatter", 5), [0, 31, 1, 2, 20]);
    assert_eq!(cpus(&machine, "one-per-core", 4), [0, 1, 2, 31]);
    assert_eq!(cpus(&machine, "siblings-together", 2), [0, 20]);
}

#[test]
fn too_many_threads_are_counted_against_the_machine() {
    let machine = Topology::synthetic("2 packages, 2 cores, 2 threads").unwrap();
    for (placement, threads, message) in [
        (
            "compact",
            9,
            "cannot place 9 threads compact: 8 contexts are there; use at most 8 threads",
        ),
        (
            "scatter",
            10,
            "cannot place 10 threads scatter: 8 contexts are there; use at most 8 threads",
        ),
        (
            "one-per-core",
            5,
            "cannot place 5 threads one-per-core: 4 cores are there; use at most 4 threads",
        ),
        (
            "siblings-together",
            10,
            "cannot place 10 threads siblings-together: 8 contexts on cores with siblings are there; use at most \
             8 threads",
        ),
        ("1,3", 3, "cannot place 3 threads 1,3: 2 listed cpus are there; use at most 2 threads"),
    ] {
        assert_eq!(
            refusal(&machine, placement, threads),
            (ErrorKind::NoSuchPlace, message.to_owned())
        );
    }
    let smt_off = Tree::of("xeon-e5-2687wv4-smt-off").read();
    assert_eq!(
        refusal(&smt_off, "siblings-together", 2),
        (
            ErrorKind::NoSuchPlace,
            "cannot place 2 threads siblings-together: 0 contexts on cores with siblings are there; choose \
             another placement"
                .to_owned()
        )
    );
}

#[test]
fn too_many_threads_for_the_cpuset_name_it() {
    assert_eq!(
        refusal(&confined("0-2,20"), "compact", 5),
        (
            ErrorKind::PlaceNotAllowed,
            "cannot place 5 threads compact: 4 of 40 contexts are allowed (the cpuset in \
             /sys/fs/cgroup/cpuset.cpus.effective leaves cpus 0-2,20); use at most 4 threads"
                .to_owned()
        )
    );
    assert_eq!(
        refusal(&confined("0-2"), "siblings-together", 2),
        (
            ErrorKind::PlaceNotAllowed,
            "cannot place 2 threads siblings-together: 0 of 40 contexts on cores with siblings are allowed (the \
             cpuset in /sys/fs/cgroup/cpuset.cpus.effective leaves cpus 0-2); choose another placement"
                .to_owned()
        )
    );
}

#[test]
fn a_policy_without_places_says_what_the_machine_lacks() {
    // As many as fit: what sessions, adapters and the command ask for.
    let refused = |machine: &Topology| {
        let fit = Placement::SiblingsTogether.capacity(machine).unwrap();
        refusal(machine, "siblings-together", fit)
    };
    let lacking = (
        ErrorKind::NoSuchPlace,
        "cannot place threads siblings-together: no core that this process may use has two contexts; use \
         compact"
            .to_owned(),
    );
    assert_eq!(refused(&Tree::of("xeon-e5-2687wv4-smt-off").read()), lacking);
    assert_eq!(refused(&Topology::synthetic("2 cores").unwrap()), lacking);
    assert_eq!(
        refused(&confined("0-2")),
        (
            ErrorKind::PlaceNotAllowed,
            "cannot place threads siblings-together: this process may use no core with all of its two or more \
             contexts (the cpuset in /sys/fs/cgroup/cpuset.cpus.effective leaves cpus 0-2); use compact"
                .to_owned()
        )
    );
}

#[test]
fn places_that_cannot_be_had_say_why() {
    let holes = Tree::of("xeon-tulsa-holes").read();
    assert_eq!(
        refusal(&holes, "0,16", 1),
        (
            ErrorKind::NoSuchPlace,
            "cannot place a thread on cpu 16: Intel(R) Xeon(TM) CPU 2.60GHz has no such hardware context; choose \
             from 0,1,3,4,6-12,15"
                .to_owned()
        )
    );
    assert_eq!(
        refusal(&holes, "13", 1),
        (
            ErrorKind::PlaceNotAllowed,
            "cannot place a thread on cpu 13: it is present but offline; as root, write 1 to \
             /sys/devices/system/cpu/cpu13/online"
                .to_owned()
        )
    );
    let error = confined("0-3").place(4).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PlaceNotAllowed);
    assert_eq!(
        error.to_string(),
        "cannot place a thread on cpu 4: the cpuset in /sys/fs/cgroup/cpuset.cpus.effective leaves cpus 0-3; \
         run there, or give the container or job more cpus"
    );
}

#[test]
fn malformed_teams_are_refused() {
    let machine = Topology::synthetic("4 cores, 2 threads").unwrap();
    assert_eq!(
        refusal(&machine, "scatter", 0),
        (
            ErrorKind::Empty,
            "cannot place 0 threads scatter: a team has at least one; ask for 1 or more".to_owned()
        )
    );
    assert_eq!(
        refusal(&machine, "3,1,3", 3),
        (
            ErrorKind::InvalidInput,
            "cannot place threads on 3,1,3: cpu 3 is listed twice; list each cpu once".to_owned()
        )
    );
    assert_eq!(
        refusal(&machine, "siblings-together", 3),
        (
            ErrorKind::InvalidInput,
            "cannot place 3 threads siblings-together: the last core, 1 with cpus 2,3, would not be full; use 2 \
             or 4 threads"
                .to_owned()
        )
    );
    let empty =
        "cannot place threads on an empty list of cpus: list one cpu for each thread, like 0,2,4-7";
    let error = Placement::List(Vec::new()).places(&machine, 1).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Empty, empty));
    let error = " ".parse::<Placement>().unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Empty, empty));
}

#[test]
fn placements_are_read_and_written_alike() {
    for text in ["compact", "scatter", "one-per-core", "siblings-together", "4", "0,2,4,5,6,7"] {
        assert_eq!(text.parse::<Placement>().unwrap().to_string(), text);
    }
    assert_eq!("0, 2,4-7".parse::<Placement>().unwrap(), Placement::List(vec![0, 2, 4, 5, 6, 7]));
    for (text, item) in [
        ("compct", "compct"),
        ("0,,1", ""),
        ("3-1", "3-1"),
        ("0,x", "x"),
        ("99999999999", "99999999999"),
    ] {
        let error = text.parse::<Placement>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(
            error.to_string(),
            format!(
                "cannot read placement {text:?}: {item:?} is neither a policy nor a cpu; use compact, scatter, \
                 one-per-core, siblings-together or a list like 0,2,4-7"
            )
        );
    }
}

const FIXTURES: [&str; 7] = [
    "core-i9-12900k",
    "opteron-two-dies",
    "power8-smt8",
    "xeon-e5-2660v2",
    "xeon-e5-2687wv4-smt-off",
    "xeon-phi-7250",
    "xeon-tulsa-holes",
];

fn machine() -> impl Strategy<Value = Topology> {
    let made_up = (1..4_u32, 1..3_u32, 1..3_u32, 1..6_u32, 1..5_u32, 0..4_u32).prop_map(
        |(packages, nodes, dies, cores, threads, small)| {
            let outer = format!("{packages} packages, {nodes} nodes, {dies} dies");
            let text = match small {
                0 => format!("{outer}, {cores} cores, {threads} threads"),
                _ => format!("{outer}, {cores} p-cores, {threads} threads, {small} e-cores"),
            };
            Topology::synthetic(&text).unwrap()
        },
    );
    let real = (
        proptest::sample::select(FIXTURES.to_vec()),
        proptest::collection::btree_set(0..160_u32, 1..40),
    );
    let real = real.prop_map(|(name, cpus)| {
        let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
        Tree::of(name)
            .with("proc/self/cgroup", "0::/")
            .with("sys/fs/cgroup/cpuset.cpus.effective", &cpus.join(","))
            .read()
    });
    prop_oneof![3 => made_up, 1 => real]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_policy_gives_allowed_places_once_and_repeatably(machine in machine()) {
        for placement in
            [Placement::Compact, Placement::Scatter, Placement::OnePerCore, Placement::SiblingsTogether]
        {
            let capacity = placement.capacity(&machine).unwrap();
            if capacity == 0 {
                prop_assert_eq!(&placement, &Placement::SiblingsTogether);
                continue;
            }
            let places = placement.places(&machine, capacity).unwrap();
            prop_assert_eq!(&placement.places(&machine, capacity).unwrap(), &places);
            let distinct: BTreeSet<u32> = places.iter().map(Place::cpu).collect();
            prop_assert_eq!(distinct.len(), capacity);
            for place in &places {
                let context = machine.context(place.cpu()).unwrap();
                prop_assert!(context.allowed);
                prop_assert_eq!((place.package(), place.core(), place.sibling()), (context.package, context.core, context.sibling));
            }
            prop_assert!(placement.places(&machine, capacity + 1).is_err());

            let allowed = machine.allowed();
            let cores: BTreeSet<u32> = places.iter().map(Place::core).collect();
            match placement {
                Placement::Compact | Placement::Scatter => prop_assert_eq!(capacity, allowed.len()),
                Placement::OnePerCore => prop_assert_eq!(cores.len(), capacity),
                _ => for core in cores {
                    let core = &machine.cores()[core as usize];
                    prop_assert!(core.cpus.len() > 1 && core.cpus.iter().all(|cpu| distinct.contains(cpu)));
                },
            }
        }
    }

    #[test]
    fn smaller_teams_get_the_front(machine in machine(), cut in 1..200_usize) {
        for placement in [Placement::Compact, Placement::Scatter, Placement::OnePerCore] {
            let capacity = placement.capacity(&machine).unwrap();
            let threads = cut.min(capacity);
            let whole = placement.places(&machine, capacity).unwrap();
            prop_assert_eq!(&placement.places(&machine, threads).unwrap()[..], &whole[..threads]);
        }
    }

    #[test]
    fn scatter_shares_no_core_before_all_have_a_thread(machine in machine()) {
        let cores: BTreeSet<u32> =
            machine.contexts().iter().filter(|context| context.allowed).map(|context| context.core).collect();
        let places = Placement::Scatter.places(&machine, cores.len()).unwrap();
        prop_assert_eq!(places.iter().map(Place::core).collect::<BTreeSet<_>>(), cores);
    }
}

#[test]
fn a_list_longer_than_any_machine_is_refused_and_takes_no_memory() {
    // 96 kB, which name half a billion cpus.
    let error = "0-65535,".repeat(12_000).parse::<Placement>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let text = error.to_string();
    assert!(text.contains("lists more than 65536 cpus") && text.len() < 400, "{text}");
    let all: Placement = "0-65535".parse().unwrap();
    assert_eq!(all, Placement::List((0..65_536).collect()));
}
