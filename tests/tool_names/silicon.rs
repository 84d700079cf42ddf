//! The page of real measurements has the rows of its tables, and the reader of contributions is strict.

use std::path::Path;
use std::process::Command;

use pacman_events::{CpuModel, overcounts};
use pacman_suite::command::have;
use pacman_suite::skipped;

const PAGE: &str = include_str!("../../docs/silicon.md");

#[test]
fn the_page_has_every_explained_code() {
    let rows = include_str!("../../pacman-events/tests/data/silicon.tsv").lines();
    let explained: Vec<Vec<_>> =
        rows.map(|row| row.split('\t').collect()).filter(|row: &Vec<_>| row.len() == 10).collect();
    let explained = explained.iter().skip(1).filter(|row| row[8] != "-");
    let mut known = 0;
    for row in explained {
        let here = row[8].replacen("r:", "r", 1);
        let (begin, end) =
            (format!("| {} | `{}` | ", row[0], row[5]), format!(" | `{here}` | {} |", row[9]));
        let line = PAGE.lines().find(|line| line.starts_with(&begin) && line.ends_with(&end));
        assert!(line.is_some(), "docs/silicon.md lacks {begin}…{end}");
        known += 1;
    }
    assert!(PAGE.contains(&format!("and {known} differ:")), "{known} differ");
}

#[test]
fn the_page_has_every_overcount() {
    let figure = |number: i128| {
        let digits = number.unsigned_abs().to_string();
        let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().collect();
        let groups: Vec<_> = groups.iter().map(|group| String::from_utf8_lossy(group)).collect();
        format!("{}{}", if number < 0 { "-" } else { "" }, groups.join(","))
    };
    for cpu in CpuModel::all() {
        for row in overcounts(cpu) {
            let interrupts = row.interrupts.map_or("-".to_owned(), |count| figure(count.into()));
            let line = format!(
                "| {cpu} | {} | {} | {interrupts} | {} | {} |\n",
                row.event,
                figure(row.overcount.into()),
                figure(row.spread.into()),
                row.processor
            );
            assert!(PAGE.contains(&line), "docs/silicon.md lacks {line}");
        }
    }
}

/// The output and the messages of the reader about a file.
fn read(text: &str) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.json");
    std::fs::write(&file, text).unwrap();
    let reader = "../pacman-events/data/contributed.py";
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join(reader);
    let output = Command::new("python3").arg(reader).arg(file).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

#[test]
fn contributions_become_rows_or_are_refused() {
    if !have("python3") {
        return skipped("no python3");
    }
    let sample = |counted: u64| serde_json::json!({"low": 1000, "high": 1000, "counted": counted});
    let good = serde_json::json!({
        "processor": {"name": "Intel(R) Core(TM) i7-6700 CPU @ 3.40GHz", "table": "skl",
            "title": "Skylake", "vendor": "GenuineIntel", "family": 6, "model": 94, "stepping": 3},
        "cpu": 0, "repeats": 3, "exit_status": 0,
        "events": [{"event": "INSTRUCTIONS", "kernel": "instructions", "unit": "instructions",
            "native": null, "verdict": "exact", "text": "exact", "factor": null, "spread": null,
            "error": null, "read_path": "rdpmc", "doubt": null, "disturbed": 0,
            "samples": [sample(1000), sample(1002), sample(1001)]}],
    });
    let (taken, row) = read(&good.to_string());
    assert!(taken, "{row}");
    let cells = ["skl", "INSTRUCTIONS", "1000", "1", "-", "-", "2", "3", "Intel Core i7-6700"];
    assert_eq!(row, format!("{}\tcontributed@mine\n", cells.join("\t")));
    let refused = |change: &dyn Fn(&mut serde_json::Value), reason: &str| {
        let mut bad = good.clone();
        change(&mut bad);
        let (taken, said) = read(&bad.to_string());
        assert!(!taken && said.contains(reason) && said.lines().count() == 1, "{said}");
    };
    refused(&|file| file["host"] = "here".into(), "the unknown field 'host'");
    refused(&|file| file["processor"]["table"] = "none".into(), "no table 'none'");
    refused(&|file| file["processor"]["name"] = "/home/me".into(), "is no processor's");
    refused(&|file| file["events"][0]["samples"][0]["counted"] = 0.5.into(), "no whole number");
    refused(&|file| file["events"][0]["doubt"] = "a guest".into(), "no event was counted");
    refused(&|file| file["events"] = serde_json::json!([]), "no event was counted");
    assert!(!read("{").0);
}
