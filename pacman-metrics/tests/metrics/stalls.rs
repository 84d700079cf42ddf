//! The article's figures for STREAM on Sandy Bridge, and the rules of other generations.

use pacman_events::{CpuModel, Resolver};
use pacman_metrics::ErrorKind;
use pacman_metrics::stalls::{Caveat, Combination, MemoryRule, Stage, StallShare};

fn rule(cpu: &str) -> &'static MemoryRule {
    MemoryRule::of(CpuModel::named(cpu).unwrap()).unwrap()
}

/// "A code with a stall-free IPC of 1 could show 75% stall cycles."
#[test]
fn an_ipc_of_one_may_show_three_quarters_stalled() {
    let issue = StallShare::of(Stage::Issue, 4.0, 4_000, 4_000, 3_000).unwrap();
    assert_eq!((issue.share, issue.ipc, issue.from_bunching), (0.75, 1.0, 0.75));
    assert_eq!(issue.caveats, [Caveat::Overcounts]);
    let retire = StallShare::of(Stage::Retire, 4.0, 4_000, 4_000, 3_000).unwrap();
    assert_eq!((retire.from_bunching, retire.caveats), (0.75, vec![Caveat::Overcounts]));
    // At full width nothing bunches; at dispatch the error goes the other way.
    let full = StallShare::of(Stage::Issue, 4.0, 1_000, 4_000, 0).unwrap();
    assert_eq!((full.from_bunching, full.caveats), (0.0, vec![]));
    let dispatch = StallShare::of(Stage::Dispatch, 4.0, 4_000, 4_000, 3_000).unwrap();
    assert_eq!((dispatch.from_bunching, dispatch.caveats), (0.0, vec![Caveat::Undercounts]));
}

/// STREAM stalls for about 90 % of its cycles. With ordinary stores 93 % of these have a miss
/// pending; with streaming stores 30 %, but the store buffer is full in 70 to 91 % of all cycles.
#[test]
fn the_larger_count_finds_streams_memory_stalls_with_either_store() {
    let sandy = rule("jkt");
    let ordinary = sandy.stalls(1_000_000, 837_000, 100_000).unwrap();
    assert_eq!((ordinary.share, ordinary.loads, ordinary.stores), (0.837, 0.837, 0.1));
    let streaming = sandy.stalls(1_000_000, 270_000, 910_000).unwrap();
    assert_eq!((streaming.share, streaming.most), (0.91, 1.0));
    // SSE with streaming stores: even the sum is far from 90 %, and the rule says so.
    let sse = sandy.stalls(1_000_000, 250_000, 340_000).unwrap();
    assert_eq!((sse.share, (100.0 * sse.most).round()), (0.34, 59.0));
    assert!(sandy.caveat.unwrap().contains("SSE code with streaming stores"));
}

#[test]
fn disjoint_counts_add_up_and_overlapping_ones_do_not() {
    assert_eq!(rule("skx").stalls(1_000, 300, 200).unwrap().share, 0.5);
    assert_eq!(rule("hsx").stalls(1_000, 300, 200).unwrap().share, 0.3);
    assert_eq!(rule("skx").combination, Combination::Disjoint);
    assert_eq!(rule("hsx").stalls(1_000, 900, 200).unwrap().most, 1.0);
}

#[test]
fn every_rules_events_exist_on_its_models() {
    let mut found = 0;
    for cpu in CpuModel::all() {
        if let Ok(rule) = MemoryRule::of(cpu) {
            for event in [rule.loads, rule.stores] {
                let resolved = Resolver::new(cpu).resolve(event);
                assert!(resolved.is_ok(), "{cpu}: {event} {:?}", resolved.err());
            }
            found += 1;
        }
    }
    assert_eq!(found, 16);
}

#[test]
fn impossible_stalls_are_refused() {
    for (result, why) in [
        (StallShare::of(Stage::Issue, 4.0, 0, 0, 0).err(), "no cycle was counted"),
        (StallShare::of(Stage::Issue, 0.0, 9, 1, 1).err(), "width of the pipeline"),
        (StallShare::of(Stage::Issue, 4.0, 9, 1, 10).err(), "10 of 9 cycles cannot be stalled"),
        (StallShare::of(Stage::Issue, 4.0, 10, 81, 1).err(), "81 instructions do not fit 10"),
        (rule("snb").stalls(0, 0, 0).err(), "no cycle was counted"),
        (rule("snb").stalls(5, 6, 0).err(), "6 of 5 cycles"),
        (rule("snb").stalls(5, 0, 7).err(), "7 of 5 cycles"),
        (MemoryRule::of(CpuModel::named("zen4").unwrap()).err(), "no document says which"),
    ] {
        let error = result.unwrap();
        assert_eq!(error.kind(), ErrorKind::NotComputable);
        assert!(error.to_string().contains(why), "{error}");
    }
}
