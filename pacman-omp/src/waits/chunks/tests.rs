use super::*;

/// Ticks of a timed request, at least.
const DISTURBED: u64 = 180;

/// A thread whose loop asks for chunks.
#[derive(Default)]
struct Simulation {
    requests: ChunkRequests,
    now: Cell<u64>,
    waited: u64,
    told: Vec<Requests>,
}

impl Simulation {
    fn pass(&self, ticks: u64) {
        self.now.set(self.now.get() + ticks);
    }

    /// The entry, and a request that takes `ticks` undisturbed.
    fn request(&mut self, caller: u64, ticks: u64, is_last: bool) {
        let disturbed = ticks.max(DISTURBED);
        self.make(caller, (ticks, disturbed), is_last);
    }

    /// As [`request`](Self::request), with the time of a timed one.
    fn take(&mut self, caller: u64, ticks: u64, timed: u64) {
        self.make(caller, (ticks, timed), false);
    }

    fn make(&mut self, caller: u64, (ticks, timed): (u64, u64), is_last: bool) {
        let requests = &self.requests;
        requests.left.set(requests.left.get() - 1);
        if requests.left.get() >= 0 {
            return self.pass(ticks);
        }
        let before = requests.arrives(caller, self.now.get(), self.waited);
        self.pass(timed);
        requests.ended(timed, is_last, self.waited, || self.now.get());
        self.tell(before);
    }

    fn tell(&mut self, told: Option<Requests>) {
        self.waited += told.map_or(0, |told| told.ticks);
        self.told.extend(told);
    }

    /// A loop of `number` chunks, with the work of each.
    fn run(&mut self, caller: u64, number: u64, ticks: u64, work: impl Fn(u64) -> u64) {
        for at in 0..number {
            self.pass(work(at));
            self.request(caller, ticks, at + 1 == number);
        }
    }

    fn end(mut self) -> Vec<Requests> {
        let rest = self.requests.rest(self.now.get(), self.waited);
        self.tell(rest);
        assert_eq!(self.requests.rest(self.now.get(), 0), None, "they are told once");
        assert!(self.waited <= self.now.get(), "{} of {}", self.waited, self.now.get());
        self.told
    }
}

fn started() -> Simulation {
    let simulation = Simulation::default();
    simulation.requests.begin(0, 0);
    simulation
}

#[test]
fn every_request_counts_and_few_are_timed() {
    for number in [1, 2, 5, 17, 100, 1_000, 100_000] {
        let mut simulation = started();
        simulation.run(7, number, 30, |_| 100);
        let timed = simulation.requests.take_timed();
        assert!(timed <= 20 + number / 20, "{timed} of {number}");
        let told = simulation.end();
        let [Requests { caller: 7, count, .. }] = told[..] else { panic!("{told:?}") };
        assert_eq!(count, number);
    }
}

#[test]
fn the_time_is_that_of_timed_requests_or_less() {
    // Timed ones take longer here than one with its chunk.
    for (ticks, work, least, most) in [(30, 10, 28, 40), (30, 500, 150, 180), (400, 60, 390, 400)] {
        let mut simulation = started();
        simulation.run(7, 400_000, ticks, |at| work / 2 + work / 2 * (at % 3));
        let told = simulation.end();
        let mean = told[0].ticks / told[0].count;
        assert!((least..=most).contains(&mean), "{mean} for {ticks} of {work}");
    }
}

#[test]
fn requests_that_meet_others_take_longer_than_a_timed_one() {
    // Undisturbed requests of 90 ticks; timed ones would take 20.
    let mut simulation = started();
    for _ in 0..100_000 {
        simulation.pass(10);
        simulation.take(7, 90, 20);
    }
    let told = simulation.end();
    let mean = told[0].ticks / told[0].count;
    assert!((80..=100).contains(&mean), "{mean}");
}

#[test]
fn an_uncertain_difference_is_none() {
    // Chunks of very different work: their mean is known to 50 ticks at best.
    let mut simulation = started();
    for at in 0..2_000_u64 {
        simulation.pass(at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51);
        simulation.take(7, 30, 30);
    }
    let told = simulation.end();
    let mean = told[0].ticks / told[0].count;
    assert!((30..=100).contains(&mean), "{mean}");
}

#[test]
fn an_interrupt_is_no_request() {
    let mut simulation = started();
    for at in 0..10_000 {
        simulation.pass(1_000);
        simulation.request(7, if at % 5 == 0 { 9_000_000 } else { 200 }, false);
    }
    let told = simulation.end();
    assert_eq!(told[0].ticks, 10_000 * 200, "{told:?}");
}

#[test]
fn an_interrupt_of_the_only_timed_request_is_no_time_of_all_others() {
    // The thread loses its processor in the first request of each loop, which is timed.
    let mut simulation = started();
    for caller in 1..=20 {
        for at in 0..10 {
            simulation.pass(100);
            simulation.make(caller, (30, if at == 0 { 9_000_000 } else { 200 }), at == 9);
        }
        simulation.pass(5_000);
        simulation.waited += 5_000;
    }
    // [`Simulation::end`] compares the sum of all with the time that has passed.
    assert_eq!(simulation.end().iter().map(|told| told.count).sum::<u64>(), 200);
}

#[test]
fn requests_that_all_take_long_are_no_interrupts() {
    let mut simulation = started();
    simulation.run(7, 1_000, 50_000, |_| 100);
    assert_eq!(simulation.end()[0].ticks, 1_000 * 50_000);
}

#[test]
fn the_time_between_loops_is_none_of_requests() {
    let mut simulation = started();
    for _ in 0..2_000 {
        simulation.run(7, 50, 30, |_| 20);
        simulation.pass(900_000);
        simulation.waited += 900_000;
    }
    let told = simulation.end();
    let mean = told[0].ticks / told[0].count;
    assert_eq!(told[0].count, 100_000);
    assert!((25..=51).contains(&mean), "a request and its chunk at most: {mean}");
}

#[test]
fn each_loop_has_its_own() {
    let mut simulation = started();
    simulation.run(7, 10_000, 30, |_| 20);
    simulation.run(8, 10_000, 60, |_| 20);
    let told = simulation.end();
    let [one, other] = &told[..] else { panic!("{told:?}") };
    assert_eq!((one.caller, other.caller, one.count + other.count), (7, 8, 20_000));
    // The requests between two timed ones are of the second one's loop.
    assert!(one.count.abs_diff(10_000) <= u64::from(LATER.1), "{told:?}");
    assert!(one.ticks * 3 < other.ticks * 2, "{told:?}");
}

#[test]
fn requests_outside_of_parts_are_not_timed() {
    let requests = ChunkRequests::default();
    requests.begin(0, 0);
    assert_eq!(requests.rest(9, 0), None, "a part without loops");
    requests.left.set(requests.left.get() - 1);
    assert!(requests.left.get() >= 0);
    assert_eq!(requests.rest(9, 0), None);
}
