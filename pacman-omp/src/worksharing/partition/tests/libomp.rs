//! Shares against those of libomp for real threads.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;

const ASKS: &str = r#"
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
typedef struct { int32_t a, flags, b, c; const char *source; } ident;
static ident loc = {0, 0x202, 0, 0, ";unknown;unknown;0;0;;"};
int32_t __kmpc_global_thread_num(ident *);
#define DECLARE(name, T, S) \
  void name(ident *, int32_t, int32_t, int32_t *, T *, T *, S *, S, S); \
  static void ask_##name(int64_t lower, int64_t upper, int64_t step, int64_t chunk, int schedule, int threads) { \
    int64_t answers[64][4]; \
    _Pragma("omp parallel num_threads(threads)") { \
      int32_t last = 0, thread = omp_get_thread_num(); \
      T l = (T)lower, u = (T)upper; S stride = 1; \
      name(&loc, __kmpc_global_thread_num(&loc), schedule, &last, &l, &u, &stride, (S)step, (S)chunk); \
      answers[thread][0] = (int64_t)l; answers[thread][1] = (int64_t)u; \
      answers[thread][2] = (int64_t)stride; answers[thread][3] = last != 0; \
      if (omp_get_num_threads() != threads) answers[thread][3] = -1; \
    } \
    for (int t = 0; t < threads; t++) \
      printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", answers[t][0], answers[t][1], answers[t][2], answers[t][3]); \
  }
DECLARE(__kmpc_for_static_init_4, int32_t, int32_t)
DECLARE(__kmpc_for_static_init_4u, uint32_t, int32_t)
DECLARE(__kmpc_for_static_init_8, int64_t, int64_t)
DECLARE(__kmpc_for_static_init_8u, uint64_t, int64_t)
int main(void) {
  int type, schedule, threads;
  int64_t lower, upper, step, chunk;
  omp_set_dynamic(0);
  while (scanf("%d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %d %d",
               &type, &lower, &upper, &step, &chunk, &schedule, &threads) == 7)
    switch (type) {
    case 0: ask___kmpc_for_static_init_4(lower, upper, step, chunk, schedule, threads); break;
    case 1: ask___kmpc_for_static_init_4u(lower, upper, step, chunk, schedule, threads); break;
    case 2: ask___kmpc_for_static_init_8(lower, upper, step, chunk, schedule, threads); break;
    case 3: ask___kmpc_for_static_init_8u(lower, upper, step, chunk, schedule, threads); break;
    }
}
"#;

/// The answers to lines of questions; `None` without a clang that has OpenMP.
fn ask(questions: &str) -> Option<String> {
    if Command::new("clang").arg("--version").output().is_err() {
        return None;
    }
    let directory = std::env::temp_dir().join(format!("pacman-shares-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (source, program) = (directory.join("ask.c"), directory.join("ask"));
    std::fs::write(&source, ASKS).unwrap();
    let compiled = Command::new("clang")
        .args(["-O1", "-fopenmp", "-o"])
        .args([&program, &source])
        .output()
        .unwrap();
    if !compiled.status.success() {
        let said = String::from_utf8_lossy(&compiled.stderr).into_owned();
        assert!(said.contains("omp"), "the asking program does not compile: {said}");
        return None;
    }
    let mut child = Command::new(&program)
        .env_remove("LD_PRELOAD")
        .env_remove("OMP_THREAD_LIMIT")
        .env("KMP_BLOCKTIME", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let questions = questions.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(questions.as_bytes()));
    let answered = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(answered.status.success());
    Some(String::from_utf8(answered.stdout).unwrap())
}

struct Case<T> {
    of: Iterations<T>,
    division: Division,
    threads: u32,
}

fn drawn<T: Index>(draw: &mut Draw, number: usize, questions: &mut String) -> Vec<Case<T>> {
    let cases = (0..1_500).map(|_| {
        let (of, division, threads) = draw.case::<T>(100);
        let (schedule, chunk) = match division {
            Division::Balanced => (34, 0),
            Division::Chunked(chunk) => (33, chunk),
        };
        let (lower, upper) = (of.lower.widen() as i64, of.upper.widen() as i64);
        writeln!(questions, "{number} {lower} {upper} {} {chunk} {schedule} {threads}", of.step)
            .unwrap();
        Case { of, division, threads }
    });
    cases.collect()
}

fn compare<T: Index>(cases: &[Case<T>], answers: &mut dyn Iterator<Item = [i64; 4]>) {
    for Case { of, division, threads } in cases {
        for thread in 0..*threads {
            let [lower, upper, stride, last] = answers.next().expect("an answer for each thread");
            let theirs = Share {
                lower: T::narrow(lower as u64),
                upper: T::narrow(upper as u64),
                stride,
                last: last == 1,
            };
            assert_ne!(last, -1, "libomp gave another number of threads");
            let Some(ours) = of.share(*division, thread, *threads) else {
                assert_eq!(of.count(), None);
                continue;
            };
            let context = format!("{of:?} {division:?} {thread} of {threads}: {ours:?} {theirs:?}");
            assert_eq!(ours.last, theirs.last, "{context}");
            // For a loop that ends with its type and is shorter than the team, libomp's empty share
            // wraps to the whole type (LLVM 14). This library's stays empty.
            let wraps = if of.step > 0 { T::RANGE.0 } else { T::RANGE.1 };
            if theirs.lower.exact() == wraps && ours.lower != theirs.lower {
                assert!(executed(*of, *division, ours).is_empty(), "{context}");
                continue;
            }
            // Compare executed iterations: versions of libomp describe chunked loops with fewer chunks
            // than threads differently.
            assert_eq!(
                executed(*of, *division, ours),
                executed(*of, *division, theirs),
                "{context}"
            );
            // A loop that one thread has as a whole keeps its bound, which it may not hit exactly.
            if *division == Division::Balanced && *threads > 1 && ours.lower <= ours.upper {
                assert_eq!((ours.lower, ours.upper), (theirs.lower, theirs.upper), "{context}");
            }
        }
    }
}

#[test]
fn shares_are_those_that_libomp_hands_out() {
    let mut draw = Draw::new(2);
    let mut questions = String::new();
    let signed = drawn::<i32>(&mut draw, 0, &mut questions);
    let unsigned = drawn::<u32>(&mut draw, 1, &mut questions);
    let wide = drawn::<i64>(&mut draw, 2, &mut questions);
    let wide_unsigned = drawn::<u64>(&mut draw, 3, &mut questions);
    let Some(answers) = ask(&questions) else {
        pacman_suite::skipped("no clang with OpenMP");
        return;
    };
    let mut answers = answers.lines().map(|line| {
        let numbers: Vec<i64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        <[i64; 4]>::try_from(numbers).unwrap()
    });
    compare(&signed, &mut answers);
    compare(&unsigned, &mut answers);
    compare(&wide, &mut answers);
    compare(&wide_unsigned, &mut answers);
    assert_eq!(answers.next(), None);
}
