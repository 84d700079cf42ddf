//! The registers that the siblings of a core fight over: the plan for both, and what the kernel does.

use std::sync::Barrier;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::Duration;

use pacman_core::backend::{MAX_EVENTS, Reading};
use pacman_core::event::machine;
use pacman_core::{Attached, Binding, Result, Session, Topology};
use pacman_events::allocate::{EventConstraints, Pmu};
use pacman_events::encode::{Rings, Scope};
use pacman_events::partition::Partition;
use pacman_events::{Encoding, resolve};

use crate::doorbell::ring;
use crate::presets::{Together, hears};
use crate::siblings::first_two;

/// A busy machine disturbs most attempts of some milliseconds, and never all.
const ATTEMPTS: usize = 50;

const USER: Rings = Rings { user: true, kernel: false };

/// The events of the sibling that comes first, and of the one that comes second.
type Case<'a> = [Vec<&'a str>; 2];

/// Prints, a case: the plan's answer, the kernel's to each sibling while both run, and to
/// the first again after it slept.
pub(crate) fn run() -> Result<()> {
    if cfg!(target_arch = "aarch64") {
        const SIX: [&str; 6] = ["r412e", "r4f2e", "r0280", "r0151", "r0148", "r0149"];
        return contend("six-beside-six", &[SIX.to_vec(), SIX.to_vec()]);
    }
    let offcore = offcore();
    if let [a, b, ..] = &offcore[..] {
        contend("offcore-same", &[vec![a], vec![a]])?;
        contend("offcore-differ", &[vec![a], vec![b]])?;
        contend("offcore-differ-asleep", &[vec![a], vec![b]])?;
        println!("spread {}", sets(&[a, b]));
    }
    if let ([a, b, c, d, ..], Scope::Thread) =
        (&offcore[..], machine::model().facts().offcore_scope)
    {
        contend("offcore-two-each", &[vec![a, b], vec![c, d]])?;
    }
    if machine::model().facts().sibling_exclusive_erratum {
        // The first two are of the erratum, in any unit mask.
        const LOADS: &str = "r81d0";
        const STORES: &str = "r82d0";
        const PLAIN: [&str; 4] = ["r412e", "r4f2e", "r0280", "r0151"];
        let plain = |number| PLAIN[..number].to_vec();
        contend("one-beside-one", &[vec![LOADS], vec![STORES]])?;
        contend("two-beside-two", &[vec![LOADS, STORES], vec![LOADS, STORES]])?;
        contend("one-beside-two-plain", &[vec![LOADS], plain(2)])?;
        contend("two-plain-beside-two", &[plain(2), vec![LOADS, STORES]])?;
        contend("one-beside-three-plain", &[vec![LOADS], plain(3)])?;
        contend("three-plain-beside-one", &[plain(3), vec![LOADS]])?;
        contend("four-plain-beside-one", &[plain(4), vec![LOADS]])?;
        contend("four-plain-beside-four", &[plain(4), plain(4)])?;
    }
    Ok(())
}

/// Off-core events of OFFCORE_RSP_0, no two with the same value.
fn offcore() -> Vec<String> {
    let mut found: Vec<Encoding> = Vec::new();
    for event in machine::model().events() {
        let Ok(resolved) = resolve(machine::model(), &event.name()) else { continue };
        let Some((encoding, extra)) = resolved.encoding().and_then(|it| Some((it, it.extra?)))
        else {
            continue;
        };
        let new = |other: &Encoding| other.extra.is_some_and(|it| it.value != extra.value);
        if extra.choices()[0].msr == 0x1a6 && found.iter().all(new) {
            found.push(encoding.clone());
        }
    }
    found.into_iter().take(4).map(|it| it.name.to_string()).collect()
}

fn encode(name: &str) -> Encoding {
    let resolved = resolve(machine::model(), name).expect("an event of this model");
    resolved.encoding().expect("a single event").clone()
}

fn demands(pmu: &Pmu, names: &[&str]) -> Vec<EventConstraints> {
    names.iter().map(|name| EventConstraints::of(&encode(name), pmu, USER)).collect()
}

/// How many sets the plan makes of events that may go to either sibling.
fn sets(names: &[&str]) -> usize {
    let pmu = Pmu::of(machine::model(), true);
    let schedule = Partition::ByDemand.spread(&pmu, &demands(&pmu, names));
    schedule.expect("each event fits alone").sets().len()
}

fn contend(label: &str, case: &Case<'_>) -> Result<()> {
    let pmu = Pmu::of(machine::model(), true);
    match Partition::ByDemand.plan(&pmu, &case.each_ref().map(|list| demands(&pmu, list))) {
        Ok(_) => println!("plan {label} fits"),
        Err(conflict) => {
            println!("plan {label} refused {}: {}", conflict.resource(), conflict.reason());
        }
    }
    // A thread that the guest's kernel takes off its CPU is off its counters, too: then the other
    // may win what the case is about, and the case is tried again.
    for _ in 0..ATTEMPTS {
        let turns = attempt(label, case)?;
        if turns.iter().all(|turn| turn.undisturbed) {
            turns.iter().flat_map(|turn| &turn.lines).for_each(|line| println!("{line}"));
            return Ok(());
        }
    }
    println!("disturbed {label}: in each of {ATTEMPTS} attempts a sibling was off its CPU");
    Ok(())
}

