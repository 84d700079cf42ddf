//! Bad input: the kind a program branches on and the line a person reads.

use pacman_core::{Error, ErrorKind, Placement, Session, Topology};

use crate::session;

fn assert_says(error: &Error, kind: ErrorKind, line: &str) {
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, line));
}

#[test]
fn an_unknown_event_names_its_neighbours() {
    let error = Session::builder("typo").events("page-faultz").start().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownEvent);
    let text = error.to_string();
    assert!(text.starts_with("cannot count \"page-faultz\""), "{text}");
    assert!(text.contains("page-faults"), "{text}");
}

#[test]
fn an_empty_list_is_refused() {
    assert_says(
        &Session::builder("nothing").start().unwrap_err(),
        ErrorKind::Empty,
        "cannot count an empty list of events; name at least one, such as task-clock",
    );
}

#[test]
fn more_events_than_a_session_holds() {
    let many: Vec<String> = (1..=25).map(|code| format!("r{code:04x}")).collect();
    let many = many.join(",");
    let error = Session::builder("many").events(&many).start().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooManyEvents);
    let text = error.to_string();
    let line = "cannot count 25 events at once: 24 is the most; split them over several sessions \
                or runs";
    // Where there are counters for some of them, the line goes on with the sets it takes.
    let (start, rest) = text.split_at(line.len());
    assert_eq!(start, line);
    assert!(
        rest.is_empty()
            || rest.starts_with("; by rotation of event sets (rotate_event_sets) a session "),
        "{text}"
    );
}

#[test]
fn an_event_twice() {
    let twice = Session::builder("twice over").events("cs,task-clock,context-switches");
    assert_says(
        &twice.start().unwrap_err(),
        ErrorKind::InvalidInput,
        "cannot count context-switches twice in session \"twice over\"; name it once",
    );
}

#[test]
fn a_second_session_of_the_same_name() {
    let first = session("twice", "task-clock");
    let again = || Session::builder("twice").events("task-clock").start();
    assert_says(
        &again().unwrap_err(),
        ErrorKind::DuplicateSession,
        "cannot start session \"twice\": one of that name is open in this process; close it or choose another name",
    );
    drop(first);
    again().unwrap();
}

#[test]
fn a_name_is_one_line() {
    for name in ["", "  ", "two\nlines"] {
        let error = Session::builder(name).events("task-clock").start().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name:?}");
        assert!(!error.to_string().contains('\n'));
    }
    let open = session("one-line", "task-clock");
    assert_says(
        &open.phase("").unwrap_err(),
        ErrorKind::InvalidInput,
        "cannot name a phase \"\" in session \"one-line\": a name is one line of text, not empty",
    );
}

#[test]
fn a_place_that_is_not_there_or_not_ours() {
    let here = Topology::detect().unwrap();
    assert_says(
        &Session::builder("nowhere")
            .events("task-clock")
            .placement(Topology::synthetic("2 cores, 2 threads").unwrap(), Placement::Compact)
            .start()
            .unwrap_err(),
        ErrorKind::ForeignTopology,
        "cannot place threads of session \"nowhere\": the topology is synthetic \"2 cores, 2 threads\", not this system's; use Topology::detect",
    );
    let missing = Placement::List(vec![99_999]);
    let error = Session::builder("missing").events("task-clock").placement(here, missing);
    assert_eq!(error.start().unwrap_err().kind(), ErrorKind::NoSuchPlace);
}

#[test]
fn siblings_where_there_are_none() {
    let here = Topology::detect().unwrap();
    if here.contexts_per_core() > 1 {
        pacman_suite::skipped("cores with siblings");
        return;
    }
    let together = Session::builder("together")
        .events("task-clock")
        .placement(here, Placement::SiblingsTogether);
    assert_says(
        &together.start().unwrap_err(),
        ErrorKind::NoSuchPlace,
        "cannot place threads siblings-together: no core that this process may use has two contexts; use compact",
    );
}

#[test]
fn more_threads_than_places() {
    let here = Topology::detect().unwrap();
    let cpu = here.allowed().first().unwrap();
    let narrow = Session::builder("narrow")
        .events("task-clock")
        .placement(here, Placement::List(vec![cpu]))
        .start()
        .unwrap();
    std::thread::scope(|scope| {
        scope
            .spawn(|| {
                let _first = narrow.attach().unwrap();
                let second = std::thread::scope(|inner| {
                    inner.spawn(|| narrow.attach().map(drop)).join().unwrap()
                });
                assert_says(
                    &second.unwrap_err(),
                    ErrorKind::NoSuchPlace,
                    &format!(
                        "cannot attach another thread to session \"narrow\": all 1 places of {cpu} are taken; detach a thread or choose a placement with more places"
                    ),
                );
            })
            .join()
            .unwrap();
        // The first thread has left its place.
        scope.spawn(|| drop(narrow.attach().unwrap())).join().unwrap();
    });
}

