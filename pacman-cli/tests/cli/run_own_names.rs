//! Programs and preloaded tools with functions of their own that have names of the C library's; `tests/omp` has more.

use std::path::Path;
use std::process::Command;

use super::scratch::Scratch;
use super::{pacman_pmu, text};

const WAYS: [&[&str]; 4] = [&[], &["-e", "task-clock"], &["--waits"], &["--adapt", "--narrow"]];

/// Runs it alone and under `run`, and compares. `tool` is preloaded.
fn runs_as_alone(program: &Path, tool: Option<&Path>) {
    let with_tool = |mut command: Command| {
        if let Some(tool) = tool {
            command.env("LD_PRELOAD", tool);
        }
        command.env("OMP_NUM_THREADS", "4").output().expect("it runs")
    };
    let alone = with_tool(Command::new(program));
    assert!(alone.status.success(), "alone: {}", text(&alone.stdout));
    for options in WAYS {
        let mut command = pacman_pmu(&["run"]);
        command.args(options).arg("--").arg(program);
        let under = with_tool(command);
        let said = text(&under.stderr);
        assert_eq!(text(&under.stdout), text(&alone.stdout), "{options:?}: {said}");
        assert_eq!(under.status.code(), Some(0), "{options:?}: {said}");
        assert!(!said.contains("libpacman_omp"), "{options:?}: {said}");
    }
}

/// Names of libm, which the program is not linked to, and of the C library. Each checks that the program calls it.
const EXPORTED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static __thread int calls;
#define OWN(name)                                          \
  double own_##name(double) __asm__(#name);                \
  double own_##name(double number) {                       \
    if (!calls--) puts("another called " #name), abort();  \
    return number + 1;                                     \
  }
#define CALL(name) calls = 1, sum = own_##name(sum);
#define NAMES(each) each(exp) each(exp2) each(hypot) each(log) each(log1p) each(logf) each(pow) each(pread) \
  each(dl_iterate_phdr) each(statx) each(uname) each(readlink) each(gnu_get_libc_version) each(shmat)
NAMES(OWN)
int main(void) {
  double sum = 0;
  for (int step = 0; step < 40; step++) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 4000; i++) { NAMES(CALL) }
  }
  printf("%.0f\n", sum);
  return 0;
}
"#;

#[test]
fn a_program_that_exports_all_its_functions_runs_as_alone() {
    for compiler in ["gcc", "clang"] {
        let scratch = Scratch::new();
        let flags = ["-w", "-O1", "-fopenmp", "-rdynamic"];
        if let Some(program) = scratch.compile(compiler, &flags, EXPORTED) {
            runs_as_alone(&program, None);
        }
    }
}

/// Programs without a runtime have the preloaded library alone.
#[test]
fn a_program_without_a_runtime_keeps_its_own_functions() {
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#define OWN(name)                                                             \
  double own_##name(double) __asm__(#name);                                   \
  double own_##name(double number) { puts("called " #name); abort(); }
OWN(clock_gettime) OWN(dl_iterate_phdr) OWN(dlerror) OWN(dlinfo) OWN(dlopen) OWN(dlsym) OWN(environ) OWN(getpagesize)
OWN(gnu_get_libc_version) OWN(pthread_setcancelstate) OWN(pthread_sigmask) OWN(realpath)
int main(void) { puts("as alone"); return 0; }
"#;
    for compiler in ["cc", "musl-gcc"] {
        let scratch = Scratch::new();
        let Some(program) = scratch.compile(compiler, &["-w", "-rdynamic"], source) else {
            continue;
        };
        let alone = Command::new(&program).output().expect("it runs");
        assert_eq!(text(&alone.stdout), "as alone\n");
        for options in WAYS {
            let mut command = pacman_pmu(&["run"]);
            let under = command.args(options).arg("--").arg(&program).output().expect("it runs");
            assert_eq!(text(&under.stdout), "as alone\n", "{compiler} {options:?}");
            assert_eq!(under.status.code(), Some(0), "{compiler} {options:?}");
        }
    }
}

