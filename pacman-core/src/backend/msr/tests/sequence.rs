//! Tests of the writes to registers and their order.

use super::*;

/// The writes of opening `lists[cpu]` on `cpu`.
fn writes(io: &Fake, table: &str, lists: [&[&str]; 2], cpu: u32) -> Vec<(u32, u64)> {
    let backend = backend(io, table, lists).unwrap();
    let _counters = open(io, &backend, cpu).unwrap();
    io.written()
}

#[test]
fn netburst_disables_selects_clears_twice_and_enables_last() {
    let lists: [&[&str]; 2] = [&["instr_retired:NBOGUSNTAG", "global_power_events:RUNNING"], &[]];
    assert_eq!(
        writes(&Fake::shared(), "p4", lists, 0),
        [
            (0x36c, 0),
            (0x360, 0),
            (0x3b8, 0x0400_0204),
            (0x3a2, 0x2600_0204),
            (0x30c, 0),
            (0x30c, 0),
            (0x300, 0),
            (0x300, 0),
            (0x36c, 0x0003_8000),
            (0x360, 0x0003_c000),
            (0x36c, 0x0003_9000),
            (0x360, 0x0003_d000),
        ]
    );
}

#[test]
fn the_second_thread_sets_its_own_bits_in_the_other_half() {
    let lists: [&[&str]; 2] = [&[], &["instr_retired:NBOGUSNTAG"]];
    let written = writes(&Fake::shared(), "p4", lists, 1);
    assert_eq!(written[1], (0x3b9, 0x0400_0201), "T1_USR, not T0_USR");
    assert_eq!(written.last(), Some(&(0x36e, 0x0003_9000)));
}

#[test]
fn a_replay_metric_sets_the_two_pebs_registers_before_it_counts() {
    let lists: [&[&str]; 2] = [&["1stL_cache_load_miss_retired"], &[]];
    let written = writes(&Fake::shared(), "p4", lists, 0);
    let at = |register| written.iter().position(|write| write.0 == register).unwrap();
    assert_eq!(written[at(0x3f1)].1, 0x0100_0001);
    assert_eq!(written[at(0x3f2)].1, 0x1);
    assert_eq!(written.len(), at(0x3f2) + 5, "then the counter twice and the CCCR twice");
}

#[test]
fn a_tagging_escr_is_kept_awake_by_a_counter_that_runs_before_the_metric_s() {
    // scalar_DP_uop tags on a FIRM ESCR, wired to counters 8 and 9.
    let lists: [&[&str]; 2] = [&["scalar_DP_retired"], &[]];
    let written = writes(&Fake::shared(), "p4", lists, 0);
    let tagger = written.iter().find(|write| write.0 == 0x3a4).unwrap().1;
    assert_eq!(tagger & 0x1f0, 0x30, "tag 1, enabled");
    let enabled: Vec<u32> = written
        .iter()
        .filter(|write| write.1 & 1 << 12 != 0 && write.0 < 0x380)
        .map(|w| w.0)
        .collect();
    assert_eq!(enabled, [0x368, 0x36c]);
    assert_eq!(written.iter().find(|w| w.0 == 0x368 && w.1 & 1 << 12 != 0).unwrap().1, 0x0003_3000);
}

#[test]
fn architectural_intel_ends_with_the_global_enable_and_leaves_others_bits() {
    let io = Fake::separate();
    io.set(0, 0x345, 1 << 13);
    io.set(0, 0x38d, 0x0b0);
    io.set(0, 0x38f, 0x8);
    let lists: [&[&str]; 2] = [&["INST_RETIRED.ANY", "MEM_LOAD_UOPS_RETIRED.L2_MISS:k"], &[]];
    assert_eq!(
        writes(&io, "hsw", lists, 0),
        [
            (0x38d, 0x0b0),
            (0x186, 0),
            (0x309, 0),
            (0x4c1, 0),
            (0x38d, 0x0b2),
            (0x186, 0x0042_10d1),
            (0x38f, 0x1_0000_0009),
        ]
    );
}

#[test]
fn counters_without_full_width_writes_go_by_their_old_numbers() {
    let lists: [&[&str]; 2] = [&["MEM_LOAD_UOPS_RETIRED.L2_MISS"], &[]];
    let written = writes(&Fake::separate(), "hsw", lists, 0);
    assert!(written.contains(&(0xc1, 0)) && written.iter().all(|write| write.0 != 0x4c1));
}

#[test]
fn an_off_core_event_writes_its_response_register_and_selects_it() {
    let name = "OFFCORE_RESPONSE.DEMAND_CODE_RD.ANY_RESPONSE";
    let written = writes(&Fake::separate(), "skl", [&[name], &[]], 0);
    let response = written.iter().position(|write| write.0 == 0x1a6).unwrap();
    let enable = written.iter().position(|write| write.0 == 0x186 && write.1 != 0).unwrap();
    assert!(response < enable);
    assert_eq!(written[response].1, 0x1_0004);
    assert_eq!(written[enable].1, 0x0041_01b7);
}

#[test]
fn amd_alternates_its_registers_and_merges_before_it_counts() {
    let io = Fake::separate();
    let lists: [&[&str]; 2] = [&["CYCLES_NOT_IN_HALT", "RETIRED_SSE_AVX_FLOPS:ANY"], &[]];
    let written = writes(&io, "zen2", lists, 0);
    let enabled: Vec<(u32, u64)> =
        written.iter().copied().filter(|write| write.1 & 1 << 22 != 0).collect();
    let merge =
        enabled.iter().position(|write| write.1 == 0xf_0040_00ff).expect("a merged counter");
    assert_eq!(merge, 0, "{enabled:x?}");
    let (odd, even) = (enabled[0].0, enabled.iter().find(|w| w.0 + 2 == enabled[0].0).unwrap());
    assert_eq!(odd & 3, 2, "PERF_CTL of an odd counter");
    assert_eq!(even.1 & 0xff, 0x03);
    assert_eq!(written.last().unwrap().0, 0xc000_0301);
}

#[test]
fn amd_without_a_global_enable_does_without() {
    let io = Fake::separate();
    io.fail(false, 0xc000_0301, libc::EIO);
    let written = writes(&io, "zen3", [&["CYCLES_NOT_IN_HALT"], &[]], 0);
    assert_eq!(written, [(0xc001_0200, 0), (0xc001_0201, 0), (0xc001_0200, 0x0041_0076),]);
}
