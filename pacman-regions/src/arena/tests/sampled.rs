//! A region with an overhead budget, whose process ends at any store.

use super::*;

/// Blocks of these lengths. The first thread times the last execution of each, the next one the first.
const BLOCKS: [u32; 6] = [1, 3, 2, 4, 8, 3];

/// The primary thread and another one run the region. The thread then ends, and the next one goes on.
fn life(words: &'static [AtomicU64], orders: [bool; 2]) {
    let mut writer = Writer::new(words);
    let process = writer.begin(&beginning(7)).expect("there is place");
    writer.append(Kind::Region, &region_record(0));
    let thread = writer.thread().expect("there is place");
    let rows = [writer.row(0, 0), writer.row(0, 1)].map(Option::unwrap);
    let primary_stats = writer.primary_stats(0).expect("there is place");
    for is_timed_last in orders {
        let latest = CurrentBin::none();
        for (number, block) in BLOCKS.into_iter().enumerate() {
            let count = || {
                for number in 1..block {
                    let place = thread.place(0).expect("there is one");
                    thread.untimed()[place].add(70 + u64::from(number));
                    thread.untimed()[place].note(70 + u64::from(number), number == 2);
                }
            };
            if is_timed_last {
                count();
            }
            rows.iter().for_each(|row| row.add_weighted(90, block, || Some(3)));
            let since = number as u64 * 150_000;
            // SAFETY: the thread has a current bin of its own.
            unsafe { primary_stats.add_weighted(&latest, since, 100 + u64::from(block), 2, block) };
            if !is_timed_last {
                count();
            }
        }
    }
    process.ends(false, 9_000_000);
}

#[test]
fn executions_and_their_time_are_exact_at_any_store() {
    [[true, false], [false, true]].into_iter().for_each(are_exact);
}

fn are_exact(orders: [bool; 2]) {
    let words = arena(64);
    let base = words.as_ptr().addr();
    let mut image: Vec<u64> = words.iter().map(load).collect();
    let stores = logged(|| life(words, orders));
    let all = load(&words[header::NEXT]);
    image.truncate(taken(words));
    image[header::NEXT] = all;
    let (mut executions, mut seconds) = (0, 0.0);
    let mut in_rows = [0; 2];
    for (done, (cell, value)) in stores.into_iter().enumerate() {
        image[(cell - base) / 8] = value;
        let bytes: Vec<u8> = image.iter().flat_map(|word| word.to_le_bytes()).collect();
        let recordings = read(&bytes).expect("an arena at every instant");
        let Some(region) = recordings.first().and_then(|recording| recording.regions.first())
        else {
            continue;
        };
        let now = region.executions;
        assert!(now == executions || now == executions + 1, "{executions} to {now} at {done}");
        executions = now;
        assert!(region.seconds >= seconds, "{seconds} to {} s at {done}", region.seconds);
        seconds = region.seconds;
        let times = region.shortest <= region.longest && region.longest <= region.seconds;
        assert!(times, "at store {done}: {region:?}");
        for row in &region.rows {
            // Until the first execution that is only counted, one under way is known by its row alone.
            let most = now + u64::from(region.sampling.is_none());
            assert!(
                row.executions <= most,
                "at store {done}: no thread runs a region more often than it runs: {region:?}"
            );
            in_rows[row.thread as usize] = row.executions;
        }
    }
    let sum = u64::from(2 * BLOCKS.iter().sum::<u32>());
    assert_eq!((executions, in_rows), (sum, [sum; 2]));
    // Each block has a timed execution of 100 ticks and its length, and others of 71, 72 and so on.
    let ticks = BLOCKS
        .map(u64::from)
        .map(|block| 100 + block + (1..block).map(|number| 70 + number).sum::<u64>());
    let ticks = 2 * ticks.iter().sum::<u64>();
    assert!((seconds * 1e9 - ticks as f64).abs() < 1e-6, "{seconds} s, {ticks} ticks");
}

#[test]
fn an_image_holds_any_number_of_sampled_regions() {
    let mut recording = specimen::recording();
    let mut sampled = recording.regions[0].clone();
    sampled.sampling = Some(Sampling { timed: 2, margin: 0.125, cost: None });
    recording.timeline = Timeline::default();
    recording.regions = (0..150).map(|_| sampled.clone()).collect();
    let [read] = &read(&image_of(&[recording.clone()])).expect("an arena")[..] else {
        panic!("one")
    };
    assert_eq!(read.regions.len(), 150);
    assert!(sampled.executions > 2);
    for region in &read.regions {
        let timed = region.sampling.as_ref().map(|sampling| sampling.timed);
        assert_eq!((region.executions, timed), (sampled.executions, Some(2)));
        assert_eq!(region.seconds, sampled.seconds);
        let margin = region.sampling.expect("a sample").margin;
        assert!((margin - 0.125).abs() < 1e-9, "{margin}");
    }
}
