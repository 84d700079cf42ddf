//! Each exit status that `--help` promises is tried, and each ending of a process that the manual lists.

use std::collections::BTreeSet;
use std::fs;

use pacman_suite::skipped;
use serde_json::Value;

use crate::place::Place;
use crate::source;

/// A line of a command, and the exit status that it has. The name is empty for the command by itself.
const TRIALS: [(&str, u8, &str); 79] = [
    ("", 0, "pacman-pmu --version"),
    ("", 2, "pacman-pmu nothing"),
    ("", 4, "pacman-pmu list --cpus > /dev/full"),
    ("", 127, "cp \"$(command -v pacman-pmu)\" alone; env PATH=/none ./alone train measured.csv"),
    ("topo", 0, "pacman-pmu topo"),
    ("topo", 1, "pacman-pmu topo --tiles"),
    ("topo", 2, "pacman-pmu topo --synthetic nonsense"),
    ("topo", 4, "pacman-pmu topo > /dev/full"),
    ("doctor", 0, "pacman-pmu doctor"),
    ("doctor", 2, "pacman-pmu doctor --nothing"),
    ("doctor", 4, "pacman-pmu doctor > /dev/full"),
    ("list", 0, "pacman-pmu list --cpu skl STALL"),
    ("list", 2, "pacman-pmu list --cpu skl no_event_has_this_name"),
    ("list", 4, "pacman-pmu list --cpu skl > /dev/full"),
    ("encode", 0, "pacman-pmu encode --cpu snb STALL_CYCLES"),
    ("encode", 2, "pacman-pmu encode --cpu snb no_event"),
    ("encode", 4, "pacman-pmu encode --cpu snb STALL_CYCLES > /dev/full"),
    ("events", 0, "XDG_DATA_HOME=$PWD/data pacman-pmu events list"),
    (
        "events",
        1,
        "XDG_DATA_HOME=$PWD/Makefile pacman-pmu events update --cpu skl skylake_core.json",
    ),
    ("events", 2, "XDG_DATA_HOME=$PWD/data pacman-pmu events remove skl"),
    ("events", 4, "XDG_DATA_HOME=$PWD/data pacman-pmu events list > /dev/full"),
    ("plan", 0, "pacman-pmu plan --cpu p4 --thread INSTRUCTIONS"),
    ("plan", 2, "pacman-pmu plan --cpu p4 --thread no_event"),
    (
        "plan",
        3,
        "pacman-pmu plan --cpu skl --at-once --thread r0101,r0201,r0301,r0401,r0501,r0601,r0701,r0801,r0901,r0a01",
    ),
    ("plan", 4, "pacman-pmu plan --cpu p4 --thread INSTRUCTIONS > /dev/full"),
    ("stat", 2, "pacman-pmu stat -e no_event -- ./program"),
    ("stat", 4, "pacman-pmu stat -e task-clock -o /dev/full -- ./program"),
    ("stat", 126, "pacman-pmu stat -e task-clock -- ./Makefile"),
    ("stat", 127, "pacman-pmu stat -e task-clock -- ./no-program"),
    (
        "record",
        0,
        "unset PACMAN_MACHINE; pacman-pmu record --configurations 1x1 --runs 1 -o own.csv -- ./solver",
    ),
    (
        "record",
        1,
        "unset PACMAN_MACHINE; pacman-pmu record --configurations 1x1 --runs 1 -o other.csv -- ./program",
    ),
    (
        "record",
        2,
        "unset PACMAN_MACHINE; pacman-pmu record --configurations 0x0 -o own.csv -- ./solver",
    ),
    (
        "record",
        4,
        "unset PACMAN_MACHINE; pacman-pmu record --configurations 1x1 --runs 1 -o third.csv -- ./solver > /dev/full",
    ),
    ("report", 0, "pacman-pmu report old.json -o report.html"),
    ("report", 2, "pacman-pmu report counts.csv -o report.html"),
    ("report", 4, "pacman-pmu report old.json -o /no/such/report.html"),
    ("run", 2, "pacman-pmu run -e no_event --strict -- ./program"),
    ("run", 4, "pacman-pmu run -o no/folder.json -- ./program"),
    ("run", 126, "pacman-pmu run -- ./Makefile"),
    ("run", 127, "pacman-pmu run -- ./no-program"),
    ("merge", 0, "pacman-pmu merge report.json.ranks -o merged.json"),
    ("merge", 2, "pacman-pmu merge sessions -o merged.json"),
    ("merge", 4, "ln -s /dev/full full.json; pacman-pmu merge report.json.ranks -o full.json"),
    ("compare", 0, "pacman-pmu compare old.json old.json"),
    ("compare", 1, "pacman-pmu compare quick.json slow.json"),
    ("compare", 2, "pacman-pmu compare old.json counts.csv"),
    ("compare", 3, "sed 's/main, /start, /' old.json > b.json; pacman-pmu compare old.json b.json"),
    ("compare", 4, "pacman-pmu compare old.json old.json > /dev/full"),
    ("metrics", 0, "pacman-pmu metrics ipc --counts counts.csv"),
    ("metrics", 1, "pacman-pmu metrics l2-mpki --counts counts.csv"),
    ("metrics", 2, "pacman-pmu metrics ipc --counts Makefile"),
    ("metrics", 4, "pacman-pmu metrics ipc --counts counts.csv > /dev/full"),
    ("smt", 0, "pacman-pmu smt -- ./program"),
    ("smt", 2, "pacman-pmu smt --duration never"),
    ("smt", 4, "pacman-pmu smt --duration 0.1 --json > /dev/full"),
    ("smt", 126, "pacman-pmu smt -- ./Makefile"),
    ("smt", 127, "pacman-pmu smt -- ./no-program"),
    ("budget", 0, "pacman-pmu budget --cpu niagara1 --clock 1.2e9 niagara.csv"),
    ("budget", 2, "pacman-pmu budget --cpu niagara1 --clock 1.2e9 no-file.csv"),
    ("budget", 4, "pacman-pmu budget --cpu niagara1 --clock 1.2e9 niagara.csv > /dev/full"),
    ("memory", 0, "pacman-pmu memory list"),
    ("memory", 1, "PACMAN_OMP_MEMORY=$PWD/Makefile pacman-pmu memory list"),
    ("memory", 2, "pacman-pmu memory show no-program"),
    ("memory", 4, "pacman-pmu memory list > /dev/full"),
    ("train", 0, "pacman-pmu train measured.csv -o own.json"),
    ("train", 1, "pacman-pmu train measured.csv -o no/folder.json"),
    ("train", 2, "pacman-pmu train Makefile -o own.json"),
    ("train", 4, "pacman-pmu train measured.csv -o own.json > /dev/full"),
    ("predict", 2, "pacman-pmu predict --model Makefile --sample 8=2.07"),
    ("evaluate", 2, "pacman-pmu evaluate Makefile"),
    ("validate", 2, "pacman-pmu validate --repeat never"),
    ("list", 4, "pacman-pmu list --cpu skl >&-"),
    ("topo", 4, "pacman-pmu topo --json >&-"),
    ("", 4, "pacman-pmu --help >&-"),
    ("compare", 4, "mkdir folder.json; pacman-pmu compare old.json old.json -o folder.json"),
    ("stat", 4, "mkdir counts.json; pacman-pmu stat -e task-clock -o counts.json -- ./program"),
    ("run", 4, "mkdir report2.json; pacman-pmu run -o report2.json -- ./program"),
    ("merge", 4, "mkdir merged2.json; pacman-pmu merge report.json.ranks -o merged2.json"),
    (
        "validate",
        4,
        "unset PACMAN_MACHINE; pacman-pmu validate -e task-clock --repeat 3 -o no/folder.json",
    ),
];

