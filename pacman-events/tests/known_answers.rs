//! Encodings that papers, manuals and other tools state.

use pacman_events::encode::Kind;
use pacman_events::{CpuModel, Encoding, ResolveErrorKind, Resolved, resolve};

fn cpu(name: &str) -> CpuModel {
    CpuModel::named(name).unwrap_or_else(|| panic!("no table {name}"))
}

fn resolved(table: &str, name: &str) -> Resolved {
    resolve(cpu(table), name).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn encoding(table: &str, name: &str) -> Encoding {
    let resolved = resolved(table, name);
    resolved.encoding().unwrap_or_else(|| panic!("{name} is an expression")).clone()
}

/// EN, OS and USR, which the published codes carry and `evtsel` leaves out.
const ENABLED: u64 = 0x43_0000;

#[test]
fn mccalpins_stall_counts_on_sandy_bridge_resolve_to_his_codes() {
    // McCalpin, "Performance counter events for stalled cycles": codes as programmed.
    for (name, code) in [
        ("STALL_CYCLES", 0x01c3_010e),
        ("UOPS_ISSUED.STALL_CYCLES", 0x01c3_010e),
        ("UOPS_ISSUED:STALL_CYCLES", 0x01c3_010e),
        ("RESOURCE_STALLS.ANY", 0x0043_01a2),
        ("CYCLE_ACTIVITY.CYCLES_NO_DISPATCH", 0x0443_04a3),
        ("UOPS_DISPATCHED.STALL_CYCLES_CORE", 0x01c3_02b1),
        ("UOPS_DISPATCHED.CORE:i:c=1", 0x01c3_02b1),
        ("UOPS_EXECUTED.CORE_CYCLES_NONE", 0x01c3_02b1),
        ("CYCLE_ACTIVITY.STALL_CYCLES_L2_PENDING", 0x0543_05a3),
        ("CYCLE_ACTIVITY.STALLS_L2_PENDING", 0x0543_05a3),
        ("RESOURCE_STALLS.SB", 0x0043_08a2),
        ("r01c3010e", 0x01c3_010e),
    ] {
        for table in ["snb", "jkt"] {
            let event = encoding(table, name);
            assert_eq!(event.evtsel | ENABLED, code, "{name} on {table}");
            assert_eq!(event.perf.unwrap().config, code & !ENABLED, "{name} on {table}");
        }
    }
}

#[test]
fn evtsel_carries_ring_bits_only_when_asked() {
    assert_eq!(encoding("snb", "STALL_CYCLES").evtsel, 0x0180_010e);
    assert_eq!(encoding("snb", "STALL_CYCLES:u").evtsel, 0x0181_010e);
    assert_eq!(encoding("snb", "STALL_CYCLES:u:k").evtsel, 0x0183_010e);
    assert!(encoding("snb", "r01c3010e").rings.user);
}

#[test]
fn mccalpins_knights_landing_stations() {
    for (name, code) in [
        ("NO_ALLOC_CYCLES.RAT_STALL", 0x20ca),
        ("NO_ALLOC_CYCLES.ROB_FULL", 0x01ca),
        ("RS_FULL_STALL.ALL", 0x1fcb),
        ("RS_FULL_STALL.MEC", 0x01cb),
        ("RS_FULL_STALL.VPU0", 0x08cb),
        ("RS_FULL_STALL.VPU1", 0x10cb),
        ("cpu/event=0xcb,umask=0x10/", 0x10cb),
    ] {
        let event = encoding("knl", name);
        assert_eq!(event.evtsel, code, "{name}");
        assert_eq!(event.counters.bits(), 0x3, "{name}");
    }
}

#[test]
fn fixed_counters_and_their_general_twins() {
    let fixed = encoding("skl", "INST_RETIRED.ANY");
    assert_eq!((fixed.kind, fixed.fixed, fixed.counters.is_empty()), (Kind::Fixed, Some(0), true));
    let general = encoding("skl", "INST_RETIRED.ANY_P");
    assert_eq!((general.kind, general.fixed, general.evtsel), (Kind::Arch, None, 0xc0));
    // The preset may go either way: fixed counter 1 may belong to the watchdog.
    let cycles = encoding("skl", "CYCLES");
    assert_eq!((cycles.fixed, cycles.counters.bits(), cycles.evtsel), (Some(1), 0xf, 0x3c));
    assert_eq!(cycles.counters_smt_off.bits(), 0xff);
    // A filter works on general counters only.
    assert_eq!(encoding("skl", "CYCLES:c=1").fixed, None);
}

#[test]
fn extra_registers_come_with_their_twins() {
    let event = encoding("snb", "OFFCORE_RESPONSE.ALL_CODE_RD.LLC_HIT.SNOOP_MISS");
    let register = event.extra.unwrap();
    let choices: Vec<_> = register.choices().iter().map(|c| (c.msr, c.select)).collect();
    assert_eq!(choices, [(0x1a6, 0x01b7), (0x1a7, 0x01bb)]);
    assert_eq!(register.value, event.perf.unwrap().config1);
    // Nehalem has one register, shared by the siblings.
    let nehalem = CpuModel::named("nhm-ep").unwrap();
    let name = "OFFCORE_RESPONSE_0.ANY_DATA.ANY_DRAM";
    let register = resolve(nehalem, name).unwrap().encoding().unwrap().extra.unwrap();
    assert_eq!(register.choices().len(), 1);
    assert_eq!(register.scope, pacman_events::encode::Scope::Core);
}

#[test]
fn the_erratum_of_d0_to_d3_is_on_six_tables_only() {
    let exclusive: Vec<_> = CpuModel::all()
        .filter(|cpu| cpu.facts().sibling_exclusive_erratum)
        .map(CpuModel::name)
        .collect();
    assert_eq!(exclusive, ["snb", "jkt", "ivb", "ivt", "hsw", "hsx"]);
    assert!(encoding("hsw", "MEM_UOPS_RETIRED.ALL_LOADS").limits.sibling_exclusive);
    assert!(!encoding("bdw", "MEM_UOPS_RETIRED.ALL_LOADS").limits.sibling_exclusive);
    assert!(!encoding("hsw", "UOPS_ISSUED.ANY").limits.sibling_exclusive);
}

#[test]
fn sdm_18_17_clockticks() {
    for table in ["p4-willamette", "p4-northwood", "p4-prescott", "p4-cedarmill"] {
        let non_halted = encoding(table, "NON_HALTED_CLOCKTICKS").netburst.unwrap();
        assert_eq!(non_halted.escr(0, true, false), 0x2600_0204);
        assert_eq!(non_halted.escr(1, true, false), 0x2600_0201);
        assert_eq!(non_halted.escr(0, true, true), 0x2600_020c);
        assert_eq!(non_halted.cccr(), 0x0003_d000);
        let event = encoding(table, "NON_SLEEP_CLOCKTICKS");
        let non_sleep = event.netburst.unwrap();
        // Compare (18), complement (19), threshold 15 (23:20), enable (12).
        assert_eq!(non_sleep.cccr() & 0x00fc_1000, 0x00fc_1000);
        assert_eq!(non_sleep.cccr(), 0x00ff_b000);
        assert_eq!(non_sleep.escr(0, true, false), 0x1801_fe04);
        assert!(event.needs.is_nothing(), "no tag is needed: every clock counts");
    }
}

#[test]
fn netburst_filters() {
    let cccr = |name| encoding("p4", name).netburst.unwrap().cccr();
    assert_eq!(cccr("uops_retired:NBOGUS:thr=0"), 0x0007_9000);
    assert_eq!(cccr("machine_clear:CLEAR:e"), 0x0107_b000);
    assert_eq!(cccr("FSB_data_activity:DRDY_DRV:DRDY_OWN:e"), 0x0107_d000);
    let bus = encoding("p4", "BUS_TRANSACTIONS").netburst.unwrap();
    assert_eq!((bus.escr(0, true, false), bus.cccr()), (0x075f_c204, 0x0107_d000));
}

#[test]
fn linux_packs_netburst_events() {
    let config = |name| encoding("p4", name).perf.unwrap().config;
    // The kernel's own generic events, less the alias bit that only it sets.
    assert_eq!(config("global_power_events:RUNNING"), 0x3000_0200_0000_0000);
    assert_eq!(config("instr_retired:NBOGUSNTAG:BOGUSNTAG"), 0x4c00_0a00_0000_0000);
    assert_eq!(config("FSB_data_activity:DRDY_DRV:DRDY_OWN:e"), 0x1800_0600_0104_0000);
    assert_eq!(config("1stL_cache_load_miss_retired"), 0x4a00_0200_0000_0001);
    assert_eq!(config("DTLB_store_miss_retired"), 0x4a00_0200_0000_0004);
    assert_eq!(config("mispred_branch_retired:NBOGUS"), 0x5400_0200_0000_0000);
    let raw = encoding("p4", "r4a00020000000002");
    assert_eq!(raw.netburst.unwrap().replay.unwrap().pebs_enable, 0x0100_0002);
    // Events that Linux does not know, or whose upstream it would not program.
    assert_eq!(encoding("p4", "x87_SIMD_moves_uop:ALLP0").perf, None);
    assert_eq!(encoding("p4", "memory_loads").perf, None);
}

#[test]
fn netburst_metrics_bring_their_tags() {
    let metric = encoding("p4", "packed_DP_retired:NBOGUS1").netburst.unwrap();
    assert_eq!(metric.escr(0, true, false), 0x1800_0404);
    let upstream = metric.companion.unwrap();
    assert_eq!(upstream.escr(0, true, false), 0x1900_0054);
    assert_eq!(upstream.tag.unwrap().value, 2);
    let loads = encoding("p4", "memory_loads").netburst.unwrap();
    assert_eq!(loads.escr(1, true, false), 0x1000_0201);
    assert_eq!(loads.companion.unwrap().escr(1, true, false), 0x0400_0401);
    let replay = encoding("p4", "DTLB_MISSES").netburst.unwrap().replay.unwrap();
    assert_eq!((replay.pebs_enable, replay.matrix_vert), (0x0100_0004, 3));
    assert!(encoding("p4", "replay_event:NBOGUS").needs.tagging);
    assert!(encoding("p4", "uop_type:TAGLOADS").needs.tagging);
}

#[test]
fn early_processors_count_bus_transactions_on_one_thread() {
    let halves = |table| encoding(table, "IOQ_allocation:ALL_READ").netburst.unwrap().halves;
    assert!(halves("p4-northwood")[1].is_some());
    assert!(halves("p4-northwood-early")[1].is_none());
    assert!(halves("p4-willamette")[1].is_none());
    let partner = encoding("p4", "IOQ_active_entries:ALL_READ").netburst.unwrap();
    assert!(partner.halves[0].is_none());
    assert_eq!(partner.companion.unwrap().event, "IOQ_allocation");
}

#[test]
fn sources_that_err_are_not_followed() {
    // Where sources disagree, the register layout decides.
    let netburst = |name| encoding("p4", name).netburst.unwrap();
    // b2b_cycles, bnr, snoop, response: select 6 reaches the FSB unit's ESCRs, not 3.
    for name in ["b2b_cycles:BIT1", "bnr:BIT0", "snoop:BIT2", "response:BIT1"] {
        assert_eq!(netburst(name).escr_select, 6, "{name}");
    }
    assert_eq!(netburst("b2b_cycles:BIT5").event_mask, 1 << 5);
    assert_eq!(netburst("machine_clear:SMCLEAR").event_mask, 1 << 6);
    assert_eq!(
        (netburst("memory_complete:LSC").event_select, netburst("memory_complete:LSC").escr_select),
        (0x08, 2)
    );
    assert_eq!(netburst("global_power_events:RUNNING").event_select, 0x13);
    let completed = netburst("instr_completed:NBOGUS");
    assert_eq!(completed.halves.map(|half| half.unwrap().escr.msr()), [0x3b8, 0x3b9]);
    let mispredicted = netburst("retired_mispred_branch_type:CONDITIONAL");
    assert_eq!(mispredicted.halves[1].unwrap().escr.msr(), 0x3c3);
    assert_eq!(netburst("mispred_branch_retired:NBOGUS").event_mask, 1);
    assert_eq!(netburst("TC_deliver_mode:IB").event_mask, 1 << 7);
    assert_eq!(netburst("uops_type:TAGLOADS").event_select, 2);
    assert_eq!(netburst("ITLB_reference:HIT_UK").event_mask, 4);
}

#[test]
fn niagara_registers() {
    let pcr = |table, name: &str, pic| encoding(table, name).pcr(pic);
    assert_eq!(pcr("niagara1", "IC_miss", 0), Some(0x20));
    assert_eq!(pcr("niagara1", "Instr_cnt", 0), None);
    assert_eq!(pcr("niagara2", "Br_completed", 0), Some(0x8040));
    assert_eq!(pcr("niagara2", "Br_completed", 1), Some(0x1008_0000));
    assert_eq!(pcr("niagara3", "AES_busy_cycle", 1), Some(0x3810_0000));
    assert_eq!(pcr("niagara4", "Commit_1", 3), Some(0xe080));
    assert_eq!(encoding("niagara2", "Br_completed:u").evtsel, 0x8044);
}

#[test]
fn amd_event_numbers_beyond_eight_bits() {
    let event = encoding("zen4", "P0_FREQ_CYCLES_NOT_IN_HALT:P0_FREQ_CYCLES");
    assert_eq!((event.kind, event.evtsel), (Kind::Amd, 0x1_0000_0120));
    assert_eq!(encoding("zen4", "cpu/event=0x120,umask=0x1/").evtsel, 0x1_0000_0120);
    let flops = encoding("zen3", "FP_OPS");
    assert!(flops.limits.counter_pair);
    assert_eq!(flops.counters.bits(), 0x15);
}

#[test]
fn unit_masks_join_in_one_counter() {
    for name in [
        "fp_comp_ops_exe:x87:sse_packed_double",
        "FP_COMP_OPS_EXE.X87.SSE_PACKED_DOUBLE",
        "FP_COMP_OPS_EXE.X87:SSE_PACKED_DOUBLE",
    ] {
        let event = encoding("snb", name);
        assert_eq!(event.evtsel, 0x1110, "{name}");
        assert_eq!(event.name.to_string(), "FP_COMP_OPS_EXE.X87:SSE_PACKED_DOUBLE");
    }
    let tlb = encoding("zen2", "L1_ITLB_MISS_L2_ITLB_MISS:IF4K:IF2M:IF1G");
    assert_eq!(tlb.evtsel, 0x785);
    // Each of these has a counter mask of its own, and 0xa3's masks do not add up.
    let mixed = resolve(cpu("snb"), "CYCLE_ACTIVITY:CYCLES_NO_DISPATCH:CYCLES_L2_PENDING");
    assert_eq!(mixed.unwrap_err().kind(), ResolveErrorKind::Impossible);
}

#[test]
fn a_unit_mask_spelt_like_a_modifier_is_a_unit_mask() {
    let event = encoding("snb", "uops_issued:any");
    assert_eq!((event.evtsel, event.needs.privilege), (0x10e, false));
    let both = encoding("snb", "uops_issued:any:any");
    assert_eq!((both.evtsel, both.needs.privilege), (0x20_010e, true));
    let lines = encoding("srf", "L2_LINES_IN:E");
    assert_eq!(lines.name.to_string(), "L2_LINES_IN.E");
    assert_eq!(lines.evtsel & 1 << 18, 0, "no edge detection");
}

#[test]
fn an_event_s_needs_are_reported_before_it_counts_nothing() {
    use pacman_events::encode::Conditions;
    let here = Conditions { smt: true, privileged: false, tagged: false };
    let missing = |table, name| encoding(table, name).admit(here).unwrap_err().to_string();
    assert!(missing("p4", "execution_event:NBOGUS0").contains("tagging event"));
    assert!(missing("p4", "page_walk_type:DTMISS").contains("CAP_PERFMON"));
    assert!(missing("skl", "UOPS_ISSUED.ANY:any").contains("CAP_PERFMON"));
    let alone = Conditions { smt: false, ..here };
    assert_eq!(encoding("skl", "UOPS_ISSUED.ANY:any").admit(alone), Ok(()));
    assert_eq!(encoding("p4", "packed_SP_retired").admit(here), Ok(()));
}

/// libpfm4 (MIT), `amd64_events_fam1ah_zen5.h`: both groups have a default, ANY (0x0f) and ALL_TYPE (0).
#[test]
fn zen_5s_flops_of_a_type_are_of_all_kinds() {
    let types = [
        ("ALL_TYPE", 0x0f03),
        ("FLOP_TYPE_BFLOAT16", 0x2f03),
        ("FLOP_TYPE_SCALAR_SINGLE", 0x4f03),
        ("FLOP_TYPE_PACKED_SINGLE", 0x6f03),
        ("FLOP_TYPE_SCALAR_DOUBLE", 0x8f03),
        ("FLOP_TYPE_PACKED_DOUBLE", 0xaf03),
    ];
    let halves = [("FLOP_TYPE_SCALAR_HALF", 0xcf03), ("FLOP_TYPE_PACKED_HALF", 0xef03)];
    for (table, types) in [("zen5", &types[..]), ("zen6", &types[..]), ("zen6", &halves[..])] {
        for (mask, code) in types {
            let name = format!("RETIRED_SSE_AVX_FLOPS:{mask}");
            assert_eq!(encoding(table, &name).evtsel, *code, "{name} on {table}");
        }
        for (masks, code) in [
            ("", 0x0f03),
            (":MAC_FLOPS", 0x0803),
            (":MAC_FLOPS:FLOP_TYPE_PACKED_DOUBLE", 0xa803),
            (":FLOP_TYPE_PACKED_DOUBLE:ADD_SUB_FLOPS:MULT_FLOPS", 0xa303),
        ] {
            let name = format!("RETIRED_SSE_AVX_FLOPS{masks}");
            assert_eq!(encoding(table, &name).evtsel, code, "{name} on {table}");
        }
    }
}

/// The bits of two values are a third one's: FP128_ADD (1) and FP128_SUB (2) are FP128_MUL (3).
#[test]
fn two_values_of_one_field_are_not_joined() {
    for (table, name) in [
        ("zen4", "PACKED_FP_OPS_RETIRED:FP128_ADD:FP128_SUB"),
        ("zen5", "PACKED_INT_OPS_RETIRED:INT256_ADD:INT256_SUB"),
        ("zen6", "RETIRED_FP_OPS_BY_TYPE:VECTOR_MUL:SCALAR_ADD:VECTOR_ADD"),
        ("zen5", "RETIRED_SSE_AVX_FLOPS:FLOP_TYPE_SCALAR_DOUBLE:FLOP_TYPE_PACKED_SINGLE"),
        ("zen4", "CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU:NOT_COMPLETE_MISSING_LOAD"),
        ("fam10h", "MAB_REQUESTS:BUFFER_1:BUFFER_2"),
    ] {
        let refusal = resolve(cpu(table), name).expect_err(name);
        assert_eq!(refusal.kind(), ResolveErrorKind::Impossible, "{refusal}");
        assert!(refusal.to_string().contains("another value of a field"), "{refusal}");
    }
    // Values of two fields, and bits of one, are joined.
    assert_eq!(encoding("zen4", "PACKED_FP_OPS_RETIRED:FP128_ADD:FP256_SUB").evtsel, 0x210c);
    assert_eq!(encoding("zen4", "RETIRED_SSE_AVX_FLOPS:ADD_SUB_FLOPS:MULT_FLOPS").evtsel, 0x303);
}

/// libpfm4 (MIT): `UOPS_RETIRED:ANY` is unit mask 1 of event 0xc2, from Sandy Bridge to Cascade Lake.
#[test]
fn a_unit_mask_called_any_is_not_the_modifier() {
    for table in ["snb", "jkt", "ivb", "ivt", "hsw", "hsx", "bdw", "bdx", "skl", "skx", "clx"] {
        for name in ["UOPS_RETIRED:ANY", "uops_retired:any"] {
            assert_eq!(encoding(table, name).evtsel, 0x1c2, "{name} on {table}");
        }
    }
    assert_eq!(encoding("nhm-ep", "UOPS_RETIRED:ANY").evtsel, 0x1c2);
    // After a whole event it is the modifier, and after an event that lacks its mask it is refused.
    assert_eq!(encoding("snb", "UOPS_RETIRED.ALL:any").evtsel, 0x20_01c2);
    assert_eq!(encoding("snb", "UOPS_RETIRED:ANY:any").evtsel, 0x20_01c2);
    assert_eq!(encoding("skl", "UOPS_ISSUED.ANY:ANY").evtsel, 0x20_010e);
    assert_eq!(encoding("skl", "UOPS_ISSUED.STALL_CYCLES:ANY").evtsel, 0x01a0_010e);
    assert_eq!(encoding("skl", "CYCLES:any").fixed, encoding("skl", "CYCLES").fixed);
    for (table, name) in [("snb", "LD_BLOCKS:any"), ("skl", "BR_MISP_RETIRED:ANY:u")] {
        let refusal = resolve(cpu(table), name).expect_err(name);
        assert_eq!(refusal.kind(), ResolveErrorKind::Needs, "{refusal}");
    }
    // The order of masks does not matter; small letters are the modifier.
    for name in ["UOPS_ISSUED:FUSED:ANY", "UOPS_ISSUED:ANY:FUSED", "UOPS_ISSUED.FUSED:ANY"] {
        assert_eq!(encoding("nhm-ep", name).evtsel, 0x30e, "{name}");
    }
    assert_eq!(encoding("nhm-ep", "UOPS_ISSUED.FUSED:any").evtsel, 0x20_020e);
    assert_eq!(
        encoding("nhm-ep", "UOPS_ISSUED.FUSED:any").name.to_string(),
        "UOPS_ISSUED.FUSED:any"
    );
}

#[test]
fn cpuids_of_zen_6() {
    use pacman_events::CpuId;
    // AMD's patch of 2026-06-03; Linux, commit 24ee8d9432b5.
    let table =
        |model| CpuModel::detect(&CpuId::new("AuthenticAMD", 26, model, 0)).map(CpuModel::name);
    for model in [0x50, 0x5f, 0x80, 0xaf, 0xb0, 0xc0, 0xcf, 0xd0, 0xd7, 0xd8, 0xe0, 0xff] {
        assert_eq!(table(model), Some("zen6"), "{model:#x}");
    }
    for model in [0x00, 0x2f, 0x44, 0x60, 0x7f] {
        assert_eq!(table(model), Some("zen5"), "{model:#x}");
    }
}

/// Linux, `PMU_FORMAT_ATTR(eq, "config:36")` and `umask2` in bits 47:40.
#[test]
fn a_counter_mask_compares_equal_where_leaf_23_can_report_it() {
    let name = "cpu/event=0xb1,umask=0x1,cmask=3,eq/";
    for table in ["lnl-lioncove", "lnl-skymont", "cwf", "dmr", "nvl-arcticwolf"] {
        assert_eq!(encoding(table, name).evtsel, 0x10_0300_01b1, "{table}");
    }
    for table in ["skl", "spr", "gnr", "srf", "arl-crestmont"] {
        let refusal = resolve(cpu(table), name).expect_err(table);
        assert_eq!(refusal.kind(), ResolveErrorKind::Impossible, "{refusal}");
    }
    assert_eq!(encoding("lnl-skymont", "cpu/event=0xb7,umask=0x101/").evtsel, 0x100_0000_01b7);
}

#[test]
fn refusals_are_of_four_kinds() {
    let kind = |table, name| resolve(cpu(table), name).unwrap_err().kind();
    assert_eq!(kind("skl", "UOPS_ISUED.ANY"), ResolveErrorKind::Unknown);
    assert_eq!(kind("icl", "CPU_CLK_UNHALTED.REF_XCLK_ANY"), ResolveErrorKind::OtherModel);
    assert_eq!(kind("skl", "instr_retired:NBOGUSNTAG"), ResolveErrorKind::OtherModel);
    assert_eq!(kind("p4-northwood", "instr_completed:NBOGUS"), ResolveErrorKind::OtherModel);
    assert_eq!(kind("icl", "UOPS_ISSUED.ANY:any"), ResolveErrorKind::Impossible);
    assert_eq!(kind("zen4", "LLC_MISSES"), ResolveErrorKind::Impossible);
    assert_eq!(kind("p4", "BSQ_cache_reference"), ResolveErrorKind::Needs);
    assert_eq!(kind("snb", "r01b7"), ResolveErrorKind::Needs);
    assert_eq!(kind("snb", "UOPS_ISSUED.ANY:u:u"), ResolveErrorKind::Grammar);
    assert!(encoding("skl", "CPU_CLK_UNHALTED.REF_XCLK_ANY").needs.privilege);
}