#[test]
fn ends_that_do_not_match_their_begins() {
    let open = session("order", "task-clock");
    let (a, b) = (open.phase("a").unwrap(), open.phase("b").unwrap());
    let thread = open.attach().unwrap();
    assert_says(
        &thread.end(a).unwrap_err(),
        ErrorKind::PhaseOrder,
        "cannot end phase \"a\" on thread 0: it was not begun; begin it first",
    );
    thread.begin(a).unwrap();
    thread.begin(b).unwrap();
    assert_says(
        &thread.end(a).unwrap_err(),
        ErrorKind::PhaseOrder,
        "cannot end phase \"a\" on thread 0: another phase was begun later and is still open; end \"b\" first",
    );
    // Nothing was lost by the mistakes.
    thread.end(b).unwrap();
    thread.end(a).unwrap();
    let report = open.report();
    assert!(report.threads[0].phases.iter().all(|phase| phase.executions == 1));
}

#[test]
fn a_thread_that_is_not_attached() {
    let open = session("detached", "task-clock");
    let phase = open.phase("phase").unwrap();
    assert_says(
        &open.begin(phase).unwrap_err(),
        ErrorKind::NotAttached,
        "cannot begin a phase on this thread: it is not attached to session \"detached\"; attach it first",
    );
    assert_says(
        &open.end(phase).unwrap_err(),
        ErrorKind::NotAttached,
        "cannot end a phase on this thread: it is not attached to session \"detached\"; attach it first",
    );
    assert_says(
        &open.detach_current_thread().unwrap_err(),
        ErrorKind::NotAttached,
        "cannot detach on this thread: it is not attached to session \"detached\"; attach it first",
    );
    open.attach_current_thread().unwrap();
    assert_says(
        &open.attach_current_thread().unwrap_err(),
        ErrorKind::AlreadyAttached,
        "cannot attach this thread to session \"detached\": it is attached already; detach it first",
    );
    assert_eq!(
        open.with_current_thread(|_| open.detach_current_thread().unwrap_err().kind()).unwrap(),
        ErrorKind::NotAttached,
        "an attachment in use stays"
    );
    open.detach_current_thread().unwrap();
}

#[test]
fn a_phase_of_another_session() {
    let (one, two) = (session("one", "task-clock"), session("two", "task-clock"));
    let phase = one.phase("phase").unwrap();
    let thread = two.attach().unwrap();
    assert_says(
        &thread.begin(phase).unwrap_err(),
        ErrorKind::InvalidInput,
        "cannot use this phase in session \"two\": it belongs to another session; define it with this session's phase()",
    );
}

#[test]
fn a_closed_session_takes_no_more_threads_but_keeps_the_old() {
    let open = session("closing", "task-clock");
    let phase = open.phase("phase").unwrap();
    let other_handle = open.clone();
    let thread = open.attach().unwrap();
    drop(open);
    thread.run(phase, || ()).unwrap();
    assert_eq!(other_handle.report().threads[0].phases[0].executions, 1);
    drop(thread);
}

#[test]
fn hardware_events_without_hardware_say_why() {
    // Whatever this machine has: either it counts, or the reason is one of these.
    match Session::builder("hardware").events("INSTRUCTIONS").start() {
        Ok(open) => {
            let phase = open.phase("phase").unwrap();
            let thread = open.attach().unwrap();
            thread.run(phase, || std::hint::black_box((0..10_000u64).sum::<u64>())).unwrap();
            assert!(open.report().threads[0].phases[0].counts[0].raw.sum > 10_000);
        }
        Err(error) => {
            let kinds = [ErrorKind::NoPmu, ErrorKind::Permission, ErrorKind::NotScheduled];
            assert!(kinds.contains(&error.kind()), "{error:?}");
            assert!(error.to_string().starts_with("cannot open INSTRUCTIONS"), "{error}");
        }
    }
}

#[test]
fn registers_want_places_and_hardware_events() {
    use pacman_events::partition::Partition;
    let builder = |name: &str| Session::builder(name).events("task-clock");
    assert_says(
        &builder("adrift").registers(Partition::Even).start().unwrap_err(),
        ErrorKind::InvalidInput,
        "cannot count by registers in session \"adrift\" without places: counts are those of the context a thread is bound to; give the session a placement",
    );
    let here = Topology::detect().unwrap();
    let placed = builder("soft").placement(here, Placement::Compact);
    assert_says(
        &placed.registers(Partition::Even).start().unwrap_err(),
        ErrorKind::Unsupported,
        "cannot count task-clock by registers: the kernel counts it; leave it out",
    );
}
