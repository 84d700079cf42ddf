//! Processes without the engine: those without a runtime, and those that cannot have it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use object::elf;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, Sym};
use object::{Endianness, SectionIndex};
use pacman_regions::Recording;

use super::scratch::Scratch;
use super::{library, pacman_pmu, text};

/// Everything that musl or an old glibc lacks would keep programs from starting.
#[test]
fn the_preloaded_library_needs_nothing_of_a_c_library() {
    let bytes = fs::read(library()).expect("it is built");
    let header = elf::FileHeader64::<Endianness>::parse(&*bytes).expect("an ELF file");
    let endian = header.endian().expect("known");
    let segments = header.program_headers(endian, &*bytes).expect("segments");
    let sections = header.sections(endian, &*bytes).expect("sections");
    let (entries, _) = sections.dynamic(endian, &*bytes).expect("readable").expect("dynamic");
    let tags: Vec<u32> = entries.iter().filter_map(|entry| entry.tag32(endian)).collect();
    const RELR: [u32; 3] = [35, 36, 37];
    for tag in [elf::DT_NEEDED, elf::DT_VERNEED, elf::DT_VERSYM].into_iter().chain(RELR) {
        assert!(!tags.contains(&tag), "tag {tag:#x} in {tags:#x?}");
    }
    assert!(tags.contains(&elf::DT_HASH), "older linkers read no other table");
    assert!(tags.contains(&elf::DT_GNU_HASH), "glibc reads it faster");
    let symbols = sections.symbols(endian, &*bytes, elf::SHT_DYNSYM).expect("symbols");
    let undefined: Vec<_> = symbols.iter().skip(1).filter(|one| one.is_undefined(endian)).collect();
    for symbol in &undefined {
        let name = symbol.name(endian, symbols.strings()).expect("a name");
        assert_eq!(symbol.st_bind(), elf::STB_WEAK, "{}", text(name));
    }
    assert!(!undefined.is_empty() && symbols.string_section() != SectionIndex(0));
    let local: u64 = segments
        .iter()
        .filter(|one| one.p_type(endian) == elf::PT_TLS)
        .map(|one| one.p_memsz(endian))
        .sum();
    assert!(local <= 8, "each thread of each process has {local} bytes");
}

/// The names that a file defines in the table of symbols of that kind. A name that stays for old files
/// alone is none: the linker takes another definition of it, as `pthread_atfork`'s in each file.
fn defined(file: &Path, table: u32) -> BTreeSet<String> {
    let bytes = fs::read(file).expect("the file is there");
    let header = elf::FileHeader64::<Endianness>::parse(&*bytes).expect("an ELF file");
    let endian = header.endian().expect("known");
    let sections = header.sections(endian, &*bytes).expect("sections");
    let symbols = sections.symbols(endian, &*bytes, table).expect("symbols");
    let versions = match table {
        elf::SHT_DYNSYM => sections.versions(endian, &*bytes).expect("versions"),
        _ => None,
    };
    let mut names = BTreeSet::new();
    for (at, symbol) in symbols.enumerate() {
        let is_old = versions.as_ref().is_some_and(|all| all.version_index(endian, at).is_hidden());
        let is_part = [elf::STT_FILE, elf::STT_SECTION].contains(&symbol.st_type());
        if !symbol.is_undefined(endian) && !is_old && !is_part {
            names.insert(text(symbol.name(endian, symbols.strings()).expect("a name")).to_owned());
        }
    }
    names.remove("");
    names
}

/// A definition of that name in the engine, though hidden, would catch the calls of all code in its file.
#[test]
fn the_engine_defines_no_name_of_the_c_library_or_of_a_runtime() {
    let engine = library().with_file_name("libpacman_omp_engine.so");
    let engine = defined(&engine, elf::SHT_SYMTAB);
    let entries = engine.iter().filter(|name| name.starts_with("pacman_omp_entry_")).count();
    let public = defined(&library(), elf::SHT_DYNSYM);
    assert!(public.contains("_exit") && public.contains("GOMP_parallel"), "{public:?}");
    let both: Vec<_> = engine.intersection(&public).collect();
    assert!(both.is_empty() && entries > 500, "{entries} entries; also public: {both:?}");

    let maps = fs::read_to_string("/proc/self/maps").expect("readable");
    let of_c = |line: &&str| line.contains("/libc.so") || line.contains("/libc-");
    let path = maps.lines().find(of_c).and_then(|line| line.split_whitespace().nth(5));
    let of_c = defined(Path::new(path.expect("this test has a C library")), elf::SHT_DYNSYM);
    let both: Vec<_> = engine.intersection(&of_c).collect();
    // These are to catch the calls of Rust's library: glibc's take the loader's lock.
    let meant = ["__cxa_thread_atexit_impl", "dlsym"];
    assert!(of_c.contains("syscall") && both == meant, "also the C library's: {both:?}");
}

