//! Processes whose runtime comes after they began, as Python's modules bring it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pacman_regions::Recording;
use pacman_suite::skipped;

use super::scratch::Scratch;
use super::{library, pacman_pmu, text};

/// A module with a region, whose runtime is among its own dependencies.
const PART: &str = r#"
#include <omp.h>
int threads(void) { return omp_get_max_threads(); }
int part(void) {
  int sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum += 1;
  return sum;
}
"#;

/// Does what `words[1]` says, and calls the module `words[2]`.
const HOST: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int (*part)(void), (*threads)(void);
static pthread_barrier_t together;

static void *call(void *word) {
  pthread_barrier_wait(&together);
  return (void *)(long)part();
}

static void *ask(void *word) { return (void *)(long)threads(); }

int main(int count, char **words) {
  const char *way = words[1];
  int sum = 0, opened = 0;
  if (!strcmp(way, "after a while")) {
    struct timespec while_ = {0, 200000000};
    nanosleep(&while_, 0);
  }
  if (!strcmp(way, "from another directory")) {
    if (chdir("/")) return 1;
  }
  if (!strcmp(way, "without variables")) clearenv();
  void *module = dlopen(words[2], RTLD_NOW | RTLD_LOCAL);
  if (!module) return fprintf(stderr, "%s\n", dlerror()), 1;
  part = (int (*)(void))dlsym(module, "part");
  threads = (int (*)(void))dlsym(module, "threads");
  if (!strcmp(way, "with little memory for threads")) {
    /* Each module takes static thread-local storage, of which the loader has little for late ones. */
    char name[PATH_MAX], copy[PATH_MAX + 100];
    for (; opened < 200; opened++) {
      snprintf(name, sizeof name, "%s.%d", words[3], opened);
      snprintf(copy, sizeof copy, "cp %s %s", words[3], name);
      if (system(copy) || !dlopen(name, RTLD_NOW)) break;
    }
    printf("%d modules\n", opened);
  }
  if (!strcmp(way, "on a small stack")) {
    pthread_attr_t small;
    pthread_t thread;
    void *answer = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
    if (pthread_create(&thread, &small, ask, 0)) return 1;
    pthread_join(thread, &answer);
    printf("%d threads at most\n", (int)(long)answer);
  }
  if (!strcmp(way, "on eight threads")) {
    pthread_t all[8];
    pthread_barrier_init(&together, 0, 8);
    for (int i = 0; i < 8; i++) pthread_create(&all[i], 0, call, 0);
    for (int i = 0; i < 8; i++) {
      void *answer = 0;
      pthread_join(all[i], &answer);
      sum += (int)(long)answer;
    }
  } else {
    sum = part();
  }
  printf("%d\n", sum);
  return 3;
}
"#;

/// A module that takes a part of the loader's static thread-local storage.
const TAKES: &str = "__attribute__((tls_model(\"initial-exec\"))) __thread char mine[100] = {1};\n\
                     char *own(void) { return mine; }\n";

struct Programs {
    host: PathBuf,
    part: PathBuf,
    takes: PathBuf,
    _scratches: [Scratch; 3],
}

impl Programs {
    fn new() -> Option<Programs> {
        let scratches = [Scratch::new(), Scratch::new(), Scratch::new()];
        let host = scratches[0].compile("cc", &["-pthread"], HOST)?;
        let shared = ["-shared", "-fPIC", "-O1"];
        let part = scratches[1].compile("cc", &[&shared[..], &["-fopenmp"]].concat(), PART)?;
        let takes = scratches[2].compile("cc", &shared, TAKES)?;
        Some(Programs { host, part, takes, _scratches: scratches })
    }

    fn run(&self, way: &str, preloaded: Option<(&Path, &Path)>) -> Output {
        let mut command = Command::new(&self.host);
        command.arg(way).arg(&self.part).arg(&self.takes).env("OMP_NUM_THREADS", "2");
        command.env_remove("LD_PRELOAD");
        if let Some((library, directory)) = preloaded {
            command.env("LD_PRELOAD", library).env("PACMAN_OMP_DIR", directory);
            command.current_dir(super::library().parent().expect("a folder"));
        }
        command.output().expect("it runs")
    }