/// Statuses that are not tried here, and why.
const NOT_TRIED: [(&str, u8, &str); 13] = [
    ("doctor", 1, "needs a machine that counts nothing"),
    ("doctor", 3, "needs a machine without counters"),
    ("stat", 1, "needs a machine without counters; stat_refusals has it"),
    ("stat", 130, "needs two signals; stat_signals has it"),
    ("record", 130, "needs a signal; the tests of record have it"),
    ("smt", 1, "needs a system without contexts"),
    ("smt", 130, "needs two signals; smt_signals has it"),
    ("predict", 0, "the examples have it"),
    ("predict", 4, "as train"),
    ("evaluate", 0, "the examples have it"),
    ("evaluate", 4, "as train"),
    ("validate", 0, "the examples have it"),
    ("validate", 1, "needs a wrong counter; the tests of validate have it"),
];

/// The numbers that begin the lines of the section about exit statuses.
fn promised(help: &str) -> Vec<u8> {
    let section = help.lines().skip_while(|line| !line.starts_with("Exit status:")).skip(1);
    let lines = section.take_while(|line| line.starts_with("  "));
    lines.filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
}

#[test]
fn every_exit_status_of_the_help_is_as_it_says() {
    let mut own = pacman_train::command_line();
    let mut all: BTreeSet<(String, u8)> = BTreeSet::new();
    let mut take = |name: &str, help: String| {
        let statuses = promised(&help);
        assert!(!statuses.is_empty(), "the help of {name} has no list of exit statuses");
        all.extend(statuses.into_iter().map(|status| (name.to_owned(), status)));
    };
    take("", own.render_long_help().to_string());
    for command in own.get_subcommands_mut().filter(|command| command.get_name() != "help") {
        let help = command.render_long_help().to_string();
        take(command.get_name(), help);
    }
    let known = TRIALS.iter().map(|(name, status, _)| ((*name).to_owned(), *status));
    let reasons = NOT_TRIED.iter().map(|(name, status, _)| ((*name).to_owned(), *status));
    let listed: BTreeSet<(String, u8)> = known.chain(reasons).collect();
    assert_eq!(all, listed, "the statuses of the help, and those that are tried here");
    let Some(place) = Place::of_tests() else { return };
    let folder = place.folder("statuses");
    // Times of one region that differ beyond any noise, without a doubt about the machine.
    let report = fs::read_to_string(folder.join("old.json")).expect("a report");
    for (name, seconds) in [("quick.json", 1.0), ("slow.json", 9.0)] {
        let mut report: Value = serde_json::from_str(&report).expect("JSON");
        let process = &mut report["processes"][0];
        process["lacks_processors"] = false.into();
        for region in process["regions"].as_array_mut().expect("a list") {
            region["executions"] = 10.into();
            region["time_s"] = seconds.into();
            for end in ["shortest_s", "longest_s", "mean_s"] {
                region[end] = (seconds / 10.0).into();
            }
            region["share"] = 0.5.into();
            region["sampling"] = Value::Null;
        }
        fs::write(folder.join(name), report.to_string()).expect("a file");
    }
    let wrong = TRIALS.iter().filter_map(|(_, status, line)| {
        let output = place.shell(line, &folder).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr);
        let is_own = |line: &&str| !line.contains("nothing here is measured");
        let said: String = said.lines().filter(is_own).map(|line| format!("{line}\n")).collect();
        // A fault always has a line. A command that gives up says it in one line.
        let is_told = *status == 0 || !output.stdout.is_empty() || !said.trim().is_empty();
        let is_line = ![2, 126, 127].contains(status) || said.lines().count() == 1;
        let is_right = output.status.code() == Some(i32::from(*status)) && is_told && is_line;
        (!is_right).then(|| format!("{line}: {}, not {status}: {said}", output.status))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const SIGKILL: i32 = 9;

/// A program that ends in the way that its argument says.
const ENDS: &str = r#"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
  const char *how = words[1];
#pragma omp parallel num_threads(2)
  for (volatile int turn = 0; turn < 1000; turn++)
    ;
  if (!strcmp(how, "exec"))
    execl(words[0], words[0], "exit", (char *)0);
  if (!strcmp(how, "killed"))
    raise(SIGKILL);
  int ends[2];
  char none;
  if (!strcmp(how, "running") && pipe(ends) == 0) {
    if (fork() == 0)
      execl(words[0], words[0], "linger", (char *)0);
    close(ends[1]);
    read(ends[0], &none, 1);
  }
  if (!strcmp(how, "linger")) {
    /* The parent and the reader of the output wait no longer. */
    for (int file = 0; file < 10; file++)
      close(file);
    pause();
  }
  if (!strcmp(how, "exit-in-region")) {
#pragma omp parallel num_threads(2)
    exit(0);
  }
  if (!strcmp(how, "unsaid"))
    quick_exit(0);
  return 0;
}
"#;

#[test]
fn every_ending_of_the_manual_is_reported_so() {
    let page = fs::read_to_string(source("docs/observe.md")).expect("the page");
    let table = page.lines().skip_while(|line| !line.starts_with("| `ending` |")).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    let endings: Vec<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
    let all = ["exit", "exit-in-region", "exec", "killed", "unsaid", "running"];
    assert_eq!(endings, all, "the table has other endings than this test tries");
    let Some(place) = Place::of_tests() else { return };
    let folder = place.folder("endings");
    if !place.compile(ENDS, "cc", &["-O1", "-fopenmp"], &folder.join("ends")) {
        return skipped("no cc with OpenMP");
    }
    for ending in endings {
        let line = format!("pacman-pmu run -o ends.json -- ./ends {ending}");
        let output = place.shell(&line, &folder).output().expect("a shell");
        let status = if ending == "killed" { 128 + SIGKILL } else { 0 };
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{ending}: {said}");
        let report = fs::read_to_string(folder.join("ends.json")).expect("a report");
        let report: Value = serde_json::from_str(&report).expect("JSON");
        let processes = report["processes"].as_array().expect("a list");
        let there: Vec<&str> =
            processes.iter().map(|one| one["ending"].as_str().expect("a word")).collect();
        assert!(there.contains(&ending), "{ending}, not {there:?}");
        for process in processes.iter().filter(|one| one["ending"] == "running") {
            let pid = process["pid"].as_i64().expect("a number");
            // SAFETY: a signal to a process of this test.
            assert_eq!(unsafe { libc::kill(pid as i32, libc::SIGTERM) }, 0, "process {pid}");
        }
    }
}
