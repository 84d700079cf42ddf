//! Names of other tools: libpfm4's encodings, PAPI's presets, LIKWID's spelling.

use pacman_events::{CpuModel, Encoding, Preset, ResolveErrorKind, aliases, resolve};

fn model(name: &str) -> CpuModel {
    CpuModel::named(name).unwrap_or_else(|| panic!("no table {name}"))
}

fn encoding(cpu: &str, name: &str) -> Encoding {
    let resolved = resolve(model(cpu), name).unwrap_or_else(|why| panic!("{cpu}: {why}"));
    resolved.encoding().expect("one event").clone()
}

/// Encodings by libpfm4 4.13.0: PERFEVTSEL without USR, OS, INT and EN, and the extra register. They are
/// three aliases of each table, chosen at random.
const LIBPFM4: &[(&str, &str, u64, u64)] = &[
    ("nhm-ep", "L2_WRITE:LOCK_I_STATE", 0x1027, 0x0),
    ("nhm-ep", "MEMORY_DISAMBIGUATION:RESET", 0x109, 0x0),
    ("nhm-ep", "INST_RETIRED", 0xc0, 0x0),
    ("wsm-ep-dp", "OFFCORE_RESPONSE_0:REMOTE_DRAM", 0x1b7, 0x20ff),
    ("wsm-ep-dp", "OFFCORE_RESPONSE_1:OTHER_LLC_MISS", 0x1bb, 0x40ff),
    ("wsm-ep-dp", "L3_LAT_CACHE:MISS", 0x412e, 0x0),
    ("snb", "EPT", 0x104f, 0x0),
    ("snb", "BR_MISP_RETIRED", 0x4c5, 0x0),
    ("snb", "BR_INST_EXEC:ANY_DIRECT_NEAR_CALL", 0xd088, 0x0),
    ("ivb", "MEM_UOP_RETIRED:ANY_STORES", 0x82d0, 0x0),
    ("ivb", "OFFCORE_RESPONSE_0:PF_LLC_RFO", 0x1b7, 0x10100),
    ("ivb", "L3_LAT_CACHE:MISS", 0x412e, 0x0),
    ("hsw", "BR_MISP_EXEC:TAKEN_COND", 0x8189, 0x0),
    ("hsw", "LD_BLOCKS_PARTIAL", 0x107, 0x0),
    ("hsw", "OFFCORE_RESPONSE_1:OTHER", 0x1bb, 0x18000),
    ("bdw", "OFFCORE_RESPONSE_1:DMND_IFETCH", 0x1bb, 0x10004),
    ("bdw", "OFFCORE_RESPONSE_0:HITM", 0x1b7, 0x1000018fff),
    ("bdw", "MEM_LOAD_UOPS_LLC_HIT_RETIRED:XSNP_MISS", 0x1d2, 0x0),
    ("skl", "TX_MEM:ABORT_HLE_ELISION_BUFFER_FULL", 0x4054, 0x0),
    ("skl", "FRONTEND_RETIRED:IDQ_4_BUBBLES", 0x1c6, 0x400106),
    ("skl", "UOPS_DISPATCHED:PORT_4_CORE", 0x2010a1, 0x0),
    ("skx", "FP_ARITH:512B_PACKED_SINGLE", 0x80c7, 0x0),
    ("skx", "L2_RQSTS", 0xff24, 0x0),
    ("skx", "INST_RETIRED", 0xc0, 0x0),
    ("icl", "FP_ARITH:SCALAR_SINGLE", 0x2c7, 0x0),
    ("icl", "OFFCORE_RESPONSE_0:DEMAND_RFO_ANY_RESPONSE", 0x1b7, 0x10002),
    ("icl", "OFFCORE_RESPONSE_0:DEMAND_RFO_L3_HIT_SNOOP_NOT_NEEDED", 0x1b7, 0x1003c0002),
    ("icx", "OCR:HWPF_L3_REMOTE", 0x1b7, 0x90002380),
    ("icx", "OCR:DEMAND_RFO_REMOTE_PMM", 0x1b7, 0x703000002),
    ("icx", "OFFCORE_RESPONSE_0:DEMAND_DATA_RD_REMOTE_CACHE_SNOOP_HITM", 0x1b7, 0x1030000001),
    ("spr", "OCR:READS_TO_CORE_LOCAL_DRAM", 0x12a, 0x104004477),
    ("spr", "OFFCORE_RESPONSE_0:STREAMING_WR_L3_MISS_LOCAL", 0x12a, 0x84000800),
    ("spr", "OFFCORE_RESPONSE_1:READS_TO_CORE_SNC_CACHE_HITM", 0x12a, 0x1008004477),
    ("bnl", "L2_LD:M_STATE", 0x7829, 0x0),
    ("bnl", "BUS_TRANS_ANY:PREFETCH", 0x5070, 0x0),
    ("bnl", "LAST_LEVEL_CACHE_REFERENCES", 0x4f2e, 0x0),
    ("slm", "MEM_UOP_RETIRED:LD_UTLB_MISS", 0x1004, 0x0),
    ("slm", "OFFCORE_RESPONSE_1:DMND_DATA_RD", 0x2b7, 0x10001),
    ("slm", "OFFCORE_RESPONSE_0", 0x1b7, 0x1ffff),
    ("glm", "OFFCORE_RESPONSE_1:PARTIAL_WRITES", 0x2b7, 0x10100),
    ("glm", "OFFCORE_RESPONSE_0:L2_MISS_HIT_OTHER_CORE_NO_FWD", 0x1b7, 0x400018000),
    ("glm", "OFFCORE_RESPONSE_0:ANY_RESPONSE", 0x1b7, 0x18000),
    ("knl", "MISPREDICTED_BRANCH_RETIRED", 0xc5, 0x0),
    ("knl", "OFFCORE_RESPONSE_0:MCDRAM_NEAR", 0x1b7, 0x80208000),
    ("knl", "NO_ALLOC_CYCLES:ANY", 0x7fca, 0x0),
    ("snr", "CYCLES_DIV_BUSY", 0xcd, 0x0),
    ("snr", "OFFCORE_RESPONSE_1:DEMAND_RFO_ANY_RESPONSE", 0x2b7, 0x10002),
    ("snr", "OCR:DEMAND_RFO_ANY_RESPONSE", 0x1b7, 0x10002),
    ("k8", "CACHE_BLOCK", 0x3dea, 0x0),
    ("k8", "MEMORY_CONTROLLER_TURNAROUNDS", 0x7e3, 0x0),
    ("k8", "MEMORY_REQUESTS", 0x8365, 0x0),
    ("fam10h", "SEGMENT_REGISTER_LOADS", 0x7f20, 0x0),
    ("fam10h", "RETIRED_FASTPATH_DOUBLE_OP_INSTRUCTIONS", 0x7cc, 0x0),
    ("fam10h", "L2_FILL_WRITEBACK", 0x37f, 0x0),
    ("fam14h", "INSTRUCTION_CACHE_LINES_INVALIDATED", 0x38c, 0x0),
    ("fam14h", "PROBE", 0xbfec, 0x0),
    ("fam14h", "REQUESTS_TO_L2", 0xb7d, 0x0),
    ("fam15h", "MOVE_SCALAR_OPTIMIZATION", 0xf04, 0x0),
    ("fam15h", "L1_ITLB_MISS_AND_L2_ITLB_MISS", 0x785, 0x0),
    ("fam15h", "LOAD_Q_STORE_Q_FULL", 0x323, 0x0),
    ("fam16h", "INSTRUCTION_CACHE_LINES_INVALIDATED", 0x38c, 0x0),
    ("fam16h", "DATA_CACHE_LINES_EVICTED", 0x1f44, 0x0),
    ("fam16h", "DATA_CACHE_REFILLS_FROM_NORTHBRIDGE", 0x1f43, 0x0),
    ("zen1", "L2_PREFETCH_HIT_L2", 0x3f70, 0x0),
    ("zen1", "L2_PREFETCH_MISS_L3", 0x3f72, 0x0),
    ("zen1", "CYCLES_WITH_FILL_PENDING_FROM_L2", 0x16d, 0x0),
    ("zen3", "BAD_STATUS_2", 0x224, 0x0),
    ("zen3", "TLB_FLUSHES", 0xff78, 0x0),
    ("zen3", "RETIRED_LOCK_INSTRUCTIONS", 0x125, 0x0),
    ("zen4", "STORE_COMMIT_CANCELS_2", 0x137, 0x0),
    ("zen4", "MAB_ALLOCATION_BY_TYPE", 0x7f41, 0x0),
    ("zen4", "RETIRED_LOCK_INSTRUCTIONS", 0x125, 0x0),
];

