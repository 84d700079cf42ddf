//! Recordings of one machine that are read on another: they carry what the reader must know.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::scratch::Scratch;
use super::{library, pacman_pmu, text};

const PROGRAM: &str = r#"
int main(void)
{
    volatile double sums[64] = {0};
    for (int round = 0; round < 8; round++) {
        #pragma omp parallel for num_threads(2)
        for (int at = 0; at < 2; at++)
            for (int step = 0; step < 300000; step++)
                sums[32 * at] += step;
    }
    return 0;
}
"#;

/// Records the program on a machine.
fn recorded(program: &Path, machine: &str, events: &str, place: &Path) {
    let directory = place.join(machine);
    fs::create_dir_all(&directory).expect("a directory");
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", library()).env("PACMAN_OMP_DIR", &directory);
    command.env("PACMAN_OMP_EVENTS", events).env("PACMAN_MACHINE", machine);
    let answer = command.output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
}

/// The report that a reader on `machine` writes; `None` is this one.
fn read(
    place: &Path,
    recorded: &str,
    machine: Option<&str>,
    form: &str,
    scratch: &Scratch,
) -> String {
    let file = scratch.path(&format!("read.{form}"));
    let mut command = pacman_pmu(&["run", "--read"]);
    command.arg(place.join(recorded)).arg("-o").arg(&file);
    command.env_remove("PACMAN_MACHINE");
    if let Some(machine) = machine {
        command.env("PACMAN_MACHINE", machine);
    }
    let answer = command.output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    fs::read_to_string(&file).expect("a report")
}

#[test]
fn a_report_is_the_same_on_every_machine() {
    let scratch = Scratch::new();
    let flags = ["-g", "-O1", "-fopenmp", "-x", "c"];
    let Some(program) = scratch.compile("gcc", &flags, PROGRAM) else { return };
    let place = scratch.path("recordings");
    let of = [
        ("p4", "INSTRUCTIONS,CYCLES", "CYCLES [cycles]"),
        ("haswell", "INSTRUCTIONS,CYCLES,r0151,UOPS_RETIRED.ALL", "UOPS_RETIRED.ALL [events]"),
        ("zen4", "INSTRUCTIONS,CYCLES,BRANCH_MISSES", "BRANCH_MISSES [branches]"),
    ];
    for (machine, events, known) in of {
        recorded(&program, machine, events, &place);
        let mut all = String::new();
        for form in ["txt", "json", "csv", "html"] {
            let own = read(&place, machine, Some(machine), form, &scratch);
            assert!(own.contains("INSTRUCTIONS"), "{machine}: {own}");
            for other in [None, Some("haswell"), Some("p4"), Some("knl"), Some("alderlake")] {
                let elsewhere = read(&place, machine, other, form, &scratch);
                assert_eq!(own, elsewhere, "{machine} read on {other:?}, {form}");
            }
            all += &own;
        }
        assert!(all.contains(known), "{machine}: no {known} in {all}");
        assert!(all.contains("SIMULATED: counts are those of "), "{machine}: {all}");
    }
}

#[test]
fn a_merged_report_is_the_same_on_every_machine() {
    let scratch = Scratch::new();
    let flags = ["-g", "-O1", "-fopenmp", "-x", "c"];
    let Some(program) = scratch.compile("gcc", &flags, PROGRAM) else { return };
    let report = scratch.path("ranks.json");
    let mut command = pacman_pmu(&["run", "-e", "INSTRUCTIONS,CYCLES", "-o"]);
    command.arg(&report).arg("--").arg(&program).env("PACMAN_MACHINE", "p4");
    command.env("PMI_RANK", "0").env("PMI_SIZE", "2");
    let answer = command.output().expect("it runs");
    // The other rank never begins, and the recording of this one stays.
    assert_eq!(answer.status.code(), Some(4), "{}", text(&answer.stderr));
    let ranks = report.with_extension("json.ranks");
    let merged = |machine: Option<&str>, form: &str| {
        let file = scratch.path(&format!("merged.{form}"));
        let mut command = pacman_pmu(&["merge"]);
        command.arg(&ranks).arg("-o").arg(&file).env_remove("PACMAN_MACHINE");
        command.envs(machine.map(|machine| ("PACMAN_MACHINE", machine)));
        let answer = command.output().expect("it runs");
        assert!(answer.status.success(), "{}", text(&answer.stderr));
        fs::read_to_string(&file).expect("a report")
    };
    for form in ["txt", "json", "csv", "html"] {
        let own = merged(Some("p4"), form);
        assert!(own.contains("INSTRUCTIONS"), "{own}");
        for other in [None, Some("haswell"), Some("knl")] {
            assert_eq!(own, merged(other, form), "read on {other:?}, {form}");
        }
    }
}