/// The program alone, and under `run`, itself and as the child of a shell.
fn three_ways(program: &Path, arguments: &[&OsStr]) -> [Output; 3] {
    let alone = Command::new(program).args(arguments).output();
    let mut itself = pacman_pmu(&["run", "--"]);
    itself.arg(program).args(arguments);
    let mut child = pacman_pmu(&["run", "--", "sh", "-c", "\"$@\"", "sh"]);
    child.arg(program).args(arguments);
    [alone, itself.output(), child.output()].map(|output| output.expect("it runs"))
}

fn same_answers([alone, itself, child]: &[Output; 3]) {
    for under in [itself, child] {
        assert_eq!(text(&under.stdout), text(&alone.stdout), "{}", text(&under.stderr));
        assert_eq!(under.status.code(), alone.status.code(), "{}", text(&under.stderr));
    }
}

/// Calls each kind of the C library's functions that the library has entries for.
const CALLS: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static void *same(void *word) { return word; }

static int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

int main(void) {
  char *words[] = {"sh", "-c", "exit 7", 0}, line[20] = "";
  pthread_t thread;
  void *answer = 0;
  cpu_set_t set;
  pid_t child;
  setvbuf(stdout, 0, _IONBF, 0);
  pthread_create(&thread, 0, same, line);
  pthread_join(thread, &answer);
  printf("thread %d\n", answer == line);
  printf("affinity %d\n", sched_getaffinity(0, sizeof set, &set));
  printf("affinity %d\n", sched_setaffinity(0, sizeof set, &set));
  printf("affinity %d\n", pthread_setaffinity_np(pthread_self(), sizeof set, &set));
  printf("system %d\n", WEXITSTATUS(system("exit 3")));
  FILE *pipe = popen("echo piped", "r");
  printf("popen %s", fgets(line, sizeof line, pipe));
  printf("pclose %d\n", pclose(pipe));
  posix_spawn(&child, "/bin/sh", 0, 0, words, environ);
  printf("spawn %d\n", status_of(child));
  posix_spawnp(&child, "sh", 0, 0, words, environ);
  printf("spawnp %d\n", status_of(child));
  if (!(child = vfork())) execve("/bin/sh", words, environ);
  printf("execve after vfork %d\n", status_of(child));
  if (!(child = vfork())) _exit(5);
  printf("_exit after vfork %d\n", status_of(child));
  if (!(child = fork())) execlp("sh", "sh", "-c", "exit 9", (char *)0);
  printf("execlp %d\n", status_of(child));
  if (!(child = fork())) execvp("sh", words);
  printf("execvp %d\n", status_of(child));
  _Exit(4);
}
"#;

#[test]
fn functions_of_the_c_library_work_where_there_is_no_runtime() {
    for compiler in ["cc", "musl-gcc"] {
        let scratch = Scratch::new();
        let Some(program) = scratch.compile(compiler, &["-pthread"], CALLS) else { continue };
        let answers = three_ways(&program, &[]);
        assert!(text(&answers[0].stdout).contains("execvp 7\n"), "{answers:?}");
        same_answers(&answers);
    }
}

/// Stands for a runtime, because musl's systems rarely have one: both ways give what a program sees of it.
const RUNTIME: &str = r#"
int omp_get_max_threads(void) { return 42; }
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags) {
  for (int i = 0; i < 3; i++) body(data);
}
"#;

const USER: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
int omp_get_max_threads(void) __attribute__((weak));
int omp_get_num_threads(void) __attribute__((weak));
void GOMP_parallel(void (*body)(void *), void *data, unsigned, unsigned) __attribute__((weak));
static void count(void *number) { ++*(int *)number; }
int main(int arguments, char **words) {
  int runs = 0;
  void *runtime = arguments > 1 ? dlopen(words[1], RTLD_NOW | RTLD_GLOBAL) : 0;
  int (*own)(void) = runtime ? (int (*)(void))dlsym(runtime, "omp_get_max_threads") : 0;
  if (GOMP_parallel) GOMP_parallel(count, &runs, 0, 0);
  printf("%d %d\n", own ? own() : 0, own || !GOMP_parallel || runs);
  if (omp_get_num_threads && omp_get_num_threads() != 1) return 1;
  if (own && omp_get_max_threads && omp_get_max_threads() != own()) return 1;
  return runtime && GOMP_parallel ? runs != 3 : 0;
}
"#;

/// A reference that is weak finds an entry where it finds nothing alone; it behaves as with one thread.
#[test]
fn a_runtime_of_another_c_library_is_called_as_it_is_alone() {
    let scratch = Scratch::new();
    let flags = ["-shared", "-fPIC"];
    let Some(runtime) = scratch.compile("musl-gcc", &flags, RUNTIME) else { return };
    let own = Scratch::new();
    let Some(program) = own.compile("musl-gcc", &["-fPIE", "-pie"], USER) else { return };
    let without = three_ways(&program, &[]);
    assert_eq!(text(&without[0].stdout), "0 1\n");
    same_answers(&without);
    let with = three_ways(&program, &[runtime.as_os_str()]);
    assert_eq!(text(&with[0].stdout), "42 1\n");
    same_answers(&with);
    let why = "the program's C library is not glibc; nothing of this process is recorded";
    for under in &with[1..] {
        assert_eq!(text(&under.stderr).matches(why).count(), 1, "{}", text(&under.stderr));
    }
}

