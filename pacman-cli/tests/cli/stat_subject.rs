//! The program that `stat` is tried on: it says itself what its threads did.
//!
//! Built by the tests with plain rustc; each thread prints "thread TID SWITCHES FAULTS CPU_NS"
//! just before it ends.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::mpsc;
use std::thread;

extern "C" {
    fn gettid() -> i32;
    fn getrusage(who: i32, usage: *mut [i64; 18]) -> i32;
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    fn pause() -> i32;
    fn syscall(number: i64, status: i32) -> i64;
}

const SYS_EXIT: i64 = if cfg!(target_arch = "x86_64") { 60 } else { 93 };

const RUSAGE_THREAD: i32 = 1;
const CLOCK_THREAD_CPUTIME_ID: i32 = 3;

fn cpu_time() -> i64 {
    let mut time = [0; 2];
    // SAFETY: the pointer is to a live timespec of two words.
    assert_eq!(unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) }, 0);
    time[0] * 1_000_000_000 + time[1]
}

fn tell() {
    let mut usage = [0; 18];
    // SAFETY: the pointer is to a live rusage of eighteen words.
    assert_eq!(unsafe { getrusage(RUSAGE_THREAD, &mut usage) }, 0);
    // SAFETY: takes nothing and cannot fail.
    let tid = unsafe { gettid() };
    println!("thread {tid} {} {} {}", usage[16] + usage[17], usage[8] + usage[9], cpu_time());
}

/// Burns this much CPU time and touches this many fresh pages.
fn work(millis: i64, pages: usize) {
    let until = cpu_time() + millis * 1_000_000;
    while cpu_time() < until {
        std::hint::black_box((0..1000u64).sum::<u64>());
    }
    for _ in 0..pages {
        // Each page is a mapping of its own, so that none comes with another.
        let page = Box::leak(Box::new([0u8; 1 << 18]));
        std::hint::black_box(page)[0] = 1;
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments[0].as_str() {
        // Threads that differ in all they do.
        "differ" => {
            let (give, take) = mpsc::sync_channel::<()>(0);
            let (back, answered) = mpsc::sync_channel::<()>(0);
            let waits = thread::Builder::new().name("waits".into());
            let waits = waits.spawn(move || {
                for () in take {
                    back.send(()).unwrap();
                }
                tell();
            });
            let burns = thread::Builder::new().name("burns".into());
            let burns = burns.spawn(|| {
                work(120, 40);
                tell();
            });
            for _ in 0..50 {
                give.send(()).unwrap();
                answered.recv().unwrap();
            }
            drop(give);
            waits.unwrap().join().unwrap();
            burns.unwrap().join().unwrap();
        }
        "many" => {
            let count: usize = arguments[1].parse().unwrap();
            for _ in 0..count / 10 {
                let ten: Vec<_> = (0..10).map(|_| thread::spawn(|| work(0, 1))).collect();
                ten.into_iter().for_each(|thread| thread.join().unwrap());
            }
        }
        // Threads that work until standard input ends.
        "pool" => {
            let ready = std::sync::Arc::new(std::sync::Barrier::new(1 + arguments[1].parse::<usize>().unwrap()));
            for _ in 1..=arguments[1].parse().unwrap() {
                let ready = ready.clone();
                thread::spawn(move || {
                    ready.wait();
                    loop {
                        work(1, 0);
                    }
                });
            }
            ready.wait();
            println!("ready");
            std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
        }
        // As many threads as it sees CPUs, as OpenMP's runtimes make them.
        "team" => {
            let team = thread::available_parallelism().unwrap().get();
            println!("{team}");
            let others: Vec<_> = (1..team).map(|_| thread::spawn(|| work(20, 0))).collect();
            work(20, 0);
            others.into_iter().for_each(|thread| thread.join().unwrap());
            if arguments.len() > 1 {
                let error = Command::new(std::env::current_exe().unwrap()).arg("team").exec();
                panic!("{error}");
            }
        }
        // Another thread than the first becomes another program.
        "exec" => {
            thread::spawn(move || {
                work(20, 0);
                let error = Command::new(&arguments[1]).args(&arguments[2..]).exec();
                panic!("{error}");
            });
            loop {
                // SAFETY: takes nothing.
                unsafe { pause() };
            }
        }
        // The first thread ends before the others do.
        "leaderless" => {
            thread::spawn(|| {
                let leader = format!("/proc/self/task/{}/stat", std::process::id());
                while !std::fs::read_to_string(&leader).unwrap().contains(") Z ") {
                    thread::yield_now();
                }
                work(20, 0);
                std::process::exit(11);
            });
            // SAFETY: ends this thread alone; nothing of it is in use by the other one.
            unsafe { syscall(SYS_EXIT, 0) };
        }
        other => panic!("no such job: {other}"),
    }
}
