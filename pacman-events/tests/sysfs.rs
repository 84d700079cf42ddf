//! PMUs of other machines, from their sysfs directories: an Arm Neoverse N1 and a POWER9.

use std::fs;
use std::path::{Path, PathBuf};

use pacman_events::encode::Kind;
use pacman_events::{CpuModel, ResolveErrorKind, Resolver, SysfsPmu};

fn files(directory: &Path) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let text = |path: PathBuf| fs::read_to_string(path).expect("a readable fixture");
    entries
        .map(|entry| entry.expect("an entry"))
        .map(|entry| (entry.file_name().into_string().expect("a name"), text(entry.path())))
        .collect()
}

fn pmus(machine: &str) -> Vec<SysfsPmu> {
    let devices = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sysfs").join(machine);
    let directories = fs::read_dir(devices).expect("a fixture");
    directories
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            let kind = fs::read_to_string(path.join("type")).expect("a type");
            let (formats, events) = (files(&path.join("format")), files(&path.join("events")));
            SysfsPmu::parse(
                name,
                &kind,
                formats.iter().map(|(name, text)| (name.as_str(), text.as_str())),
                events.iter().map(|(name, text)| (name.as_str(), text.as_str())),
            )
            .expect("a PMU")
        })
        .collect()
}

#[test]
fn neoverse_events_by_alias_and_by_term() {
    let pmus = pmus("neoverse-n1");
    let resolver = Resolver::new(CpuModel::generic()).with_pmus(&pmus);
    let attr = |name| {
        let resolved = resolver.resolve(name).unwrap_or_else(|refusal| panic!("{refusal}"));
        let event = resolved.encoding().expect("one event").clone();
        assert_eq!(event.kind, Kind::Perf);
        event.perf.expect("attributes")
    };
    assert_eq!((attr("stall_backend").kind, attr("stall_backend").config), (8, 0x24));
    assert_eq!(attr("armv8_pmuv3_0/event=0x11,long=1/").config1, 1);
    assert_eq!(attr("armv8_pmuv3_0/cpu_cycles,rdpmc/u").config1, 2);
    assert_eq!(attr("armv8_pmuv3_0/config=0x11/").config, 0x11);
    // Presets fall back on what Linux defines for all.
    assert_eq!((attr("CYCLES").kind, attr("CYCLES").config), (0, 0));
    assert_eq!(attr("task-clock").kind, 1);
}

#[test]
fn power9_fields_are_placed_by_their_formats() {
    let pmus = pmus("power9");
    let resolver = Resolver::new(CpuModel::generic()).with_pmus(&pmus);
    let config = |name| {
        let resolved = resolver.resolve(name).unwrap_or_else(|refusal| panic!("{refusal}"));
        resolved.encoding().expect("one event").perf.expect("attributes").config
    };
    assert_eq!(config("cpu/stalled-cycles-backend/"), 0x1e054);
    assert_eq!(config("cpu/pmc=4,unit=0,pmcxsel=0xf6/"), 0x400f6);
    assert_eq!(config("cpu/mem-loads/"), 0x34_3404_01e0);
    assert_eq!(config("nest_mcs01_imc/PM_MCS01_128B_RD_DISP_PORT01/"), 0x118);
    let imc = pmus.iter().find(|pmu| pmu.name() == "nest_mcs01_imc").unwrap();
    assert_eq!(imc.events().count(), 1, "scale and unit are no events");
}

#[test]
fn a_pmu_s_missing_parts_are_reported() {
    let pmus = pmus("power9");
    let resolver = Resolver::new(CpuModel::generic()).with_pmus(&pmus);
    let refusal = |name| resolver.resolve(name).unwrap_err();
    assert!(refusal("cpu/umask=1/").to_string().contains("no term umask"));
    assert!(refusal("cpu/pmc=16/").to_string().contains("wider than the 4 bits"));
    assert!(refusal("cpu/pmc=x/").to_string().contains("not a number"));
    assert_eq!(refusal("uncore_imc/event=1/").kind(), ResolveErrorKind::Needs);
    assert_eq!(refusal("cpu/pmc=1").kind(), ResolveErrorKind::Grammar);
    let faulty = SysfsPmu::parse("x", "4", [("event", "config:9-3")], []).unwrap_err();
    assert!(faulty.to_string().contains("format event"));
    assert!(SysfsPmu::parse("x", "four", [], []).is_err());
}

#[test]
fn another_machines_x86_events_need_no_directory() {
    let skl = Resolver::new(CpuModel::named("skl").unwrap());
    let event = |name| skl.resolve(name).unwrap().encoding().unwrap().clone();
    let cycles = event("cpu/event=0x3c,umask=0/");
    assert_eq!((cycles.kind, cycles.evtsel, cycles.counters.bits()), (Kind::Arch, 0x3c, 0xf));
    assert_eq!(event("cpu/event=0xe,umask=0x1,inv,cmask=1/k").evtsel, 0x0182_010e);
    let offcore = event("cpu/event=0xb7,umask=0x1,offcore_rsp=0x3fffc00001/");
    assert_eq!(offcore.extra.unwrap().value, 0x3f_ffc0_0001);
    assert_eq!(offcore.extra.unwrap().choices().len(), 2);
    assert_eq!(skl.resolve("cpu/event=0x100/").unwrap_err().kind(), ResolveErrorKind::Grammar);
}

#[test]
fn aliases_that_name_each_other_are_refused() {
    let loops: [&[(&str, &str)]; 3] = [
        &[("a", "b"), ("b", "a")],
        &[("a", "event=1,b"), ("b", "umask=1,c"), ("c", "a,b")],
        // No loop, but it would take too long to expand.
        &[("a", "b,b,b,b"), ("b", "c,c,c,c"), ("c", "d,d,d,d"), ("d", "e,e,e,e"), ("e", "event=1")],
    ];
    for events in loops {
        let formats = [("event", "config:0-7"), ("umask", "config:8-15")];
        let pmu = SysfsPmu::parse("odd", "8", formats, events.iter().copied()).unwrap();
        let refusal = pmu.event("a").unwrap_err();
        assert_eq!(refusal.kind(), ResolveErrorKind::Grammar);
        assert!(refusal.to_string().contains("name each other: 64 were followed"), "{refusal}");
    }
}
