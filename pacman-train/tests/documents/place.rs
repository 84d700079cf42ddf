//! A user's folder: an installation, and the programs and files that the pages name.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use pacman_suite::command::{finish, have};
use pacman_suite::skipped;

use crate::blocks::Block;
use crate::{source, tree};

/// The home of a user, and all that the lines need.
pub(crate) struct Place {
    home: PathBuf,
    lacking: Vec<&'static str>,
}

/// Four regions, as a model needs them.
const PROGRAM: &str = r#"
#include <stdlib.h>
int main(int count, char **words) {
  int rounds = count > 1 ? atoi(words[1]) : 0;
  for (int i = 0; i < (rounds > 0 ? rounds : 10); i++) {
#pragma omp parallel
    for (volatile int turn = 0; turn < 20000; turn++)
      ;
#pragma omp parallel for
    for (int part = 0; part < 4; part++)
      for (volatile int turn = 0; turn < 20000; turn++)
        ;
#pragma omp parallel
    for (volatile int turn = 0; turn < 10000; turn++)
      ;
#pragma omp parallel
    for (volatile int turn = 0; turn < 40000; turn++)
      ;
  }
  return 0;
}
"#;

/// Phases of its own in several threads, for `record`.
const SOLVER: &str = r#"
#include <pacman.h>
#include <stdio.h>
int main(void) {
  static const char *const names[] = {"assemble", "solve", "smooth", "write"};
  pacman_options options = PACMAN_OPTIONS_INIT;
  pacman_session *session;
  pacman_phase phases[4];
  options.name = "solver";
  options.events = "task-clock";
  if (pacman_session_open(&options, &session) < 0)
    return 1;
  for (int i = 0; i < 4; i++)
    if (pacman_phase_define(session, names[i], &phases[i]) < 0)
      return 1;
#pragma omp parallel
  {
    pacman_attach(session);
    for (int i = 0; i < 4; i++) {
      pacman_begin(session, phases[i]);
      for (volatile int turn = 0; turn < 30000 * (i + 1); turn++)
        ;
      pacman_end(session, phases[i]);
    }
  }
  return pacman_session_close(session) < 0;
}
"#;

