//! The reader after any number of a writer's stores.

mod rotated;
mod sampled;
pub(super) mod specimen;

use std::cell::RefCell;
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, LazyLock, Mutex};

use proptest::prelude::*;

use super::cell::{add, load};
use super::format::{WORDS, header, taken};
use super::*;
use crate::{Adaptation, Cause, Ending, FileIdentity, Rank, Recording, Region, Sampling, Timeline};

thread_local! {
    static LOG: RefCell<Option<Vec<(usize, u64)>>> = const { RefCell::new(None) };
}

/// Logs a store, during [`logged`].
pub(super) fn log(cell: &AtomicU64, value: u64) {
    let kept = LOG.try_with(|log| {
        if let Some(log) = &mut *log.borrow_mut() {
            log.push((std::ptr::from_ref(cell).addr(), value));
        }
    });
    kept.expect("no test stores after its thread");
}

/// All stores of `act`: addresses and values.
pub(super) fn logged(act: impl FnOnce()) -> Vec<(usize, u64)> {
    LOG.set(Some(Vec::new()));
    act();
    LOG.take().expect("it was set")
}

/// The words of a record.
pub(super) fn words_of<T>(record: &T) -> Vec<u64> {
    let words = std::ptr::from_ref(record).cast::<AtomicU64>();
    // SAFETY: records consist of such words.
    (0..size_of::<T>() / 8).map(|at| load(unsafe { &*words.add(at) })).collect()
}

fn memory(pages: usize) -> &'static [AtomicU64] {
    Box::leak((0..pages * WORDS).map(|_| AtomicU64::new(0)).collect())
}

const NONCE: u128 = 0x0123_4567_89ab_cdef_0011_2233_4455_6677;

fn arena(pages: usize) -> &'static [AtomicU64] {
    let words = memory(pages);
    prepare(words, pages, NONCE);
    words
}

fn beginning(pid: u32) -> ProcessStart {
    let seconds_per_tick = 1e-9;
    ProcessStart {
        numbers: (pid, 1),
        began: 5_000_000_000,
        seconds_per_tick,
        adapted: true,
        waits: true,
    }
}

/// The copy that the command reads is whole, without what is behind the records of a chunk.
#[test]
fn a_copy_leaves_out_the_unused_ends_of_chunks() {
    let words = arena(64);
    let mut writer = Writer::new(words);
    writer.begin(&beginning(7)).expect("there is room");
    for number in 0..9 {
        assert!(writer.append(Kind::Region, &region_record(number)));
        let stats = writer.primary_stats(number).expect("there is room");
        // SAFETY: the current bin is of these statistics.
        unsafe { stats.add(&CurrentBin::none(), 5, 1_000 + u64::from(number), 2, || Nested::No) };
    }
    let all: Vec<u64> = words[..taken(words)].iter().map(load).collect();
    assert!(read_words(&all).expect("an arena")[0].regions.len() == 9);
    // Another process would write there later.
    let behind = all.len() - 1;
    assert_eq!(all[behind], 0);
    super::cell::store(&words[behind], 77);
    let copy = copied(&[words]);
    assert_eq!(copy, all);
    assert_eq!(read_words(&copy), read_words(&all));
    // A page that was taken and has no chunk yet is copied as a whole.
    words[header::NEXT].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    super::cell::store(&words[all.len() + 5], 78);
    assert_eq!(copied(&[words])[all.len() + 5], 78);
}

fn region_record(number: u32) -> Payload {
    let payload = Payload::new().number(number.into()).number(0).number(0x1200);
    let module = Path::new(OsStr::from_bytes(b"/opt/b\xffd/app"));
    let identity = FileIdentity::Metadata { device: 66, inode: 12, size: 4096, modified: -7 };
    let payload = payload.module(module, Some(&identity)).optional(None);
    payload.bytes(b"GOMP_parallel").number(0)
}

fn enter(
    primary_stats: &PrimaryStats,
    latest: &CurrentBin,
    (since, ticks): (u64, u64),
    threads: u32,
    nested: bool,
) {
    // SAFETY: each record has a current bin of its own.
    unsafe {
        let nested = || if nested { Nested::Inside } else { Nested::No };
        primary_stats.add(latest, since, ticks, threads, nested);
    };
}

