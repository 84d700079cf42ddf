//! libpfm4's names on the tables that both have: they resolve to the same registers, but for the
//! differences of docs/names.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use pacman_events::{CpuModel, Encoding, ResolveErrorKind, resolve};
use pacman_suite::command::{finish, have};
use pacman_suite::{skipped, skipped_part};

/// libpfm4's PMUs and their tables.
const MODELS: &[(&str, &str)] = &[
    ("netburst", "p4-northwood"),
    ("netburst_p", "p4-prescott"),
    ("atom", "bnl"),
    ("nhm", "nhm-ep"),
    ("wsm_dp", "wsm-ep-dp"),
    ("snb", "snb"),
    ("snb_ep", "jkt"),
    ("ivb", "ivb"),
    ("ivb_ep", "ivt"),
    ("hsw", "hsw"),
    ("hsw_ep", "hsx"),
    ("bdw", "bdw"),
    ("bdw_ep", "bdx"),
    ("skl", "skl"),
    ("skx", "skx"),
    ("clx", "clx"),
    ("icl", "icl"),
    ("icx", "icx"),
    ("spr", "spr"),
    ("slm", "slm"),
    ("glm", "glm"),
    ("tmt", "snr"),
    ("knl", "knl"),
    ("knc", "knc"),
    ("amd64_k8_revf", "k8"),
    ("amd64_fam10h_barcelona", "fam10h"),
    ("amd64_fam14h_bobcat", "fam14h"),
    ("amd64_fam15h_interlagos", "fam15h"),
    ("amd64_fam16h", "fam16h"),
    ("amd64_fam17h_zen1", "zen1"),
    ("amd64_fam17h_zen2", "zen2"),
    ("amd64_fam19h_zen3", "zen3"),
    ("amd64_fam19h_zen4", "zen4"),
];

/// The names that libpfm4 4.13 encodes, whose differences docs/names.md explains. The library's own
/// version number stays 4.0.
const NAMES: usize = 11_210;

/// `PFM_ERR_UMASK` and `PFM_ERR_ATTR`: libpfm4 itself asks for a unit mask.
const LACKS_UNIT_MASK: [&str; 2] = ["-6", "-8"];

/// USR, OS, INT and EN of PERFEVTSEL, as libpfm4 sets them.
const FLAGS: u64 = 0x53_0000;

/// The user and kernel bits of both threads in an ESCR.
const RINGS: u64 = 0xf;

/// The output of libpfm4; `None` if it is not there, which is said.
fn list() -> Option<String> {
    if !have("cc") {
        skipped("no C compiler");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("list");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tool_names/libpfm4.c");
    let mut compile = Command::new("cc");
    compile.args(["-std=gnu11", "-Wall", "-Werror", "-o"]).arg(&program).arg(source).arg("-lpfm");
    let output = compile.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("pfmlib.h") && errors.contains("No such file") {
        skipped("no libpfm4 (libpfm4-dev)");
        return None;
    }
    assert!(output.status.success(), "{errors}");
    let mut run = Command::new(program);
    // Without it libpfm4 encodes the events of this machine's processor alone.
    run.env("LIBPFM_ENCODE_INACTIVE", "1").args(MODELS.iter().map(|(pmu, _)| pmu));
    Some(String::from_utf8(finish(&mut run).stdout).unwrap())
}

/// Two words of an encoding as libpfm4 returns them, without the bits that modifiers set.
fn words(encoding: &Encoding) -> (u64, u64) {
    match &encoding.netburst {
        Some(setup) => (u64::from(setup.escr(0, true, false)) & !RINGS, u64::from(setup.cccr())),
        None => {
            let perf = encoding.perf.expect("Linux counts every event of these tables");
            (perf.config, perf.config1)
        }
    }
}

fn shown((first, second): (u64, u64)) -> String {
    if second == 0 { format!("{first:#x}") } else { format!("{first:#x} {second:#x}") }
}

/// The rows of the table of differences in docs/names.md, without the reason, by name and codes.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let page = include_str!("../../docs/names.md");
    let mut rows: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| `") && line.contains("| `0x")) {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, tables, ours, libpfm4, reason] = cells[..] else {
            panic!("5 columns are due: {line}")
        };
        assert!(page.contains(&format!("\n- **{reason}**: ")), "no reason {reason}: {line}");
        let key = format!("| {name} | {ours} | {libpfm4} |");
        rows.entry(key).or_default().extend(tables.split(", ").map(str::to_owned));
    }
    rows
}

#[test]
fn every_name_of_libpfm4_resolves_or_says_why_not() {
    let Some(list) = list() else { return };
    let mut shares: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut differences: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut unexplained = Vec::new();
    for line in list.lines() {
        let [pmu, name, error, first, second] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("5 words are due: {line}")
        };
        let &(_, table) = MODELS.iter().find(|(known, _)| *known == pmu).unwrap();
        let cpu = CpuModel::named(table).unwrap();
        let [all, resolved_too, same] = shares.entry(table).or_default();
        let encoded = error == "0";
        assert!(encoded || LACKS_UNIT_MASK.contains(&error), "{line}");
        *all += usize::from(encoded);
        match resolve(cpu, name) {
            Ok(resolved) if encoded => {
                *resolved_too += 1;
                let code =
                    |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
                let event = resolved.encoding();
                let netburst = event.is_some_and(|event| event.netburst.is_some());
                let theirs = (code(first) & !if netburst { RINGS } else { FLAGS }, code(second));
                let ours = event.map(words);
                if ours == Some(theirs) {
                    *same += 1;
                    continue;
                }
                let ours = ours.map_or("a sum".to_owned(), shown);
                let key = format!("| `{name}` | `{ours}` | `{}` |", shown(theirs));
                differences.entry(key).or_default().insert(table.to_owned());
            }
            // A preset may have the name of an event that takes unit masks.
            Ok(_) => {}
            Err(why) => {
                let explained =
                    matches!(why.kind(), ResolveErrorKind::Impossible | ResolveErrorKind::Needs);
                if !explained {
                    unexplained.push(why.to_string());
                }
            }
        }
    }
    let mut sum = [0; 3];
    for (table, counts) in &shares {
        let [all, resolved, same] = counts;
        println!("{table}: {resolved} of {all} names resolve, {same} to the same registers");
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    println!("all: {} of {} names resolve, {} to the same registers", sum[1], sum[0], sum[2]);
    assert_eq!(unexplained, Vec::<String>::new());
    assert!(sum[1] * 1000 >= sum[0] * 990, "{} of {} names resolve", sum[1], sum[0]);
    if sum[0] != NAMES {
        let why = format!("this libpfm4 encodes {} names, and version 4.13 {NAMES}", sum[0]);
        return skipped_part("differences", why);
    }
    let documented = documented();
    for (key, tables) in &differences {
        if documented.get(key) != Some(tables) {
            println!("docs/names.md lacks: {key} {tables:?}");
        }
    }
    assert_eq!(documented, differences, "the table in docs/names.md is not what differs");
}