    /// The output of the program alone and with the library, and its only recording.
    fn recorded(&self, way: &str, library: &Path) -> Recording {
        let alone = self.run(way, None);
        let scratch = Scratch::new();
        let directory = scratch.path("recordings");
        fs::create_dir(&directory).expect("a directory");
        let with = self.run(way, Some((library, &directory)));
        assert_eq!(text(&with.stderr), "", "{way}");
        assert_eq!(text(&with.stdout), text(&alone.stdout), "{way}");
        assert_eq!((with.status.code(), alone.status.code()), (Some(3), Some(3)), "{way}");
        let (mut recordings, wrong) = Recording::found_in(&directory).expect("a directory");
        assert!(wrong.is_empty(), "{way}: {wrong:?}");
        recordings.retain(|recording| !recording.regions.is_empty());
        assert_eq!(recordings.len(), 1, "{way}: {recordings:?}");
        recordings.remove(0)
    }
}

fn executions(recording: &Recording) -> u64 {
    recording.regions.iter().map(|region| region.executions).sum()
}

#[test]
fn a_runtime_that_comes_late_is_observed_from_its_first_call() {
    let Some(programs) = Programs::new() else { return };
    let library = library();
    for way in
        ["at once", "without variables", "with little memory for threads", "on a small stack"]
    {
        assert_eq!(executions(&programs.recorded(way, &library)), 1, "{way}");
    }
    // A path from a directory that the program leaves.
    let relative = Path::new("./libpacman_omp.so");
    assert_eq!(executions(&programs.recorded("from another directory", relative)), 1);
}

/// The library's engine is loaded once, and no thread's region passes it by meanwhile.
#[test]
fn first_calls_of_several_threads_are_all_observed() {
    let Some(programs) = Programs::new() else { return };
    for _ in 0..4 {
        assert_eq!(executions(&programs.recorded("on eight threads", &library())), 8);
    }
}

/// The time of a process is that since it began, not since the library's engine was loaded.
#[test]
fn the_time_before_the_runtime_comes_is_the_process_s() {
    let Some(programs) = Programs::new() else { return };
    let process = programs.recorded("after a while", &library()).process;
    assert!(process.seconds >= 0.2, "{process:?}");
}

/// Goes to another root, where a plugin brings the runtime.
const ELSEWHERE: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
int main(int count, char **words) {
  if (count < 2 || chroot(words[1]) || chdir("/")) return 77;
  void *plugin = dlopen("/plugin.so", RTLD_NOW);
  return plugin ? ((int (*)(void))dlsym(plugin, "work"))() : 78;
}
"#;

const PLUGIN: &str = r"
int work(void) {
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  sum += 1;
  return sum;
}
";

#[test]
fn a_runtime_that_comes_after_the_root_has_changed_is_said_to_be_unobserved() {
    // SAFETY: takes nothing.
    if unsafe { libc::geteuid() } != 0 {
        return skipped("only root changes its root");
    }
    let scratch = Scratch::new();
    let flags = ["-shared", "-fPIC", "-fopenmp", "-Wl,-rpath,$ORIGIN"];
    let Some(plugin) = scratch.compile("gcc", &flags, PLUGIN) else { return };
    let root = scratch.path("root");
    fs::create_dir(&root).expect("a directory");
    fs::rename(plugin, root.join("plugin.so")).expect("its own");
    let runtime = Command::new("gcc").arg("-print-file-name=libgomp.so.1").output();
    let runtime = runtime.expect("gcc is there").stdout;
    fs::copy(text(&runtime).trim(), root.join("libgomp.so.1")).expect("GCC's runtime");
    let Some(program) = scratch.compile("gcc", &["-O1"], ELSEWHERE) else { return };
    let mut command = pacman_pmu(&["run", "--"]);
    let answer = command.arg(&program).arg(&root).output().expect("it runs");
    let said = text(&answer.stderr);
    assert_eq!(answer.status.code(), Some(2), "{said}");
    let lines = said.lines().filter(|line| line.starts_with("libpacman_omp.so: "));
    let lines: Vec<&str> = lines.collect();
    assert!(lines.len() == 1 && lines[0].contains("cannot load"), "{said}");
    assert!(lines[0].ends_with("nothing of this process is recorded"), "{said}");
}