#[test]
fn libpfm4_s_names_become_its_registers() {
    for &(cpu, name, select, register) in LIBPFM4 {
        let perf = encoding(cpu, name).perf.expect("Linux counts it");
        assert_eq!((perf.config, perf.config1), (select, register), "{cpu}: {name}");
    }
}

#[test]
fn an_alias_stands_for_a_name_that_resolves() {
    let mut aliased = 0;
    for cpu in CpuModel::all() {
        for (name, event) in aliases(cpu) {
            let is_preset = Preset::named(event).is_some();
            match resolve(cpu, name) {
                // A sum of events has the alias as its name.
                Ok(resolved) if resolved.alias().is_some() => {
                    assert_eq!(resolved.name(), name, "{}", cpu.name());
                    aliased += 1;
                }
                Ok(resolved) => {
                    let direct = resolve(cpu, event).expect("the name resolves");
                    assert_eq!(resolved.name(), direct.name(), "{}: {name}", cpu.name());
                    aliased += 1;
                }
                // No counter of this model counts what PAPI's preset means; the error says why.
                Err(error) if is_preset => {
                    assert_eq!(error.kind(), ResolveErrorKind::Impossible, "{error}");
                }
                Err(error) => panic!("{name} on {}: {error}", cpu.name()),
            }
        }
    }
    assert!(aliased > 4_000, "{aliased} names of all tables");
}