/// Everything that a process records: it begins, runs regions, adapts one, forks, and ends.
fn life(words: &'static [AtomicU64]) {
    let mut writer = Writer::new(words);
    let process = writer.begin(&beginning(7)).expect("there is place");
    writer.append(Kind::Command, &Payload::new().bytes(b"./b\xffd\0arg\0"));
    writer.append(Kind::Runtime, &Payload::new().number(0).number(1).bytes(b"/lib/libomp.so"));
    writer
        .append(Kind::FirstRegion, &Payload::new().number(2).number(4).number(50).bytes(b"rdpmc"));
    let events = Payload::new().number(2).bytes(b"CYCLES").optional(None);
    let events = events.bytes(b"CYCLES").bytes(b"cycles").number(1).optional(None).optional(None);
    let events = events.bytes(b"ZEBRA").optional(Some(b"no such event"));
    let events = events.bytes(b"ZEBRA").bytes(b"events").number(0).optional(None).optional(None);
    let events = events.number(1).number(1).number(0);
    writer.append(Kind::Events, &events);
    let thread = writer.thread().expect("there is place");
    let mut slot = None;
    for region in 0..2 {
        writer.append(Kind::Region, &region_record(region));
        let rows = [writer.row(region, 0), writer.row(region, 1)].map(Option::unwrap);
        let site = Payload::new().number(u64::from(state::SITES + region)).number(1).number(0x1300);
        writer.append(Kind::WaitSite, &site.bytes(b"/opt/b\xffd/app").number(0).optional(None));
        let waits = writer.wait_row(region, 1, state::SITES).expect("there is place");
        let primary_stats = writer.primary_stats(region).expect("there is place");
        let latest = CurrentBin::none();
        for execution in 0..8 {
            thread.set_open_regions(1);
            for row in rows {
                row.add(90, || Some(3));
                row.count(|sums| {
                    add(&sums[0], 11);
                    true
                });
            }
            waits.add(1, 7);
            enter(primary_stats, &latest, (execution * 150_000, 100), 2, false);
            thread.set_open_regions(0);
            let threads = execution as u32 + 1;
            let why = "because ".repeat(execution as usize);
            let adaptation = Adaptation { threads, why, ..Adaptation::default() };
            let text = serde_json::to_vec(&adaptation).expect("text");
            writer.replace(&mut slot, region, &text);
        }
        slot = None;
    }
    writer.append(Kind::Note, &Payload::new().bytes(b"a note"));
    process.ends(false, 9_000_000);
    let child = writer.begin(&beginning(8)).expect("there is place");
    writer.row(1, 0).expect("there is place").add(5, || None);
    writer.wait_row(1, 0, state::SITES + 1).expect("there is place").add(1, 4);
    enter(writer.primary_stats(1).expect("there is place"), &CurrentBin::none(), (0, 6), 1, true);
    child.ends(true, 400);
}

#[test]
fn what_was_written_is_read() {
    let words = arena(64);
    life(words);
    let [parent, child] = &read_words(&copied(&[words])).expect("an arena")[..] else {
        panic!("two")
    };
    assert_eq!((parent.process.pid, parent.process.parent), (7, 1));
    assert_eq!(parent.process.command, [r"$'./b\xffd'", "arg"]);
    assert_eq!(parent.process.ending, Ending::Exit);
    assert!((parent.process.seconds - 9e-3).abs() < 1e-12, "{}", parent.process.seconds);
    assert_eq!((parent.threads, parent.contexts, &parent.overhead.reads[..]), (2, 4, "rdpmc"));
    assert_eq!(parent.events[1].uncounted.as_deref(), Some("no such event"));
    assert_eq!((parent.regions.len(), parent.executions()), (2, 16));
    let region = &parent.regions[1];
    assert_eq!(region.site.module.as_os_str().as_encoded_bytes(), b"/opt/b\xffd/app");
    let facts = FileIdentity::Metadata { device: 66, inode: 12, size: 4096, modified: -7 };
    assert_eq!(region.site.identity, Some(facts));
    assert_eq!((region.executions, region.rows.len(), region.rows[1].thread), (8, 2, 1));
    let row = &region.rows[1];
    assert_eq!((row.executions, row.counted, row.cpu), (8, 8, Some(3)));
    assert_eq!(row.counts, [Some(88), None]);
    assert_eq!(region.adaptation.as_ref().map(|adaptation| adaptation.threads), Some(8));
    assert_eq!(parent.notes, ["a note"]);
    let states = row.states.as_ref().expect("they were asked for");
    assert_eq!((states.waits[0].count, states.dropped), (8, 0));
    assert!((states.waits[0].seconds - 56e-9).abs() < 1e-15, "{states:?}");
    let waits = child.waits.as_ref().expect("they were asked for");
    assert_eq!((waits.sites.len(), waits.sites[0].cause), (1, Cause::Barrier));
    assert_eq!(waits.sites[0].site.address, 0x1300, "a fork has its parent's sites");
    assert_eq!((child.process.pid, child.process.ending), (8, Ending::Exec));
    assert_eq!(child.process.command, parent.process.command, "a fork has its parent's");
    assert_eq!(child.regions[0].site, region.site, "and knows its regions");
    assert_eq!((child.regions.len(), child.executions()), (1, 1));
}

