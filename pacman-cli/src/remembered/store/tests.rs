//! Tests of `store`.

use super::*;

fn key(program: &str) -> ProgramKey {
    ProgramKey {
        program: program.to_owned(),
        build_id: "abc".to_owned(),
        machine: "a machine".to_owned(),
    }
}

fn region(number: u32, default_cost: f64) -> RegionMemory {
    RegionMemory {
        region: format!("abc+{number:#x}"),
        name: String::new(),
        arguments: String::new(),
        threads: 2,
        placed: false,
        objective: "time".to_owned(),
        default_cost,
        ratios: vec![("1".to_owned(), 0.5)],
        executions: 10,
        runs: 1,
    }
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let scratch = tempfile::tempdir().expect("a directory");
    let store = Store { directory: scratch.path().join("a/b") };
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..25 {
                    let region = region(100 * writer + number, 1.0);
                    store.add(&key("program"), vec![region], None).expect("it is written");
                }
            });
        }
    });
    let all = store.all().expect("it is read");
    let [Kept { memory: Ok(memory), .. }] = &all[..] else { panic!("{} files", all.len()) };
    assert_eq!(memory.regions.len(), 100);
    store.add(&key("program"), vec![region(7, 1.1)], None).expect("it is written");
    let memory = ProgramMemory::read_in(&store.directory, &key("program")).expect("it is there");
    assert_eq!((memory.regions.len(), memory.regions[99].runs), (100, 2), "the same work");
}

#[test]
fn damage_is_replaced_and_the_oldest_files_go() {
    let scratch = tempfile::tempdir().expect("a directory");
    let store = Store { directory: scratch.path().to_owned() };
    assert!(store.all().expect("nothing is there").is_empty());
    for number in 0..MOST_FILES + 3 {
        let file = scratch.path().join(format!("{number}.json"));
        fs::write(&file, "{").expect("it is written");
        let changed = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number as u64);
        File::open(&file).and_then(|file| file.set_modified(changed)).expect("it is set");
    }
    fs::write(scratch.path().join(key("program").file_name()), "{").expect("it is written");
    store.add(&key("program"), vec![region(1, 1.0)], None).expect("it is replaced");
    let all = store.all().expect("it is read");
    assert_eq!(all.len(), MOST_FILES);
    assert_eq!(all[0].memory.as_ref().map(|memory| memory.regions.len()), Ok(1));
    assert!(all[1..].iter().all(|kept| kept.memory.is_err()));
    assert!(!scratch.path().join("3.json").exists() && scratch.path().join("4.json").exists());
}

#[test]
fn a_link_in_place_of_the_lock_is_not_followed() {
    let scratch = tempfile::tempdir().expect("a directory");
    let (inside, outside) = (scratch.path().join("memory"), scratch.path().join("other"));
    fs::create_dir(&inside).expect("made");
    std::os::unix::fs::symlink(&outside, inside.join(LOCK)).expect("made");
    let store = Store { directory: inside };
    let why = store.add(&key("program"), vec![region(1, 1.0)], None).expect_err("it is refused");
    assert!(why.starts_with("cannot keep") && why.contains("--no-memory"), "{why}");
    assert!(!outside.exists());
}