/// Ranks that send a word there and back.
const PINGPONG: &str = r#"
#include <mpi.h>
int main(int count, char **words) {
  int rank, ranks, word = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#pragma omp parallel num_threads(2)
  for (volatile int turn = 0; turn < 20000; turn++)
    ;
  for (int i = 0; i < 10; i++)
    MPI_Bcast(&word, 1, MPI_INT, i % ranks, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
"#;

/// Names of OpenMP programs in the pages.
const PROGRAMS: [&str; 14] = [
    "program",
    "old",
    "new",
    "one",
    "other",
    "app",
    "lulesh",
    "lulesh2.0",
    "two-threads",
    "stolen",
    "histogram",
    "cg.S",
    "cg.W",
    "ep",
];

impl Place {
    /// The one of all tests of this program; `None`, said aloud, without a C compiler with OpenMP.
    pub(crate) fn of_tests() -> Option<&'static Place> {
        static PLACE: OnceLock<Option<Place>> = OnceLock::new();
        PLACE.get_or_init(Place::new).as_ref()
    }

    fn new() -> Option<Place> {
        tree::everyday()?;
        // Lasts as long as the target folder: tests end without a moment to tidy up.
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents");
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(&home).expect("a folder");
        tree::install(&home, &["--prefix", "/.local"]);
        let mut lacking = vec![];
        for program in crate::OPTIONAL {
            let is_there = match program {
                "python3" => python_builds_wheels(),
                "mpirun" => have("mpirun") && have("mpicc"),
                _ => have(program),
            };
            if !is_there {
                lacking.push(program);
            }
        }
        let place = Place { home, lacking };
        let files = place.path("files");
        fs::create_dir_all(files.join("copy-of-another-machine")).expect("a folder");
        if !place.compile(PROGRAM, "cc", &["-O1", "-fopenmp"], &files.join("program")) {
            skipped("no cc with OpenMP");
            return None;
        }
        for name in PROGRAMS.iter().skip(1) {
            fs::copy(files.join("program"), files.join(name)).expect("a copy");
        }
        let (include, library) = (place.path(".local/include"), place.path(".local/lib"));
        let own = ["-O1", "-fopenmp", "-I", shown(&include), "-L", shown(&library)];
        let flags = [&own[..], &["-Wl,-rpath,$ORIGIN/../.local/lib"]].concat();
        assert!(place.compile(SOLVER, "cc", &flags, &files.join("solver")), "it is installed");
        fs::copy(files.join("solver"), files.join("solver-large")).expect("a copy");
        if place.has("mpirun") {
            let made = place.compile(PINGPONG, "mpicc", &["-fopenmp"], &files.join("pingpong"));
            assert!(made, "mpicc is there");
        }
        place.shim("sleep", "exec /bin/sleep 0.1");
        place.write_installer(&files);
        place.write_files(&files);
        Some(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    pub(crate) fn has(&self, program: &str) -> bool {
        !self.lacking.contains(&program)
    }

    pub(crate) fn compile(&self, text: &str, compiler: &str, flags: &[&str], made: &Path) -> bool {
        let file = made.with_extension("c");
        fs::write(&file, text).expect("a source");
        // The libraries stand behind the sources that need them.
        let needs = if text.contains("pacman.h") { &["-lpacman"][..] } else { &[] };
        let mut command = Command::new(compiler);
        command.args(flags).arg(&file).arg("-o").arg(made).args(needs).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// A program before those of the machine.
    fn shim(&self, name: &str, line: &str) {
        let folder = self.path("bin");
        fs::create_dir_all(&folder).expect("a folder");
        write_script(&folder.join(name), line);
    }

    /// `./install.sh` as users start it, without its build, and below the page's folder: pages run beside each other.
    fn write_installer(&self, files: &Path) {
        let built = self.path("built");
        fs::create_dir(&built).expect("a folder");
        tree::link_built(&built);
        let installer = source("install.sh");
        let [installer, built] = [&installer, &built].map(|path| shown(path));
        let line = format!(
            "DESTDIR=${{DESTDIR:-$PWD/installed}} exec '{installer}' --from '{built}' \"$@\""
        );
        write_script(&files.join("install.sh"), &line);
    }

    /// The data that commands read. Reports are of real runs.
    fn write_files(&self, files: &Path) {
        let write = |name: &str, text: &str| fs::write(files.join(name), text).expect("a file");
        write("counts.csv", "INSTRUCTIONS,3000\nCYCLES,2000\n");
        write("niagara.csv", "cycles,636000000\nDC_miss,16829760\nInstr_cnt,87048958\n");
        write("my.metrics", "mine | branches/instruction | BRANCHES / INSTRUCTIONS | Branches\n");
        write(
            "skylake_core.json",
            r#"[{"EventName": "NEW.EVENT", "EventCode": "0x0e", "UMask": "0x1", "Counter": "0,1"}]"#,
        );
        write("Makefile", "all:\n\t@./program\n");
        write("measured.csv", &training(&["Keystone"], 24));
        write("two-machines.csv", &training(&["Keystone", "Headgasket"], 8));
        write("counted.csv", &counted());
        write(
            "samples.csv",
            "machine,app,threads,time_s\nKeystone,mine,8,2.07\nKeystone,mine,4,2.70\n",
        );
        let line = "for n in 1 2 3; do for side in old new; do \
                      pacman-pmu run -o $side$n.json -- ./program; done; done 2>/dev/null
                    cp old1.json old.json; cp new1.json new.json
                    pacman-pmu run -e CYCLES,INSTRUCTIONS -o report.json -- ./program 2>/dev/null
                    pacman-pmu stat -e CYCLES,INSTRUCTIONS --json -o stat.json -- ./program
                    cp report.json run.json; mkdir sessions
                    PACMAN_REPORT_DIR=sessions ./solver; cp sessions/* session.json
                    PMI_RANK=0 PMI_SIZE=2 pacman-pmu run -o ranks.json -- ./program 2>/dev/null || [ $? = 4 ]
                    mv ranks.json.ranks report.json.ranks
                    pacman-pmu train two-machines.csv --measured-on Keystone --events none -o model.json
                    pacman-pmu run --adapt --narrow -- ./cg.W 3000 2>/dev/null";
        finish(&mut self.shell(line, files));
    }

    /// A shell of the user in a folder.
    pub(crate) fn shell(&self, script: &str, folder: &Path) -> Command {
        let mut shell = Command::new("timeout");
        shell.args(["100", "sh", "-e", "-c", script]).current_dir(folder).stdin(Stdio::null());
        let path = std::env::var("PATH").unwrap_or_default();
        let [own, shims] = [".local/bin", "bin"].map(|name| self.path(name));
        shell.env("PATH", format!("{}:{}:{path}", shims.display(), own.display()));
        for name in ["PACMAN_OMP_LIBRARY", "PACMAN_LIBRARY", "PKG_CONFIG_PATH", "LD_LIBRARY_PATH"] {
            shell.env_remove(name);
        }
        shell.env("HOME", &self.home).env("OMP_NUM_THREADS", "2");
        // Pages run beside each other: what one installs must not be what another removes.
        shell.env("XDG_DATA_HOME", folder.join("data"));
        shell.env("PACMAN_OMP_MEMORY", folder.join("memory")).env("OMP_WAIT_POLICY", "passive");
        shell.env("PACMAN_MACHINE", "haswell");
        shell.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        shell.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        shell
    }

    /// A folder with all that the lines name.
    pub(crate) fn folder(&self, page: &str) -> PathBuf {
        let folder = self.path(&page.replace([' ', '/'], "-"));
        finish(Command::new("cp").arg("-r").arg(self.path("files")).arg(&folder));
        // The lines of a page beside sources are typed there.
        let beside = source(page).parent().map(Path::to_owned).unwrap_or_default();
        for ending in ["c", "f90"] {
            for entry in fs::read_dir(&beside).into_iter().flatten().flatten() {
                if entry.path().extension().is_some_and(|own| own == ending) {
                    fs::copy(entry.path(), folder.join(entry.file_name())).expect("a copy");
                }
            }
        }
        for name in ["examples", "tests"] {
            symlink(source(name), folder.join(name)).expect("a link");
        }
        let from_pages = [
            ("demo.c", "count-c.md", "c"),
            ("demo.f90", "count-c.md", "fortran"),
            ("CMakeLists.txt", "install.md", "cmake"),
        ];
        for (name, page, language) in from_pages {
            let text = fs::read_to_string(source("docs").join(page)).expect("a page");
            let text = first_in(&text, language).expect("a block of that language");
            fs::write(folder.join(name), text).expect("a source");
        }
        folder
    }

    /// Runs the blocks of a page one after the other in one shell.
    pub(crate) fn run(&self, page: &str, blocks: &[Block]) -> Result<(), String> {
        let folder = self.folder(page);
        let mut script = String::new();
        for block in blocks {
            script.push_str(&format!("echo '{page}, line {}' >&2\n", block.line));
            // Times of a simulated machine are no training data, and its counts need no validation.
            let is_real = ["pacman-pmu record", "--record", "validate"];
            let is_real = is_real.iter().any(|word| block.text.contains(word));
            let text = &shortened(&block.text);
            match &block.statuses[..] {
                [0] if is_real => {
                    script.push_str(&format!("( unset PACMAN_MACHINE\n{text}\n)\n"));
                }
                [0] => script.push_str(&format!("{text}\n")),
                statuses => {
                    let all: Vec<String> = statuses.iter().map(i32::to_string).collect();
                    let all = all.join(" | ");
                    script.push_str(&format!(
                        "set +e; ( set -e; unset PACMAN_MACHINE; {text}\n); status=$?; set -e\ncase $status in {all}) ;; *) exit $status ;; esac\n"
                    ));
                }
            }
        }
        let mut shell = self.shell(&script, &folder);
        let output = shell.output().expect("a shell");
        match output.status.success() {
            true => Ok(()),
            false => {
                let said = String::from_utf8_lossy(&output.stderr);
                // The block that failed is the last one that began.
                let last = said.rfind(&format!("{page}, line ")).unwrap_or(0);
                Err(format!("{}: {}", output.status, &said[last..]))
            }
        }
    }
}

/// The text of a block with fewer events to validate: all of a real processor take minutes.
fn shortened(text: &str) -> String {
    let all = "pacman-pmu validate";
    let line = |line: &str| match line.contains(" -e ") {
        true => line.to_owned(),
        false => line.replace(all, &format!("{all} -e INSTRUCTIONS,page-faults")),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn write_script(file: &Path, line: &str) {
    fs::write(file, format!("#!/bin/sh\n{line}\n")).expect("a script");
    fs::set_permissions(file, Permissions::from_mode(0o755)).expect("its own");
}

/// Whether the packages are there that build a wheel without a network.
fn python_builds_wheels() -> bool {
    let python = Command::new("python3").args(["-c", "import setuptools, wheel, pip"]).output();
    python.is_ok_and(|output| output.status.success())
}

/// Times of six programs on machines, as in Amdahl's law.
fn training(machines: &[&str], threads: u32) -> String {
    let mut text = "machine,app,threads,time_s\n".to_owned();
    for machine in machines {
        for program in 0..6 {
            for threads in (1..=threads).filter(|own| [1, 2, 4, 8, 12, 24].contains(own)) {
                let serial = 0.05 * f64::from(program);
                let time = 10.0 * (serial + (1.0 - serial) / f64::from(threads));
                text += &format!("{machine},p{program},{threads},{time}\n");
            }
        }
    }
    text
}

/// Counts of six programs at one to eight threads.
fn counted() -> String {
    let mut text = "machine,app,threads,time_s,instructions,cycles,l2_misses\n".to_owned();
    for program in 1..7 {
        for threads in [1, 2, 4, 8] {
            let cycles = 1_000_000 * (3 + program) / threads + 50_000 * threads;
            let misses = 1000 * program * program + 500 * threads;
            let time = cycles as f64 * 1e-8;
            text += &format!(
                "here,p{program},{threads},{time},{},{cycles},{misses}\n",
                2_000_000 + program
            );
        }
    }
    text
}

/// The first block of a language.
fn first_in(page: &str, language: &str) -> Option<String> {
    let begin = format!("```{language}\n");
    let rest = &page[page.find(&begin)? + begin.len()..];
    Some(rest[..rest.find("```")?].to_owned())
}

fn shown(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}