#[test]
fn a_process_without_a_runtime_has_no_engine_and_no_recording() {
    let scratch = Scratch::new();
    let directory = scratch.path("recordings");
    fs::create_dir(&directory).expect("a directory");
    let mut command = Command::new("sh");
    command.args(["-c", "cat /proc/self/maps; exec cat /proc/self/maps"]);
    command.env("LD_PRELOAD", library()).env("PACMAN_OMP_DIR", &directory);
    let answer = command.output().expect("it runs");
    assert!(text(&answer.stdout).contains("/libpacman_omp.so\n"), "{}", text(&answer.stdout));
    assert!(!text(&answer.stdout).contains("/libpacman_omp_engine.so"), "{}", text(&answer.stdout));
    let (recordings, wrong) = Recording::found_in(&directory).expect("a directory");
    assert!(recordings.is_empty() && wrong.is_empty(), "{recordings:?} {wrong:?}");
    assert_eq!(fs::read_dir(&directory).expect("a directory").count(), 0);
}

/// Opens modules, each with a runtime of its own, as Python's packages bring them.
const OPENER: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
  for (int round = 0; round < 2; round++)
    for (int i = 1; i < count; i++) {
      void *module = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);
      if (!module) return puts(dlerror()), 1;
      printf("%d\n", ((int (*)(void))dlsym(module, "asks"))());
      dlclose(module);
    }
  return 0;
}
"#;

/// The library is alone in its folder, so that no engine takes the calls.
fn lone_library(scratch: &Scratch) -> PathBuf {
    let lone = scratch.path("libpacman_omp.so");
    fs::copy(library(), &lone).expect("a copy");
    lone
}

#[test]
fn each_module_s_calls_go_to_its_own_runtime_without_the_engine() {
    for compiler in ["cc", "musl-gcc"] {
        let scratch = Scratch::new();
        let Some(program) = scratch.compile(compiler, &[], OPENER) else { continue };
        let mut command = Command::new(program);
        let mut made = Vec::new();
        for number in ["1", "2"] {
            let answers = format!("int omp_get_max_threads(void) {{ return {number}; }}");
            let asks =
                "int omp_get_max_threads(void); int asks(void) { return omp_get_max_threads(); }";
            let (runtime, module) = (Scratch::new(), Scratch::new());
            let shared = ["-shared", "-fPIC"];
            let soname = format!("-Wl,-soname,libruntime{number}.so");
            let built = runtime.compile(compiler, &[&shared[..], &[&soname]].concat(), &answers);
            let name = format!("libruntime{number}.so");
            fs::rename(built.expect("as the program"), runtime.path(&name)).expect("a new name");
            let folder = runtime.named(".");
            let (at, path) = (format!("-L{folder}"), format!("-Wl,-rpath,{folder},--no-as-needed"));
            let library = format!("-lruntime{number}");
            let flags = [&shared[..], &[&at, &path, &library]].concat();
            command.arg(module.compile(compiler, &flags, asks).expect("as the program"));
            made.push([runtime, module]);
        }
        let alone = command.output().expect("it runs");
        assert_eq!(text(&alone.stdout), "1\n2\n1\n2\n", "{compiler}");
        let with = command.env("LD_PRELOAD", lone_library(&scratch)).output().expect("it runs");
        assert_eq!(text(&with.stdout), text(&alone.stdout), "{compiler}: {}", text(&with.stderr));
        assert_eq!(text(&with.stderr), "", "nothing was to be recorded");
    }
}

#[test]
fn a_program_runs_as_alone_where_the_engine_is_missing() {
    let scratch = Scratch::new();
    let source = "#include <omp.h>\nint main(void) {\n int sum = 0;\n#pragma omp parallel reduction(+:sum)\n \
                  sum += 1;\n return sum == omp_get_max_threads() ? 3 : 1;\n}";
    let Some(program) = scratch.compile("cc", &["-fopenmp"], source) else { return };
    let lone = lone_library(&scratch);
    let mut command = Command::new(program);
    command
        .env("LD_PRELOAD", &lone)
        .env("PACMAN_OMP_DIR", scratch.path("."))
        .env("OMP_NUM_THREADS", "2");
    let answer = command.output().expect("it runs");
    let said = text(&answer.stderr);
    assert_eq!(answer.status.code(), Some(3), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("libpacman_omp_engine.so") && said.contains("No such file"), "{said}");
    // The command sees it before the program runs.
    let mut command = pacman_pmu(&["run", "--strict", "--", "true"]);
    let refused = command.env("PACMAN_OMP_LIBRARY", &lone).output().expect("it runs");
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("has no libpacman_omp_engine.so beside it"), "{said}");
}
