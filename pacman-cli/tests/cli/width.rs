//! Text keeps to the width of the terminal, or to `COLUMNS`; a pipe without it has lines of any length.

use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Stdio};

use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Sixteen threads, and a name that no terminal has room for.
const PROGRAM: &str = r#"
#include <map>
#include <string>
#include <vector>
namespace a_library_with_a_name { namespace detail {
template <class A, class B>
void relax_all_the_cells_of_the_grid_in_their_order(std::map<A, B> &cells, int turns) {
  volatile double sum = 0;
#pragma omp parallel num_threads(16)
  {
    for (int turn = 0; turn < turns; turn++)
      sum = sum + turn;
#pragma omp barrier
#pragma omp critical(a_lock_with_a_name)
    sum = sum + 1;
  }
}
} }
int main() {
  std::map<std::string, std::vector<double>> cells;
  for (int step = 0; step < 10; step++)
    a_library_with_a_name::detail::relax_all_the_cells_of_the_grid_in_their_order(cells, 1000);
  volatile double sum = 0;
#pragma omp parallel for num_threads(2)
  for (int turn = 0; turn < 1000; turn++)
    sum = sum + turn;
}
"#;

const WIDTHS: [usize; 5] = [40, 80, 100, 132, 200];

fn wide(said: &str, most: usize) -> Vec<&str> {
    said.lines().filter(|line| line.trim_end().chars().count() > most).collect()
}

/// The text that a command writes to a terminal of this width.
fn on_a_terminal(mut command: Command, width: u16) -> String {
    let (mut master, mut terminal) = (-1, -1);
    let size = libc::winsize { ws_row: 24, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: two descriptors are written, and the size is read; neither a name nor modes are
    // asked for.
    let opened = unsafe {
        let (master, terminal) = (&raw mut master, &raw mut terminal);
        libc::openpty(master, terminal, std::ptr::null_mut(), std::ptr::null(), &raw const size)
    };
    assert_eq!(opened, 0);
    // SAFETY: both are fresh and owned by nobody else.
    let [master, terminal] = [master, terminal].map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    let both = terminal.try_clone().expect("a copy");
    command.env_remove("COLUMNS").env("NO_COLOR", "1").stdout(terminal).stderr(both);
    let mut running = command.spawn().expect("it starts");
    // It holds the terminal's other end, and reading would wait for more.
    drop(command);
    let mut said = Vec::new();
    // A terminal that nobody holds any more ends with EIO.
    let _ = File::from(master).read_to_end(&mut said);
    running.wait().expect("it ends");
    text(&said).to_owned()
}

#[test]
fn reports_and_comparisons_keep_to_the_width() {
    let scratch = Scratch::new();
    let Some(program) = scratch.compile("g++", &["-g", "-O1", "-fopenmp"], PROGRAM) else { return };
    let report = scratch.path("report.json");
    let run = |more: &[&str]| {
        let mut command = pacman_pmu(&["run", "--overhead", "100", "--waits"]);
        command.args(more).arg("--").arg(&program).stdout(Stdio::null());
        command
    };
    let kept = run(&["-o", report.to_str().expect("a path")]).output().expect("it runs");
    assert!(kept.status.success(), "{}", text(&kept.stderr));
    let compare = || {
        let mut command = pacman_pmu(&["compare"]);
        command.args([&report, &report]);
        command
    };
    let name = "relax_all_the_cells_of_the_grid_in_their_order";
    // A name that was broken is whole without its line ends.
    let joined = |said: &str| -> String { said.split_whitespace().collect() };
    for width in WIDTHS {
        let columns = width.to_string();
        for mut command in [run(&[]), compare()] {
            let answer = command.env("COLUMNS", &columns).output().expect("it runs");
            let said = format!("{}{}", text(&answer.stdout), text(&answer.stderr));
            assert_eq!(wide(&said, width), [""; 0], "{width} columns: {said}");
            assert!(joined(&said).contains(name), "{width} columns: {said}");
            let said = on_a_terminal(command, width as u16);
            assert_eq!(wide(&said, width), [""; 0], "a terminal of {width} columns: {said}");
            assert!(joined(&said).contains(name), "{width} columns: {said}");
        }
    }
    let pipe = run(&[]).env_remove("COLUMNS").output().expect("it runs");
    let said = text(&pipe.stderr);
    let line = said.lines().find(|line| line.contains(name)).expect("the region");
    assert!(line.contains(" ms") || line.contains(" µs"), "its figures and its name: {line}");
}

#[test]
fn tables_of_other_commands_keep_to_the_width() {
    for arguments in [
        &["list", "--cpu", "skl", "STALL"][..],
        &["list", "--cpus"],
        &["encode", "--cpu", "snb", "STALL_CYCLES"],
        &["plan", "--cpu", "p4", "--thread", "INSTRUCTIONS,CYCLES", "--thread", "CYCLES"],
        &["plan", "--cpu", "skl", "--at-once", "--thread", MANY],
        &["metrics", "--cpu", "skl"],
        &["metrics", "ipc", "--cpu", "skl"],
        &["topo"],
        &["topo", "--synthetic", "2 packages, 64 cores, 2 threads"],
        &["stat", "-e", "task-clock,page-faults,minor-faults,major-faults", "--", "true"],
    ] {
        for width in [80, 100, 132, 200] {
            let mut command = pacman_pmu(arguments);
            let answer = command.env("COLUMNS", width.to_string()).output().expect("it runs");
            let said = format!("{}{}", text(&answer.stdout), text(&answer.stderr));
            assert!(said.lines().count() > 1, "{arguments:?}: {said}");
            assert_eq!(wide(&said, width), [""; 0], "{arguments:?}, {width} columns: {said}");
        }
    }
}

const MANY: &str = "r0101,r0201,r0301,r0401,r0501,r0601,r0701,r0801,r0901,r0a01";