#[test]
fn a_writer_that_ends_at_any_store_leaves_what_it_had_done() {
    let words = arena(64);
    let base = words.as_ptr().addr();
    let mut image: Vec<u64> = words.iter().map(load).collect();
    let next = header::NEXT;
    let stores = logged(|| life(words));
    let all = load(&words[next]);
    image.truncate(taken(words));
    assert!(stores.len() > 500, "{} stores", stores.len());
    // Pages are taken by an addition, which is not logged as a store.
    image[next] = all;
    let (mut executions, mut ended) = (0, 0);
    for (done, (cell, value)) in stores.into_iter().enumerate() {
        image[(cell - base) / 8] = value;
        let bytes: Vec<u8> = image.iter().flat_map(|word| word.to_le_bytes()).collect();
        let recordings = read(&bytes).expect("an arena at every instant");
        let now: u64 = recordings.iter().map(Recording::executions).sum();
        let said = recordings.iter().filter(|one| one.process.ending != Ending::Unsaid).count();
        assert!(now == executions || now == executions + 1, "{executions} to {now} at {done}");
        assert!(said >= ended, "an ending is not taken back");
        (executions, ended) = (now, said);
        for recording in &recordings {
            let damaged = recording.notes.iter().any(|note| note.contains("written over"));
            assert!(!damaged, "at store {done}");
            for region in &recording.regions {
                assert_eq!(region.entry, "GOMP_parallel", "at store {done}");
                let times = region.shortest <= region.longest && region.longest <= region.seconds;
                assert!(times, "at store {done}: {region:?}");
                let parts = || region.rows.iter().map(|row| row.executions);
                let near = |part: u64| (region.executions..=region.executions + 1).contains(&part);
                assert!(parts().all(near), "at store {done}: {region:?}");
                let executed = region.executions as u32;
                let told = region.adaptation.as_ref().map_or(0, |adaptation| adaptation.threads);
                assert!(told <= executed.max(2) && told + 2 > executed, "{told} at {executed}");
            }
        }
    }
    assert_eq!((executions, ended), (17, 2));
}

#[test]
fn an_arena_that_is_full_says_how_much_it_lacks() {
    let words = arena(8);
    let mut writer = Writer::new(words);
    writer.begin(&beginning(7)).expect("there is place");
    writer.append(Kind::Region, &region_record(0));
    enter(writer.primary_stats(0).expect("there is place"), &CurrentBin::none(), (0, 5), 1, false);
    let refused = (0..200).filter(|thread| writer.row(0, *thread).is_none()).count();
    assert!((100..200).contains(&refused), "{refused}");
    assert!(!writer.append(Kind::Note, &Payload::new().bytes(&[b'x'; 5000])));
    let recordings = read_words(&copied(&[words])).expect("an arena");
    assert_eq!((recordings.len(), recordings[0].executions()), (1, 1));
    let said = format!("no place left for {} rows", refused + 1);
    assert!(recordings[0].notes[0].contains(&said), "{:?}", recordings[0].notes);
    let mut late = Writer::new(words);
    assert!(late.begin(&beginning(8)).is_none());
    let notes = &read_words(&copied(&[words])).expect("an arena")[0].notes;
    assert!(notes.iter().any(|note| note.starts_with("1 more process is not")), "{notes:?}");
}

/// Pages of which only the first can be made usable, and those that were asked for.
struct Refusing(&'static [AtomicU64], Arc<Mutex<Vec<Range<usize>>>>);

impl Pages for Refusing {
    fn header(&self) -> &'static [AtomicU64] {
        self.0
    }

    fn count(&self) -> usize {
        self.0.count()
    }

    fn make(&mut self, pages: Range<usize>) -> Option<&'static [AtomicU64]> {
        self.1.lock().expect("no panic").push(pages.clone());
        if pages.start == 1 { self.0.make(pages) } else { None }
    }
}

#[test]
fn what_cannot_be_made_usable_is_asked_for_once() {
    let (words, asked) = (arena(64), Arc::default());
    let mut writer = Writer::new(Refusing(words, Arc::clone(&asked)));
    writer.begin(&beginning(7)).expect("the first page is there");
    assert!(writer.primary_stats(0).is_none() && writer.primary_stats(1).is_none());
    assert_eq!(*asked.lock().expect("no panic"), [1..2, 2..5]);
    assert!(writer.append(Kind::Note, &Payload::new().bytes(b"short")), "there was room for it");
    let recordings = read_words(&copied(&[words])).expect("an arena");
    assert!(recordings[0].notes.contains(&"short".to_owned()));
}

