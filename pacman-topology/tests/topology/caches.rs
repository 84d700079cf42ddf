//! Caches and clock rates of a tree, of this system and of machines that have none.

use pacman_topology::{Cache, CacheKind, ErrorKind, Topology};

use crate::tree::Tree;

/// Two cores of two contexts; CPU 3 is offline.
fn tree() -> Tree {
    let cpu = "sys/devices/system/cpu/cpu";
    Tree::empty()
        .with("sys/devices/system/cpu/online", "0-2")
        .with(&format!("{cpu}[0-2]/cache/index0/level"), "1")
        .with(&format!("{cpu}[0-2]/cache/index0/type"), "Instruction")
        .with(&format!("{cpu}[0-2]/cache/index0/size"), "32K")
        .with(&format!("{cpu}[0-1]/cache/index0/shared_cpu_list"), "0-1")
        .with(&format!("{cpu}2/cache/index0/shared_cpu_list"), "2-3")
        .with(&format!("{cpu}[0-2]/cache/index2/level"), "2")
        .with(&format!("{cpu}[0-2]/cache/index2/type"), "Unified")
        .with(&format!("{cpu}[0-2]/cache/index2/shared_cpu_map"), "f")
        .with(&format!("{cpu}[0-2]/cpufreq/cpuinfo_min_freq"), "800000")
        .with(&format!("{cpu}[0-1]/cpufreq/base_frequency"), "2100000")
}

#[test]
fn each_cache_is_there_once_with_its_online_contexts() {
    let tree = tree();
    let caches = tree.read().caches().unwrap();
    let facts: Vec<(u32, CacheKind, Option<u64>, String)> = caches
        .iter()
        .map(|cache| (cache.level, cache.kind, cache.bytes, cache.cpus.to_string()))
        .collect();
    let expected = [
        (1, CacheKind::Instruction, Some(32 << 10), "0,1"),
        (1, CacheKind::Instruction, Some(32 << 10), "2"),
        (2, CacheKind::Unified, None, "0-2"),
    ];
    assert_eq!(facts, expected.map(|(level, kind, bytes, cpus)| (level, kind, bytes, cpus.into())));
}

#[test]
fn contexts_with_equal_clock_rates_are_together() {
    let tree = tree();
    let rates = tree.read().clock_rates().unwrap();
    assert_eq!(rates.len(), 2);
    assert_eq!((rates[0].cpus.to_string(), rates[0].base_hz), ("0,1".into(), Some(2_100_000_000)));
    assert_eq!((rates[1].cpus.to_string(), rates[1].base_hz), ("2".into(), None));
    assert!(rates.iter().all(|rates| rates.min_hz == Some(800_000_000) && rates.max_hz.is_none()));
}

/// `level cpus sharers_known` of each cache.
fn shared(tree: &Tree) -> Vec<(u32, String, bool)> {
    let caches = tree.read().caches().unwrap();
    let facts = |cache: &Cache| (cache.level, cache.cpus.to_string(), cache.sharers_known);
    caches.iter().map(facts).collect()
}

/// Kernels of Itanium wrote empty masks; copied trees lack files.
#[test]
fn a_cache_that_nobody_is_said_to_share_is_one_cores() {
    let cpu = "sys/devices/system/cpu/cpu";
    let cores = tree()
        .with(&format!("{cpu}[0-1]/topology/thread_siblings_list"), "0-1")
        .with(&format!("{cpu}2/topology/thread_siblings_list"), "2-3");
    let own = |level, known| [(level, "0,1".to_owned(), known), (level, "2".to_owned(), known)];
    let first = own(1, true).to_vec();
    for (name, text) in [("empty", "0"), ("wide", "00000000,00000000"), ("of others", "8")] {
        let tree = cores.copy().with(&format!("{cpu}[0-2]/cache/index2/shared_cpu_map"), text);
        assert_eq!(shared(&tree), [first.clone(), own(2, false).to_vec()].concat(), "{name}");
    }
    let missing = (0..3).fold(cores.copy(), |tree, number| {
        tree.without(&format!("{cpu}{number}/cache/index2/shared_cpu_map"))
    });
    assert_eq!(shared(&missing), [first, own(2, false).to_vec()].concat());
}

#[test]
fn contexts_that_tell_different_sharers() {
    let cpu = "sys/devices/system/cpu/cpu";
    let at_odds = tree().with(&format!("{cpu}1/cache/index2/shared_cpu_map"), "2");
    let second: Vec<_> = shared(&at_odds).into_iter().filter(|(level, ..)| *level == 2).collect();
    assert_eq!(second, [(2, "0-2".to_owned(), false)]);
    // A mask that was changed by hand beside an old list is what other tools read.
    let changed = tree().with(&format!("{cpu}[0-1]/cache/index0/shared_cpu_map"), "1");
    let changed = changed.with(&format!("{cpu}1/cache/index0/shared_cpu_map"), "2");
    let first: Vec<_> = shared(&changed).into_iter().filter(|(level, ..)| *level == 1).collect();
    assert_eq!(first.iter().map(|(_, cpus, _)| cpus.as_str()).collect::<Vec<_>>(), ["0", "1", "2"]);
}

#[test]
fn a_malformed_file_is_an_error() {
    let list = "sys/devices/system/cpu/cpu2/cache/index0/shared_cpu_list";
    let malformed = tree().with(list, "two");
    let error = malformed.read().caches().expect_err("no list of CPUs");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let malformed = tree().with("sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "fast");
    assert!(malformed.read().clock_rates().is_err());
}

#[test]
fn a_made_up_machine_has_none() {
    let machine = Topology::synthetic("4 cores, 2 threads").unwrap();
    assert_eq!((machine.caches().unwrap(), machine.clock_rates().unwrap()), (vec![], vec![]));
}
