//! Made-up machines and what is refused.

use pacman_topology::{CoreType, Source};
use pacman_topology::{ErrorKind, Topology};

#[test]
fn words_and_hwloc_notation_mean_the_same() {
    let cores = |text: &str| Topology::synthetic(text).unwrap().cores().to_vec();
    let expected = cores("2 packages, 4 cores, 2 threads");
    assert_eq!(expected.len(), 8);
    for text in [
        "package:2 core:4 pu:2",
        "2 package 4 core 2 pu",
        "PACKAGE:2,CORE:4,PU:2",
        "  2 packages,4 cores,,2 contexts ",
    ] {
        assert_eq!(cores(text), expected, "{text}");
    }
}

#[test]
fn levels_nest_and_number_core_by_core() {
    let machine = Topology::synthetic("2 packages, 2 nodes, 2 dies, 2 cores, 3 threads").unwrap();
    assert_eq!(machine.contexts().len(), 48);
    assert_eq!(machine.siblings_of(4), [3, 4, 5]);
    let last = machine.contexts().last().unwrap();
    assert_eq!((last.package, last.die, last.core, last.sibling, last.node), (1, 3, 15, 2, 3));
    assert_eq!(machine.packages()[1].cores, 8..16);
    assert_eq!(machine.machine_name(), "synthetic machine");
    assert!(!machine.is_this_system() && machine.allowed().len() == 48);
    let text = "2 packages, 2 nodes, 2 dies, 2 cores, 3 threads".to_owned();
    assert_eq!(*machine.source(), Source::Synthetic(text));
}

#[test]
fn kinds_of_core_stand_side_by_side() {
    let machine = Topology::synthetic("2 p-cores, 2 threads, 4 e-cores, lp-core:2").unwrap();
    let kinds: Vec<(CoreType, usize)> =
        machine.cores().iter().map(|core| (core.core_type, core.cpus.len())).collect();
    let mut expected = vec![(CoreType::Performance, 2); 2];
    expected.extend([(CoreType::Efficiency, 1); 4]);
    expected.extend([(CoreType::LowPower, 1); 2]);
    assert_eq!(kinds, expected);
    assert!(machine.is_hybrid());
    assert!(!Topology::synthetic("4 p-cores").unwrap().is_hybrid(), "one kind alone is uniform");
}

#[test]
fn malformed_text_is_refused_with_the_reason() {
    for (text, reason) in [
        ("", "it has no cores"),
        ("2 packages", "it has no cores"),
        ("2 sockets", "\"sockets\" is not a level"),
        ("4", "\"4\" stands alone"),
        ("four cores", "\"four\" is not a number of cores"),
        ("0 cores", "\"cores\" cannot be 0"),
        ("-1 cores", "\"-1\" is not a number of cores"),
        ("4 cores, 2 packages", "\"packages\" cannot stand inside what comes before it"),
        ("2 threads", "\"threads\" need cores to stand in"),
        ("2 threads, 4 cores", "\"threads\" need cores to stand in"),
        ("4 cores, 2 threads, 2 threads", "\"threads\" cannot stand inside what comes before it"),
        ("4 p-cores, 4 p-cores", "it lists one kind of core twice"),
        ("4 cores, 4 e-cores", "it mixes plain cores with p-cores, e-cores or lp-cores"),
        ("4096 packages, 4096 cores", "it has 16777216 contexts, and 65536 is the most"),
        (
            "4294967295 nodes, 4294967295 dies, 4294967295 cores",
            "it has 18446744073709551615 contexts, and 65536 is the most",
        ),
    ] {
        let error = Topology::synthetic(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{text}");
        assert_eq!(
            error.to_string(),
            format!(
                "cannot read topology {text:?}: {reason}; write it like \"2 packages, 4 cores, 2 threads\" or \
                 \"8 p-cores, 2 threads, 8 e-cores\""
            )
        );
    }
}