/// Pieces anywhere in memory, as a process maps them.
struct Apart(Vec<&'static [AtomicU64]>);

impl Pages for Apart {
    fn header(&self) -> &'static [AtomicU64] {
        &self.0[0][..WORDS]
    }

    fn count(&self) -> usize {
        self.0.iter().map(Pages::count).sum()
    }

    fn make(&mut self, pages: Range<usize>) -> Option<&'static [AtomicU64]> {
        let all = pieces(self.count()).zip(&mut self.0);
        let (piece, words) = all.into_iter().find(|(piece, _)| piece.contains(&pages.start))?;
        assert!(pages.start > piece.start, "the first page of a piece is its header");
        assert!(pages.end <= piece.end, "no chunk is in two pieces");
        words.make(pages.start - piece.start..pages.end - piece.start)
    }
}

#[test]
fn records_fill_pieces_that_are_mapped_apart() {
    let pages = 2_500;
    let apart: Vec<_> = pieces(pages).map(|piece| memory(piece.len())).collect();
    assert_eq!(apart.len(), 2);
    apart.iter().for_each(|piece| prepare(piece, pages, NONCE));
    let mut writer = Writer::new(Apart(apart.clone()));
    writer.begin(&beginning(7)).expect("there is room");
    assert!(writer.append(Kind::Region, &region_record(0)));
    let stats = writer.primary_stats(0).expect("there is room");
    enter(stats, &CurrentBin::none(), (0, 5), 9, false);
    let texts =
        (0..).take_while(|_| writer.append(Kind::Note, &Payload::new().bytes(&[7; 20_000])));
    let texts = texts.count();
    assert!((400..pages * 4096 / 20_000).contains(&texts), "{texts}");
    assert!(apart.iter().all(|piece| check(piece, NONCE).is_ok()));
    let recordings = read_words(&copied(&apart)).expect("an arena");
    let notes = recordings[0].notes.iter().filter(|note| note.len() >= 20_000);
    assert_eq!((recordings[0].executions(), notes.count()), (1, texts));
}

#[test]
fn processes_share_an_arena() {
    let words = arena(2_000);
    let threads: Vec<_> = (0..4)
        .map(|pid| {
            std::thread::spawn(move || {
                let mut writer = Writer::new(words);
                let process = writer.begin(&beginning(pid)).expect("there is place");
                for region in 0..20 {
                    writer.append(Kind::Region, &region_record(region));
                    let primary_stats = writer.primary_stats(region).expect("there is place");
                    enter(primary_stats, &CurrentBin::none(), (0, 5), pid + 1, false);
                }
                process.ends(false, 100);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it writes"));
    let recordings = read_words(&copied(&[words])).expect("an arena");
    assert_eq!(recordings.len(), 4);
    for recording in recordings {
        assert_eq!(recording.executions(), 20);
        let own = |region: &Region| region.teams[0].threads == recording.process.pid + 1;
        assert!(recording.regions.iter().all(own));
    }
}

#[test]
fn another_arena_is_refused() {
    let words = arena(2);
    assert_eq!(check(words, NONCE), Ok(()));
    assert_eq!(check(words, NONCE + 1), Err("it belongs to another run".to_owned()));
    assert_eq!(check(memory(1), NONCE), Err("it is not an arena".to_owned()));
    assert_eq!(check(&words[..8], NONCE), Err("it is not an arena".to_owned()));
    assert!(read(b"").is_err() && read(&[0; 8192]).is_err());
}

#[test]
fn an_image_holds_its_recordings() {
    let (one, mut other) = (specimen::recording(), specimen::recording());
    (other.process.pid, other.process.ending) = (10, Ending::Exec);
    (other.process.host, other.process.rank) = (None, Some(Rank { rank: 0, ranks: None }));
    let read = read(&image_of(&[one.clone(), other.clone()])).expect("an arena");
    assert_eq!(read, [one, other]);
}

fn living() -> Vec<u8> {
    static LIVING: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let words = arena(64);
        life(words);
        copied(&[words]).iter().flat_map(|word| word.to_le_bytes()).collect()
    });
    LIVING.clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_is_cut_short_is_read_or_refused(length in 0usize..64 * PAGE) {
        let mut bytes = living();
        bytes.truncate(length);
        if let Ok(recordings) = read(&bytes) {
            prop_assert!(recordings.len() <= 2);
        }
    }

    #[test]
    fn what_is_written_over_is_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0u32..64), 1..40)
    ) {
        let mut bytes = living();
        for (at, value, shift) in changes {
            // Small numbers as well, like those of lengths and places.
            let at = at.index(bytes.len() / 8) * 8;
            bytes[at..at + 8].copy_from_slice(&(value >> shift).to_le_bytes());
        }
        if let Ok(recordings) = read(&bytes) {
            prop_assert!(recordings.len() <= 64);
            for recording in recordings {
                let rows = recording.regions.iter().flat_map(|region| &region.rows);
                prop_assert!(rows.into_iter().all(|row| row.counts.len() == recording.events.len()));
            }
        }
    }
}