/// The fate of one sibling.
struct Turn {
    lines: Vec<String>,
    /// Nothing but what the case has took it off its counters before it read them.
    undisturbed: bool,
}

fn attempt(label: &str, case: &Case<'_>) -> Result<[Turn; 2]> {
    let here = Topology::detect()?;
    let siblings = first_two(&here);
    let asleep = label.ends_with("asleep");
    let (together, attached_too) = (Together::new(2), Barrier::new(2));
    let sleeper = AtomicI32::new(0);
    let turns = std::thread::scope(|scope| {
        let threads = [0, 1].map(|turn| {
            let (here, siblings, together) = (&here, &siblings, &together);
            let (attached_too, sleeper) = (&attached_too, &sleeper);
            scope.spawn(move || -> Result<Turn> {
                let bind = |cpu: u32| Binding::bind(here, &here.place(cpu)?);
                let mut bound = bind(siblings[if asleep { 0 } else { turn }])?;
                let session = Session::builder(format!("{label} {turn}"))
                    .events(case[turn].join(","))
                    .start()?;
                if turn == 1 {
                    together.wait();
                    if asleep {
                        wait_for_sleep(sleeper.load(Ordering::Relaxed));
                        drop(bound);
                        bound = bind(siblings[1])?;
                    }
                }
                let attached = session.attach();
                let before = switches();
                if turn == 0 {
                    // SAFETY: it takes nothing and cannot fail.
                    // ATOMICS: the barrier orders it.
                    sleeper.store(unsafe { libc::gettid() }, Ordering::Relaxed);
                    together.wait();
                }
                if asleep {
                    // The first is off the CPU, and so off its counters, until the second
                    // is attached.
                    attached_too.wait();
                }
                together.wait();
                let counted = attached
                    .as_ref()
                    .map_err(Clone::clone)
                    .and_then(|thread| rung(thread, &case[turn], 100 + turn as u64));
                let undisturbed = switches() == before || (asleep && turn == 0);
                let mut lines = vec![told(label, turn, "now", counted)];
                together.wait();
                if turn == 0 {
                    // Off the CPU, and so off the counters, while the sibling counts on.
                    std::thread::sleep(Duration::from_millis(20));
                    let again = attached
                        .as_ref()
                        .map_err(Clone::clone)
                        .and_then(|thread| rung(thread, &case[turn], 200));
                    lines.push(told(label, turn, "later", again));
                }
                together.wait();
                drop(bound);
                Ok(Turn { lines, undisturbed })
            })
        });
        threads.map(|thread| thread.join().expect("no panic"))
    });
    let [first, second] = turns;
    Ok([first?, second?])
}

/// Waits until thread `sleeper` of this process sleeps, on the CPU that it is bound to: while the
/// caller runs there it does not, and nobody wakes it.
fn wait_for_sleep(sleeper: i32) {
    let path = format!("/proc/self/task/{sleeper}/stat");
    loop {
        let stat = std::fs::read_to_string(&path).expect("a thread of this process");
        // The name before it may have blanks and brackets.
        if stat.rsplit(") ").next().is_some_and(|fields| fields.starts_with('S')) {
            return;
        }
        std::thread::yield_now();
    }
}

/// How often the calling thread was off its CPU.
fn switches() -> i64 {
    // SAFETY: all zeros are a valid rusage, which the call fills.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live structure.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) }, 0);
    usage.ru_nvcsw + usage.ru_nivcsw
}

/// Rings every selector that the events may be programmed with; answers whether each
/// event counted exactly those that it hears, by its sum as by two readings.
fn rung(thread: &Attached, names: &[&str], times: u64) -> Result<bool> {
    let mut selectors: Vec<u64> = names.iter().flat_map(|name| selectors(name)).collect();
    selectors.sort_unstable();
    selectors.dedup();
    let (mut before, mut after) = (Reading::EMPTY, Reading::EMPTY);
    let sums = [const { AtomicU64::new(0) }; MAX_EVENTS];
    thread.read(&mut before)?;
    for selector in &selectors {
        ring(*selector, times);
    }
    thread.add_since(&before, &sums)?;
    thread.read(&mut after)?;
    let exactly = |(number, name): (usize, &&str)| {
        // Of an off-core event's two selectors the kernel programs one.
        let own = self::selectors(name)[0];
        let heard = selectors.iter().filter(|rung| hears(own, **rung)).count() as u64;
        let counted = [after.count_since(&before, number), sums[number].load(Ordering::Relaxed)];
        counted == [times * heard; 2]
    };
    Ok(names.iter().enumerate().all(exactly))
}

/// The codes that an event's counter may have: more than one selector for an event
/// whose extra register has a twin.
fn selectors(name: &str) -> Vec<u64> {
    let encoding = encode(name);
    match &encoding.extra {
        None => vec![encoding.evtsel],
        Some(extra) => extra.choices().iter().map(|it| u64::from(it.select)).collect(),
    }
}

fn told(label: &str, turn: usize, when: &str, counted: Result<bool>) -> String {
    match counted {
        Ok(true) => format!("kernel {label} {turn} {when} exact"),
        Ok(false) => format!("kernel {label} {turn} {when} wrong"),
        Err(error) => format!("kernel {label} {turn} {when} {:?}: {error}", error.kind()),
    }
}
