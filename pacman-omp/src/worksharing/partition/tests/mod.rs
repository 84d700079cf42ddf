//! Shares against a brute-force distribution of single iterations, and against libomp.

mod draw;
mod libomp;

use super::*;
use draw::Draw;

/// The values of a loop, step by step.
fn values<T: Index>(of: Iterations<T>) -> Vec<i128> {
    let (mut value, upper) = (of.lower.exact(), of.upper.exact());
    let mut all = Vec::new();
    while if of.step > 0 { value <= upper } else { value >= upper } {
        all.push(value);
        value += i128::from(of.step);
    }
    all
}

/// The iterations of a share that compiled code executes: one piece, or pieces by the stride.
fn executed<T: Index>(of: Iterations<T>, division: Division, share: Share<T>) -> Vec<i128> {
    let down = of.step < 0;
    let end = of.upper.exact();
    let (mut lower, mut upper) = (share.lower.exact(), share.upper.exact());
    let mut all = Vec::new();
    loop {
        let cut = if down { upper.max(end) } else { upper.min(end) };
        if if down { lower < cut } else { lower > cut } {
            return all;
        }
        let mut value = lower;
        while if down { value >= cut } else { value <= cut } {
            all.push(value);
            value += i128::from(of.step);
        }
        if division == Division::Balanced {
            return all;
        }
        lower += i128::from(share.stride);
        upper += i128::from(share.stride);
        assert!(
            (T::RANGE.0..=T::RANGE.1).contains(&lower),
            "{of:?} {division:?} steps over its type"
        );
    }
}

/// The thread of an iteration by the specification.
fn owner(division: Division, iteration: usize, count: usize, threads: usize) -> usize {
    match division {
        // The first `count % threads` threads get one more.
        Division::Balanced => {
            let mut sizes = vec![count / threads; threads];
            sizes[..count % threads].iter_mut().for_each(|size| *size += 1);
            let mut end = 0;
            sizes
                .iter()
                .position(|size| {
                    end += size;
                    iteration < end
                })
                .unwrap()
        }
        Division::Chunked(chunk) => (iteration / chunk.max(1) as usize) % threads,
    }
}

fn check<T: Index>(of: Iterations<T>, division: Division, threads: u32) {
    let all = values(of);
    let count = of.count();
    assert_eq!(count.unwrap_or(0), all.len() as u64, "{of:?}");
    let mut lasts = 0;
    // Two threads above the width get nothing.
    for thread in 0..threads + 2 {
        let Some(share) = of.share(division, thread, threads) else {
            assert!(count.is_none(), "{of:?} {division:?} is not divided");
            return;
        };
        let due: Vec<i128> = (0..all.len())
            .filter(|&at| owner(division, at, all.len(), threads as usize) == thread as usize)
            .map(|at| all[at])
            .collect();
        assert_eq!(executed(of, division, share), due, "{of:?} {division:?} {thread} of {threads}");
        assert_eq!(
            share.last,
            due.last() == all.last(),
            "{of:?} {division:?} {thread} of {threads}"
        );
        lasts += u32::from(share.last);
    }
    assert_eq!(lasts, 1, "{of:?} {division:?} among {threads}");
}

fn check_drawn<T: Index>(draw: &mut Draw) {
    for _ in 0..4_000 {
        let (of, division, threads) = draw.case::<T>(200);
        check(of, division, threads);
    }
}

#[test]
fn shares_are_those_of_the_specification() {
    let mut draw = Draw::new(1);
    check_drawn::<i32>(&mut draw);
    check_drawn::<u32>(&mut draw);
    check_drawn::<i64>(&mut draw);
    check_drawn::<u64>(&mut draw);
}

#[test]
fn an_empty_share_is_empty_at_the_ends_of_the_type_too() {
    check(Iterations { lower: i32::MAX - 6, upper: i32::MAX, step: 1 }, Division::Balanced, 3);
    check(Iterations { lower: i32::MIN + 6, upper: i32::MIN, step: -1 }, Division::Balanced, 3);
    check(Iterations { lower: 7u32, upper: 0, step: -1 }, Division::Balanced, 9);
    check(Iterations { lower: u64::MAX - 6, upper: u64::MAX, step: 2 }, Division::Balanced, 1);
}

#[test]
fn the_largest_loops_are_divided_without_overflow() {
    // All but one of the 2^64 values: as many iterations as a count can hold.
    let of = Iterations { lower: i64::MIN, upper: i64::MAX - 1, step: 1 };
    assert_eq!(of.count(), Some(u64::MAX));
    let shares: Vec<_> =
        (0..3).map(|thread| of.share(Division::Balanced, thread, 3).unwrap()).collect();
    let third = (u64::MAX / 3) as i128;
    assert_eq!(u64::MAX % 3, 0);
    for (thread, share) in (0..).zip(&shares) {
        assert_eq!(share.lower.exact(), i128::from(i64::MIN) + thread * third);
        assert_eq!(share.upper.exact() - share.lower.exact() + 1, third);
    }
    let steps = Iterations { lower: i64::MIN, upper: i64::MAX, step: i64::MIN };
    assert_eq!(steps.count(), None, "it counts down, and upwards there is nothing");
}

#[test]
fn loops_that_the_runtime_cannot_count_or_step_through_are_left_to_it() {
    assert_eq!(Iterations { lower: i32::MIN, upper: i32::MAX, step: 1 }.count(), None);
    assert_eq!(Iterations { lower: 0u64, upper: u64::MAX, step: 1 }.count(), None);
    assert_eq!(Iterations { lower: 0u64, upper: u64::MAX, step: 2 }.count(), Some(1 << 63));
    assert_eq!(Iterations { lower: 1, upper: 0, step: 1 }.count(), None);
    assert_eq!(Iterations { lower: 0, upper: 9, step: 0 }.count(), None);
    // The chunk after the last begins beyond the type.
    let end = Iterations { lower: i32::MAX - 9, upper: i32::MAX, step: 1 };
    for thread in 0..4 {
        assert_eq!(end.share(Division::Chunked(2), thread, 2), None);
    }
}