#[test]
fn an_alias_hides_no_event_and_keeps_modifiers() {
    let skl = model("skl");
    for (name, _) in aliases(skl) {
        let table = skl.events().any(|event| event.name().eq_ignore_ascii_case(name));
        assert!(!table && Preset::named(name).is_none(), "{name} is an event of the table");
    }
    let user = encoding("skl", "unhalted_core_cycles:u");
    assert_eq!(user.name.to_string(), "CPU_CLK_UNHALTED.THREAD:u");
    let register = encoding("skl", "OFFCORE_RESPONSE_0:DMND_DATA_RD:k");
    assert!(register.name.to_string().ends_with(":k"), "{}", register.name);
    let error = resolve(skl, "OFFCORE_RESPONSE_0:NONSENSE").expect_err("no such unit mask");
    assert!(error.to_string().contains("no event OFFCORE_RESPONSE_0:NONSENSE on skl"), "{error}");
}

#[test]
fn likwid_s_underscores_are_separators() {
    assert_eq!(encoding("skl", "UOPS_ISSUED_ANY").name.to_string(), "UOPS_ISSUED.ANY");
    assert_eq!(encoding("skl", "INSTR_RETIRED_ANY").name.to_string(), "INST_RETIRED.ANY");
    assert!(resolve(model("skl"), "UOPS_ISSUED_NONSENSE").is_err());
}

#[test]
fn a_name_without_its_unit_mask_is_refused_with_the_masks() {
    let error = resolve(model("skx"), "mem_trans_retired").expect_err("it needs a latency");
    assert_eq!(error.kind(), ResolveErrorKind::Needs);
    assert!(
        error.to_string().contains("needs a unit mask out of LOAD_LATENCY_GT_128, "),
        "{error}"
    );
    assert_eq!(error.nearest()[0], "MEM_TRANS_RETIRED.LOAD_LATENCY_GT_128");
    let error = resolve(model("snb"), "LOAD_HIT_PRE").expect_err("other models have it as it is");
    assert_eq!(error.kind(), ResolveErrorKind::Needs);
}

#[test]
fn what_counts_beyond_a_thread_is_refused_as_such() {
    let refused = |name| resolve(model("skx"), name).expect_err("no event of a thread").to_string();
    let error = refused("UNC_CHA_SF_EVICTION.M_STATE");
    assert!(error.contains("it counts at the socket, not at a thread"), "{error}");
    assert!(refused("rapl_energy_pkg").contains("energy"));
}

#[test]
fn an_empty_field_of_a_unit_mask_counts_all() {
    let select = |name| encoding("fam10h", name).perf.expect("Linux counts it").config;
    // No core and no request selected would count nothing.
    assert_eq!(select("READ_REQUEST_TO_L3_CACHE:ANY_READ"), 0x4_0000_f7e0);
    assert_eq!(select("READ_REQUEST_TO_L3_CACHE:ALL_CORES"), 0x4_0000_f7e0);
    assert_eq!(select("L3_FILLS_CAUSED_BY_L2_EVICTIONS:MODIFIED:ALL_CORES"), 0x4_0000_f8e2);
    assert_eq!(select("HYPERTRANSPORT_LINK0:SUBLINK_MASK"), 0xbff6);
    assert_eq!(select("HYPERTRANSPORT_LINK0:NOP_DWORD_SENT"), 0x8f6);
}
