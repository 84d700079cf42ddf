//! Machines and programs at random.
//!
//! A machine has 4 to 20 cores, one or two contexts each, in one or two sockets. A program is two
//! to four phases with shares of its time on one thread. Arithmetic, memory, a lock, barriers, a
//! serial part or its cache limits each phase. A phase may prefer one socket, and may have few equal
//! pieces of work. One run each, with noise of 0.4 to 2 %.

use pacman_adapt::Result;
use pacman_adapt::phases::{Noise, Random};
use pacman_adapt::predict::training::Row;
use pacman_adapt::predict::{Configuration, Sample};

const PROGRAMS: usize = 15;

struct Machine {
    cores: f64,
    contexts: f64,
    sockets: f64,
    /// How many cores' worth of streaming memory carries.
    bandwidth: f64,
    /// How much faster a core alone is than among all.
    turbo: f64,
}

/// One machine's programs at every number of threads.
pub(super) fn machine(seed: u64) -> Result<Vec<Row>> {
    let random = &mut Random::new(seed);
    let cores = one_of(random, &[4.0, 6.0, 8.0, 12.0, 16.0, 20.0]);
    let contexts = one_of(random, &[1.0, 2.0]);
    let sockets = if cores < 8.0 { 1.0 } else { one_of(random, &[1.0, 2.0]) };
    let bandwidth = random.between(2.0, 6.0) * sockets;
    let turbo = random.between(0.0, 0.25);
    let machine = Machine { cores, contexts, sockets, bandwidth, turbo };
    let mut rows = Vec::new();
    for program in 0..PROGRAMS {
        let spread = one_of(random, &[0.004, 0.01, 0.02]);
        let times = machine.program(random);
        let mut noise = Noise::new(seed << 8 | program as u64, spread);
        for (threads, seconds) in (1..).zip(times) {
            rows.push(Row {
                line: rows.len() as u64 + 2,
                machine: format!("drawn {seed}"),
                program: format!("p{program}"),
                phase: None,
                run: None,
                sample: Sample::new(Configuration::new(threads)?, 10.0 * seconds * noise.factor())?,
            });
        }
    }
    Ok(rows)
}

impl Machine {
    fn threads(&self) -> impl Iterator<Item = f64> + use<> {
        (1..=(self.cores * self.contexts) as u32).map(f64::from)
    }

    /// Times of all phases together, 1 on one thread.
    fn program(&self, random: &mut Random) -> Vec<f64> {
        let gain = random.between(0.0, 0.5);
        let phases = 2 + (random.unit() * 3.0) as usize;
        // Each division of the whole as likely.
        let shares: Vec<f64> = (0..phases).map(|_| -(1.0 - random.unit()).ln()).collect();
        let sum: f64 = shares.iter().sum();
        let mut times = vec![0.0; self.threads().count()];
        for share in shares {
            let phase = self.phase(random, gain);
            for (time, phase_time) in times.iter_mut().zip(&phase) {
                *time += share / sum * phase_time / phase[0];
            }
        }
        times
    }

    fn phase(&self, random: &mut Random, gain: f64) -> Vec<f64> {
        let kind = random.unit();
        let is_static = random.unit() < 0.5;
        let memory = (0.42..0.64).contains(&kind);
        let law = self.law(kind, random);
        let far =
            if self.sockets > 1.0 && random.unit() < 0.4 { random.between(0.0, 0.25) } else { 0.0 };
        let pieces = [16.0, 24.0, 32.0, 48.0, 60.0, 64.0, 96.0, 128.0];
        let pieces = if random.unit() < 0.3 { Some(one_of(random, &pieces)) } else { None };
        let time = |threads: f64| {
            let busy = threads.min(self.cores);
            let shared = (threads - self.cores).max(0.0);
            let capacity = if is_static && shared > 0.0 {
                // A thread that shares a core is last, and all wait for it.
                threads * (1.0 + gain) / 2.0
            } else {
                busy + shared * if memory { 0.3 * gain } else { gain }
            };
            let clock = 1.0 + self.turbo * (1.0 - busy / self.cores);
            let apart = if threads > self.cores / 2.0 { 1.0 + far } else { 1.0 };
            let uneven = pieces.map_or(1.0, |all| (all / threads).ceil() * threads / all);
            law(threads, capacity, clock) * apart * uneven
        };
        self.threads().map(time).collect()
    }

    /// Time by threads, what these could do, and the clock's factor.
    fn law(&self, kind: f64, random: &mut Random) -> Box<dyn Fn(f64, f64, f64) -> f64> {
        let machine = self.cores;
        if kind < 0.42 {
            return Box::new(|_, capacity, clock| 1.0 / (capacity * clock));
        }
        if kind < 0.64 {
            let near = self.sockets > 1.0 && random.unit() < 0.3;
            let carries = if near { self.bandwidth / self.sockets } else { self.bandwidth };
            let (asks, crowding) = (random.between(0.3, 1.0), random.between(0.0, 0.02));
            return Box::new(move |threads, capacity, _| {
                let alone = (asks * capacity).powi(-6) + carries.powi(-6);
                alone.powf(1.0 / 6.0) * (1.0 + crowding * (threads - carries).max(0.0))
            });
        }
        if kind < 0.72 {
            let (held, handed) = (random.between(0.02, 0.3), random.between(0.0, 0.08));
            return Box::new(move |threads, capacity, _| {
                (1.0 / capacity).max(held * (1.0 + handed * (threads - 1.0)))
            });
        }
        if kind < 0.85 {
            let (cost, grows) = (random.between(0.0005, 0.006), random.unit() < 0.5);
            return Box::new(move |threads, capacity, _| {
                let rounds = if grows { threads } else { 3.0 * (threads + 1.0).log2() };
                1.0 / capacity + cost * rounds
            });
        }
        if kind < 0.95 {
            let serial = random.between(0.02, 0.4);
            return Box::new(move |_, _, clock| serial / clock);
        }
        let (fits, more) = (random.between(1.0, machine), random.between(0.2, 1.0));
        Box::new(move |threads, capacity, _| {
            let misses = 1.0 / (1.0 + ((threads - fits) * 1.5).exp());
            (1.0 + more * misses) / capacity
        })
    }
}

fn one_of(random: &mut Random, values: &[f64]) -> f64 {
    values[(random.unit() * values.len() as f64) as usize]
}
