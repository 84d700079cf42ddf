//! MPI programs under Open MPI and MPICH: ranks, and the time of calls.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pacman_regions::{Cause, Recording, Wait};
use pacman_suite::skipped;

use super::scratch::Scratch;
use super::{library, pacman_pmu, text};

const KNOWN: &str = include_str!("mpi/known.c");
const BINDINGS: &str = include_str!("mpi/bindings.f90");
const TOOL: &str = include_str!("mpi/tool.c");
const REDUCE: &str = include_str!("mpi/reduce.c");
const OPENS: &str = include_str!("mpi/opens.c");
const NAMESAKE: &str = include_str!("mpi/namesake.c");

/// An MPI implementation, as Debian names its commands.
#[derive(Clone, Copy, Debug)]
struct Mpi(&'static str);

/// Both implementations that are here; says which is not.
fn implementations() -> Vec<Mpi> {
    let is_there = |mpi: &Mpi| {
        let here = Command::new(mpi.command("mpirun")).arg("--version").output().is_ok();
        if !here {
            skipped(format_args!("no {}", mpi.command("mpirun")));
        }
        here
    };
    [Mpi("openmpi"), Mpi("mpich")].into_iter().filter(is_there).collect()
}

impl Mpi {
    fn command(self, name: &str) -> String {
        format!("{name}.{}", self.0)
    }

    fn compile(self, scratch: &Scratch, flags: &[&str], source: &str) -> Option<PathBuf> {
        scratch.compile(&self.command("mpicc"), flags, source)
    }

    /// The words of a command that starts `ranks` processes.
    fn launcher(self, ranks: u32) -> Vec<String> {
        let mut words = vec![self.command("mpirun"), "-n".into(), ranks.to_string()];
        if self.0 == "openmpi" {
            // More ranks than processors, and no rank bound to one.
            words.extend(["--oversubscribe", "--bind-to", "none"].map(str::to_owned));
        }
        words
    }

    fn launch(self, ranks: u32, program: &Path) -> Command {
        let words = self.launcher(ranks);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg(program);
        allow(&mut command);
        command
    }
}

/// Open MPI runs nothing for root otherwise, and messages about a container's lack of ptrace are none of
/// the program's.
fn allow(command: &mut Command) {
    for (name, value) in [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
    ] {
        command.env(name, value);
    }
}

/// The output of a command, and the recordings of its processes that called MPI, by rank.
struct Observed {
    printed: String,
    ranks: Vec<Recording>,
}

fn observed(mut command: Command, waits: bool) -> Observed {
    let scratch = Scratch::new();
    let directory = scratch.path("recordings");
    fs::create_dir(&directory).expect("a directory");
    command.env("LD_PRELOAD", library()).env("PACMAN_OMP_DIR", &directory);
    if waits {
        command.env("PACMAN_OMP_WAITS", "1");
    }
    let printed = printed(&command.output().expect("it runs"));
    let (mut ranks, wrong) = Recording::found_in(&directory).expect("recordings");
    assert!(wrong.is_empty(), "{wrong:?}");
    ranks.retain(|recording| recording.process.rank.is_some());
    ranks.sort_by_key(|recording| recording.process.rank.map(|rank| rank.rank));
    Observed { printed, ranks }
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let mut lines: Vec<&str> = text(&output.stdout).lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// The calls of a function by a thread.
#[derive(Clone, Copy, Default)]
struct Called {
    count: u64,
    seconds: f64,
    /// Useful seconds of the thread on no processor.
    useful_off: f64,
}

/// By rank, thread in the team or "out", and function.
type Calls = BTreeMap<(u32, String, String), Called>;

fn calls(ranks: &[Recording]) -> Calls {
    let mut all = Calls::new();
    for recording in ranks {
        let rank = recording.process.rank.expect("those without are left out").rank;
        let waits = recording.waits.as_ref().expect("they were asked for");
        let mut add = |thread: String, wait: &Wait, useful_off: f64| {
            let site = &waits.sites[wait.site];
            let Some(call) = &site.call else { return };
            assert_eq!(site.cause, Cause::Mpi);
            let known = all.entry((rank, thread, call.clone())).or_default();
            known.count += wait.count;
            known.seconds += wait.seconds;
            known.useful_off += useful_off;
        };
        let outside = waits.outside.iter().flat_map(|own| &own.waits);
        outside.for_each(|wait| add("out".into(), wait, 0.0));
        for row in recording.regions.iter().flat_map(|region| &region.rows) {
            let states = row.states.as_ref().expect("they were asked for");
            let off = states.useful_off.expect("the thread's clock can be read");
            states.waits.iter().for_each(|wait| add(row.thread.to_string(), wait, off));
        }
    }
    all
}

fn counts(ranks: &[Recording]) -> BTreeMap<(u32, String), u64> {
    let mut counts = BTreeMap::new();
    for ((rank, _, call), called) in calls(ranks) {
        *counts.entry((rank, call)).or_default() += called.count;
    }
    counts
}

/// The first call at a place has some bookkeeping outside of its time.
const FIRST_USE: f64 = 1e-3;

#[test]
fn each_call_s_time_is_what_the_program_measured_itself() {
    for mpi in implementations() {
        let scratch = Scratch::new();
        let Some(program) = mpi.compile(&scratch, &["-g", "-O1", "-fopenmp"], KNOWN) else {
            continue;
        };
        let mut wrong: Option<Vec<String>> = None;
        // A machine with other work may take the processor between the two clocks.
        for _ in 0..5 {
            let Observed { printed, ranks } = observed(mpi.launch(2, &program), true);
            assert!(!printed.contains("wrong"), "{printed}");
            assert_eq!(ranks.len(), 2, "{mpi:?}");
            ranks.iter().for_each(check_rank);
            if printed.contains("no threads") {
                skipped(format_args!("{mpi:?} lacks MPI_THREAD_MULTIPLE"));
            }
            let seen = calls(&ranks);
            let known = printed.lines().filter(|line| *line != "no threads");
            let now: Vec<String> = known.filter_map(|line| difference(line, &seen)).collect();
            let is_known = |line: &String| wrong.as_ref().is_none_or(|all| all.contains(line));
            let left: Vec<String> = now.into_iter().filter(is_known).collect();
            let is_right = left.is_empty();
            wrong = Some(left);
            if is_right {
                break;
            }
        }
        assert_eq!(wrong.unwrap_or_default(), [""; 0], "{mpi:?}");
    }
}

fn check_rank(recording: &Recording) {
    let rank = recording.process.rank.expect("those without are left out");
    assert_eq!(rank.ranks, Some(2));
    assert!(recording.process.host.is_some());
    let outside = &recording.waits.as_ref().expect("they were asked for").outside;
    let threads: Vec<_> = outside.iter().map(|own| (own.thread, own.starts_regions)).collect();
    assert_eq!(threads, [(0, true)], "one thread, which starts regions, calls outside of them");
}

/// The call of a line whose number or time is another one in the recording.
///
/// The library reads the kernel's clock of the thread after a wait, and the kernel takes the processor from a
/// thread whose share is used up while it reads. The program's clock has that time in its call. The recording
/// has it in the useful time on no processor, because the wait is over.
fn difference(line: &str, seen: &Calls) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [rank, thread, call, count, seconds] = words[..] else { panic!("{line}") };
    let key = (rank.parse().expect("a rank"), thread.to_owned(), call.to_owned());
    let called = *seen.get(&key).unwrap_or_else(|| panic!("no {line}"));
    assert_eq!(called.count, count.parse::<u64>().expect("a number"), "{line}");
    let seconds: f64 = seconds.parse().expect("seconds");
    let most = 0.02 * seconds + FIRST_USE;
    let is_near = (-most..=most + called.useful_off).contains(&(seconds - called.seconds));
    if is_near {
        return None;
    }
    eprintln!("{line}: recorded are {} s, and {} s off", called.seconds, called.useful_off);
    Some(format!("{rank} {thread} {call}"))
}

#[test]
fn fortran_s_calls_are_counted_once_through_either_module() {
    for (mpi, module) in
        implementations().into_iter().flat_map(|mpi| ["mpi", "mpi_f08"].map(|module| (mpi, module)))
    {
        let scratch = Scratch::new();
        let source =
            scratch.file("bindings.f90", &BINDINGS.replace("use MODULE", &format!("use {module}")));
        let program = scratch.path("bindings");
        let made = Command::new(mpi.command("mpif90"))
            .args(["-g", "-o"])
            .args([&program, &source])
            .current_dir(source.parent().expect("a directory"))
            .output();
        if !made.is_ok_and(|made| made.status.success()) {
            skipped(format_args!("no {} with the module {module}", mpi.command("mpif90")));
            continue;
        }
        let alone = printed(&mpi.launch(2, &program).output().expect("it runs"));
        let observed = observed(mpi.launch(2, &program), true);
        assert_eq!(observed.printed, alone);
        let expected = [
            (0, "MPI_Allreduce", 3),
            (0, "MPI_Barrier", 1),
            (0, "MPI_Bcast", 1),
            (0, "MPI_Finalize", 1),
            (0, "MPI_Init", 1),
            (0, "MPI_Send", 1),
            (1, "MPI_Allreduce", 3),
            (1, "MPI_Barrier", 1),
            (1, "MPI_Bcast", 1),
            (1, "MPI_Finalize", 1),
            (1, "MPI_Init", 1),
            (1, "MPI_Recv", 1),
        ];
        let counts = counts(&observed.ranks);
        let counts: Vec<_> =
            counts.iter().map(|((rank, call), count)| (*rank, call.as_str(), *count)).collect();
        assert_eq!(counts, expected, "{mpi:?} {module}");
    }
}

#[test]
fn a_tool_of_the_user_sees_what_it_sees_alone() {
    for mpi in implementations() {
        let scratch = Scratch::new();
        let shared = ["-shared", "-fPIC"];
        let Some(tool) = mpi.compile(&scratch, &shared, TOOL) else { continue };
        let tool = moved(&tool, &scratch.path("libtool.so"));
        let Some(plain) = mpi.compile(&scratch, &[], REDUCE) else { continue };
        let plain = moved(&plain, &scratch.path("plain"));
        let place = scratch.named("");
        let flags =
            [&format!("-L{place}"), &format!("-Wl,-rpath,{place}"), "-Wl,--no-as-needed", "-ltool"]
                .map(|flag: &str| flag.to_owned());
        let source = scratch.file("linked.c", REDUCE);
        let linked = scratch.path("linked");
        let mut make = Command::new(mpi.command("mpicc"));
        made(make.arg("-o").args([&linked, &source]).args(&flags));
        let observed = observed(mpi.launch(2, &linked), true);
        assert_eq!(observed.printed, "sum 1\nthe tool saw 5\nthe tool saw 5", "{mpi:?}, linked");
        assert_eq!(counts(&observed.ranks)[&(1, "MPI_Allreduce".into())], 5, "{mpi:?}, linked");
        let mut command = pacman_pmu(&["run", "--waits", "--"]);
        command.args(mpi.launcher(2)).arg(&plain).env("LD_PRELOAD", &tool);
        allow(&mut command);
        let output = command.output().expect("it runs");
        assert_eq!(printed(&output), "sum 1\nthe tool saw 5\nthe tool saw 5", "{mpi:?}, preloaded");
        let line = row_of(text(&output.stderr), "MPI_Allreduce");
        assert_eq!(line[2], "10", "{mpi:?}, preloaded: {line:?}");
    }
}

/// Runs a compiler that was there before.
fn made(command: &mut Command) {
    let output = command.output().expect("it compiled before");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

fn moved(from: &Path, to: &Path) -> PathBuf {
    fs::rename(from, to).expect("the same directory");
    to.to_owned()
}

/// The words of the line of the table of calls about a function; times are two words.
fn row_of(report: &str, function: &str) -> Vec<String> {
    let row = report.lines().find(|line| line.trim_end().ends_with(function));
    let row = row.unwrap_or_else(|| panic!("no {function} in {report}"));
    let joined = ["ms", "µs", "ns", "s"].iter().fold(format!(" {row} "), |row, unit| {
        row.replace(&format!(" {unit} "), &format!("{unit} "))
    });
    joined.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_library_that_brings_mpi_is_observed() {
    for mpi in implementations() {
        let scratch = Scratch::new();
        let flags = ["-DPLUGIN", "-shared", "-fPIC"];
        let Some(plugin) = mpi.compile(&scratch, &flags, REDUCE) else { continue };
        let plugin = moved(&plugin, &scratch.path("plugin.so"));
        let Some(program) = scratch.compile("gcc", &["-fopenmp", "-ldl"], OPENS) else { continue };
        let mut command = mpi.launch(2, &program);
        let observed =
            observed(std::mem::replace(command.arg(&plugin), Command::new("true")), true);
        assert_eq!(observed.printed, "sum 1", "{mpi:?}");
        let counts = counts(&observed.ranks);
        for rank in 0..2 {
            let of = |call: &str| counts[&(rank, call.to_owned())];
            assert_eq!(
                (of("MPI_Init"), of("MPI_Allreduce"), of("MPI_Finalize")),
                (1, 5, 1),
                "{mpi:?}"
            );
        }
    }
}

#[test]
fn functions_with_mpi_s_names_and_other_types_work() {
    let scratch = Scratch::new();
    let flags = ["-DLIBRARY", "-shared", "-fPIC"];
    let Some(library) = scratch.compile("gcc", &flags, NAMESAKE) else { return };
    let library = moved(&library, &scratch.path("libnamesake.so"));
    let rpath = format!("-Wl,-rpath,{}", scratch.named(""));
    let source = scratch.file("program.c", NAMESAKE);
    let program = scratch.path("program");
    let mut make = Command::new("gcc");
    made(make.args(["-fopenmp", "-o"]).args([&program, &source, &library]).arg(rpath));
    let alone = Command::new(&program).output().expect("it runs");
    assert!(text(&alone.stdout).ends_with("1 5\n"));
    for options in [&["run", "--"][..], &["run", "--waits", "--"]] {
        let seen = pacman_pmu(options).arg(&program).output().expect("it runs");
        assert_eq!(text(&seen.stdout), text(&alone.stdout), "{options:?}");
        assert!(!text(&seen.stderr).contains("MPI_"), "{}", text(&seen.stderr));
    }
}

#[test]
fn one_report_has_all_ranks_whichever_command_starts_the_other() {
    for mpi in implementations() {
        let scratch = Scratch::new();
        let Some(program) = mpi.compile(&scratch, &["-O1", "-fopenmp"], KNOWN) else { continue };
        let path = scratch.path("report.txt");
        let outer = scratch.path("other.txt");
        let mut command = pacman_pmu(&["run", "--waits", "-o"]);
        command.arg(&path).arg("--").args(mpi.launcher(2)).arg(&program);
        allow(&mut command);
        printed(&command.output().expect("it runs"));
        check_report(&fs::read_to_string(&path).expect("a report"));
        let mut command = mpi.launch(2, Path::new(env!("CARGO_BIN_EXE_pacman-pmu")));
        command.args(["run", "--waits", "-o"]).arg(&outer).arg("--").arg(&program);
        printed(&command.env("PACMAN_OMP_LIBRARY", library()).output().expect("it runs"));
        check_report(&fs::read_to_string(&outer).expect("a report"));
    }
}

fn check_report(report: &str) {
    let place = |rank: u32| {
        let found = report.find(&format!(", rank {rank} of 2 on "));
        found.unwrap_or_else(|| panic!("no rank {rank}: {report}"))
    };
    assert!(place(0) < place(1), "{report}");
    let tree = report.find("2 MPI processes on ").expect("the tree over ranks");
    assert!(tree < place(0), "{report}");
    assert_eq!(row_of(report, "MPI_Barrier")[2], "80", "{report}");
    for factor in ["MPI load balance", "communication", "OpenMP"] {
        let mut lines = report.lines().filter(|line| line.trim_start().starts_with(factor));
        let line = lines.next().unwrap_or_else(|| panic!("no {factor}: {report}"));
        assert!(line.contains('%'), "{line}");
    }
    assert!(report.contains("in MPI_Recv, "), "{report}");
}

#[test]
fn without_the_option_ranks_are_known_and_no_call_is_timed() {
    for mpi in implementations() {
        let scratch = Scratch::new();
        let Some(program) = mpi.compile(&scratch, &["-O1", "-fopenmp"], KNOWN) else { continue };
        let Observed { ranks, .. } = observed(mpi.launch(2, &program), false);
        assert_eq!(ranks.len(), 2, "{mpi:?}");
        for (number, recording) in ranks.iter().enumerate() {
            let rank = recording.process.rank.expect("those without are left out");
            assert_eq!((rank.rank, rank.ranks), (number as u32, Some(2)));
            assert!(recording.waits.is_none() && recording.executions() == 2, "{mpi:?}");
        }
    }
}