/// A heap that gives out each byte once, and ends the program if it is to free what it has not given out.
const HEAP: &str = r#"
#include <stddef.h>
#include <string.h>
static char heap[64 << 20] __attribute__((aligned(64)));
static size_t taken;
void *memalign(size_t align, size_t size) {
  size_t room = (size + 64 + 63) / 64 * 64 + (align > 64 ? align : 0);
  char *block = heap + __atomic_fetch_add(&taken, room, __ATOMIC_RELAXED) + 64;
  if (align > 64) block += -(size_t)block & (align - 1);
  ((size_t *)block)[-1] = size;
  return block;
}
void *malloc(size_t size) { return memalign(64, size); }
void *aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
int posix_memalign(void **block, size_t align, size_t size) { *block = memalign(align, size); return 0; }
void *calloc(size_t count, size_t size) { return memalign(64, count * size); }
void free(void *block) {
  if (block && ((char *)block < heap || (char *)block >= heap + sizeof heap)) __builtin_trap();
  if (block) memset(block, 0xee, ((size_t *)block)[-1]);
}
void *realloc(void *old, size_t size) {
  void *block = malloc(size);
  if (old) {
    size_t before = ((size_t *)old)[-1];
    memcpy(block, old, before < size ? before : size);
    free(old);
  }
  return block;
}
"#;

const REGIONS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  int *cells = calloc(4000, sizeof *cells), sum = 0;
  for (int step = 0; step < 40; step++) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 4000; i++) sum += cells[i] + 1;
  }
  char *path = realpath("/proc/self/../self", 0);
  printf("%d %d\n", sum, path && path[0] == '/');
  free(path);
  free(cells);
  return 0;
}
"#;

#[test]
fn a_heap_of_the_program_or_of_a_tool_frees_what_it_has_given_out() {
    for compiler in ["gcc", "clang"] {
        let (tool, linked, alone) = (Scratch::new(), Scratch::new(), Scratch::new());
        let heap = ["-O1", "-fno-builtin"];
        let Some(own) = linked.compile(
            compiler,
            &[&heap[..], &["-fopenmp"]].concat(),
            &format!("{HEAP}{REGIONS}"),
        ) else {
            continue;
        };
        runs_as_alone(&own, None);
        let tool = tool.compile(compiler, &[&heap[..], &["-shared", "-fPIC"]].concat(), HEAP);
        let program = alone.compile(compiler, &["-O1", "-fopenmp"], REGIONS);
        runs_as_alone(&program.expect("as the other"), tool.as_deref());
    }
}

/// Counts calls, and says at the end how many there were.
const TOOL: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
static int opened, closed, mapped, loaded, read_;
int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  int mode = va_arg(list, int);
  va_end(list);
  __atomic_fetch_add(&opened, 1, __ATOMIC_RELAXED);
  return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open"))(path, flags, mode);
}
int close(int file) { __atomic_fetch_add(&closed, 1, __ATOMIC_RELAXED); return REAL(close)(file); }
ssize_t read(int file, void *to, size_t bytes) {
  __atomic_fetch_add(&read_, 1, __ATOMIC_RELAXED);
  return REAL(read)(file, to, bytes);
}
void *mmap(void *at, size_t bytes, int access, int flags, int file, off_t from) {
  __atomic_fetch_add(&mapped, 1, __ATOMIC_RELAXED);
  return REAL(mmap)(at, bytes, access, flags, file, from);
}
void *dlopen(const char *path, int flags) { loaded++; return REAL(dlopen)(path, flags); }
__attribute__((destructor)) static void end(void) {
  if (strncmp(program_invocation_short_name, "made", 4)) return; /* The command has it, too. */
  printf("opened %d closed %d read %d mapped %d loaded %d\n", opened, closed, read_, mapped, loaded);
}
"#;

#[test]
fn a_tool_of_the_user_sees_the_program_s_calls_alone() {
    let (tool, scratch) = (Scratch::new(), Scratch::new());
    let Some(tool) = tool.compile("gcc", &["-shared", "-fPIC"], TOOL) else { return };
    let program = scratch.compile("gcc", &["-O1", "-fopenmp"], REGIONS).expect("as the tool");
    runs_as_alone(&program, Some(&tool));
}
