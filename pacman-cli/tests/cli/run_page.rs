//! `run`'s page: what is in the file, and what a browser makes of it.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::available_parallelism;

use pacman_suite::browser;
use serde_json::Value;

use super::run_report::{report, report_of};
use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Opens a page and waits until it is drawn.
pub(super) fn open(page: &str, size: (u32, u32), probe: &str) -> Option<Value> {
    browser::open(page, size, "document.documentElement.dataset.ready", probe)
}

/// The text of a drawn page; `None` without a browser.
pub(super) fn drawn(page: &str) -> Option<String> {
    let probe = "seen.text = document.getElementById('main').innerText.replace(/\u{a0}/g, ' ');";
    Some(open(page, (1280, 800), probe)?["text"].as_str().expect("text").to_owned())
}

/// The document in a page.
fn document(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"document\" data-form=\"json\">").expect("a document");
    serde_json::from_str(rest.split_once("</script>").expect("an end").0).expect("JSON")
}

#[test]
fn the_page_is_whole_in_itself_and_its_text_is_only_text() {
    let Some((page, _)) = report("html", &["--adapt", "--narrow"]) else { return };
    // The name of SVG is no address that anything is loaded from.
    let own = page.replace("http://www.w3.org/2000/svg", "");
    for foreign in ["http:", "https:", "//cdn", "src=", "@import", "url(", "innerHTML", "eval("] {
        assert!(!own.contains(foreign), "{foreign}");
    }
    assert!(!page.contains("Grid<int>"), "a name is no element");
    let probe = "
        seen.text = document.getElementById('main').innerText;
        seen.regions = document.querySelectorAll('button.region').length;
        seen.areas = document.querySelectorAll('path.area').length;
        seen.bars = document.querySelectorAll('.panel .who').length;";
    let Some(seen) = open(&page, (1280, 800), probe) else { return };
    let said = seen["text"].as_str().expect("text").replace('\u{a0}', " ");
    for part in [
        "40 % of 10.0 s in 2 regions; the most is lost in solver+0x20: its threads wait 50 % of the time.",
        "lab::Grid<int>::inner, line 7",
        "2 are best & <fast>",
        "Adaptation: all of 2 regions kept their threads.",
        "2 cores x 1",
        "-250 ms",
        "keeps 2 threads",
        "LLC_MISSES was not counted: no such counter here",
        "exit status 3",
        "1.750",
        ">=1,000",
        "--waits adds them",
    ] {
        assert!(said.contains(part), "lacks {part:?}: {said}");
    }
    assert_eq!(
        (&seen["regions"], &seen["areas"], &seen["bars"]),
        (&2.into(), &1.into(), &2.into())
    );
}

/// The demands on every page at every width.
const LAYOUT: &str = "
    seen.ready = document.documentElement.dataset.ready;
    seen.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    const low = function (name) { return document.querySelector(name).getBoundingClientRect().bottom; };
    seen.verdict = low('h1');
    seen.tree = low('.factors.product');
    seen.states = low('.panel.chosen .cores');";

const SIZES: [(u32, u32); 4] = [(390, 844), (800, 600), (1280, 800), (1920, 1080)];

/// The first screen has verdict, tree and states.
fn lies_well(page: &str) {
    for size in SIZES {
        let Some(seen) = open(page, size, LAYOUT) else { return };
        assert_eq!((&seen["ready"], &seen["overflow"]), (&"yes".into(), &0.into()), "{size:?}");
        let is_above = |part: &str| seen[part].as_f64().expect("a place") <= f64::from(size.1);
        // A narrow screen has them one below the other.
        let parts = if size.0 <= 800 { &["verdict"][..] } else { &["verdict", "tree", "states"] };
        assert!(parts.iter().all(|part| is_above(part)), "{size:?}: {seen}");
    }
}

#[test]
fn a_browser_runs_the_page() {
    let Some((page, _)) = report("html", &[]) else { return };
    let probe = "
        seen.chosen = document.querySelector('.panel.chosen').dataset.of;
        seen.threads = document.querySelectorAll('table.threads tbody tr').length;
        const list = document.querySelector('.chooser select');
        seen.options = list.options.length;
        list.value = '1';
        list.dispatchEvent(new Event('change'));
        seen.other = document.querySelector('.panel.chosen').dataset.of;
        document.querySelector('[data-choose=\"0\"]').click();
        seen.back = document.querySelector('.panel.chosen').dataset.of;
        seen.current = document.querySelector('[aria-current]').dataset.choose;";
    let Some(seen) = open(&page, (1280, 800), probe) else { return };
    assert_eq!(seen["chosen"], "0", "the region with the most lost time is chosen");
    assert_eq!(seen["threads"], 2);
    assert_eq!((&seen["options"], &seen["other"]), (&2.into(), &"1".into()));
    assert_eq!((&seen["back"], &seen["current"]), (&"0".into(), &"0".into()));
}

#[test]
fn the_timeline_zooms_and_tables_sort() {
    let Some((page, _)) = report("html", &[]) else { return };
    let probe = "
        const timeline = document.querySelector('.timeline'), box = timeline.querySelector('.area-box');
        const view = function () { return [Number(timeline.dataset.from), Number(timeline.dataset.to)]; };
        const press = function (key, shift) {
          box.dispatchEvent(new KeyboardEvent('keydown', { key: key, shiftKey: Boolean(shift), bubbles: true }));
        };
        const edge = box.getBoundingClientRect();
        const wheel = function (by) {
          return box.dispatchEvent(new WheelEvent('wheel', {
            deltaY: by, clientX: edge.left, clientY: edge.top + 9, cancelable: true,
          }));
        };
        seen.all = view();
        seen.scrolls = wheel(-1);
        seen.unfocused = view();
        box.focus();
        seen.zooms = !wheel(-1);
        seen.wheel = view();
        press('0');
        seen.reset = view();
        timeline.querySelector('[data-do=in]').click();
        seen.button = view();
        press('ArrowRight', true);
        seen.later = view();
        seen.box = timeline.querySelector('svg').getAttribute('viewBox');
        press('-');
        press('Home');
        press('ArrowRight');
        seen.readout = timeline.querySelector('.readout').textContent;
        seen.tip = timeline.querySelector('.tip').hidden;
        const table = document.querySelector('table.regions'), heading = table.tHead.rows[0].cells[3];
        const order = function () {
          return Array.from(table.tBodies[0].rows).map(function (row) { return row.cells[3].textContent; });
        };
        seen.before = order();
        heading.querySelector('button').click();
        seen.descending = [order(), heading.getAttribute('aria-sort')];
        heading.querySelector('button').click();
        seen.ascending = [order(), heading.getAttribute('aria-sort')];
        table.tHead.rows[0].cells[4].querySelector('button').click();
        seen.unsorted = heading.getAttribute('aria-sort');
        const wide = table.parentNode, first = table.tBodies[0].rows[0].cells[0];
        wide.scrollLeft = 150;
        seen.scrolled = wide.scrollLeft;
        seen.stays = first.getBoundingClientRect().left - wide.getBoundingClientRect().left;";
    // 40 bins of half a second, so that there is something to zoom into.
    let Some(seen) = open(&long(&page), (390, 844), probe) else { return };
    let span = |name: &str| -> (f64, f64) {
        let at = |place: usize| seen[name][place].as_f64().expect("a place");
        (at(0), at(1))
    };
    assert_eq!((span("all"), &seen["scrolls"]), ((0.0, 40.0), &true.into()), "{seen}");
    assert_eq!(span("unfocused"), (0.0, 40.0), "the wheel scrolls the page");
    assert_eq!((span("wheel"), &seen["zooms"]), ((0.0, 32.0), &true.into()), "at the pointer");
    assert_eq!(span("reset"), (0.0, 40.0));
    assert_eq!((span("button"), span("later")), ((10.0, 30.0), (15.0, 35.0)));
    assert_eq!(seen["box"], "15 0 20 100");
    assert_eq!(seen["readout"], "From 500 ms for 500 ms: solver+0x20: 2 threads");
    assert_eq!(seen["tip"], false);
    assert_eq!(seen["before"], serde_json::json!(["100", "50"]));
    assert_eq!(seen["descending"], serde_json::json!([["100", "50"], "descending"]));
    assert_eq!(seen["ascending"], serde_json::json!([["50", "100"], "ascending"]));
    assert_eq!((&seen["unsorted"], &seen["scrolled"]), (&Value::Null, &150.into()));
    assert_eq!(seen["stays"], 0, "the first column stays");
}

/// The page with a longer timeline.
fn long(page: &str) -> String {
    let mut own = document(page);
    let before = serde_json::to_string(&own).expect("JSON");
    let row = &mut own["processes"][0]["timeline"]["rows"][0];
    // One thread for each bin of half a second.
    row["thread_time_s"] = vec![1.0; 40].into();
    let after = serde_json::to_string(&own).expect("JSON").replace('<', "\\u003c");
    let (head, rest) = page.split_once("data-form=\"json\">").expect("a document");
    let (_, tail) = rest.split_once("</script>").expect("an end");
    assert_ne!(before, after);
    format!("{head}data-form=\"json\">{after}</script>{tail}")
}

/// Programs whose waits these tests time run one after the other.
static ALONE: Mutex<()> = Mutex::new(());

/// The page of a program that has one defect. The machine may be busy with other tests, so that
/// the verdict must be `expected` in one of several runs; else it is that the machine was busy.
fn page_of(source: &str, expected: &str) -> Option<String> {
    let _alone = ALONE.lock();
    let scratch = Scratch::new();
    let program = scratch.compile("gcc", &["-g", "-O1", "-fopenmp"], source)?;
    let mut page = String::new();
    for _ in 0..3 {
        page = observed(&scratch, &program);
        let verdict = verdict(&page);
        if verdict == expected {
            break;
        }
        assert_eq!(verdict, "busy-machine", "instead of {expected}");
    }
    Some(page)
}

fn observed(scratch: &Scratch, program: &Path) -> String {
    let path = scratch.path("report.html");
    let mut command = pacman_pmu(&["run", "--waits", "-e", "task-clock", "-o"]);
    command.arg(&path).arg("--").arg(program).env("OMP_NUM_THREADS", "2").stdout(Stdio::null());
    let answer = command.output().expect("it runs");
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    fs::read_to_string(&path).expect("a report")
}

fn verdict(page: &str) -> String {
    document(page)["headline"]["kind"].as_str().unwrap_or_default().to_owned()
}

fn headline(page: &str) -> String {
    document(page)["headline"]["text"].as_str().expect("a sentence").to_owned()
}

fn help(page: &str) -> String {
    document(page)["headline"]["help"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn uneven_work_is_named_on_the_first_screen() {
    let Some(page) = page_of(include_str!("page/imbalance.c"), "imbalance") else { return };
    if verdict(&page) == "imbalance" {
        let said = headline(&page);
        assert!(said.contains("solve, line "), "{said}");
        assert!(said.contains("threads wait at a barrier, source.c:"), "{said}");
    }
    lies_well(&page);
}

#[test]
fn a_lock_is_named_on_the_first_screen() {
    let Some(page) = page_of(include_str!("page/lock.c"), "lock") else { return };
    if verdict(&page) == "lock" {
        let said = headline(&page);
        assert!(said.contains("count, line "), "{said}");
        assert!(said.contains("threads wait for a lock, source.c:"), "{said}");
    }
    lies_well(&page);
}

/// Programs beside the observed one, until they are dropped.
struct Others(Vec<Child>);

impl Drop for Others {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().and_then(|()| child.wait()).expect("it is this test's child");
        }
    }
}

#[test]
fn a_busy_machine_is_named_and_the_program_is_not_blamed() {
    let scratch = Scratch::new();
    let flags = ["-g", "-O1", "-fopenmp"];
    let Some(program) = scratch.compile("gcc", &flags, include_str!("page/even.c")) else { return };
    let alone = ALONE.lock();
    let processors = available_parallelism().expect("a number").get();
    let spin = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell");
    let others = Others((0..2 * processors).map(|_| spin()).collect());
    let page = observed(&scratch, &program);
    drop((others, alone));
    assert_eq!(verdict(&page), "busy-machine", "{}", headline(&page));
    let probe = "
        seen.share = document.querySelectorAll('li.beside.worst').length;
        seen.factors = document.querySelectorAll('li.factor.worst').length;";
    if let Some(seen) = open(&page, (1280, 800), probe) {
        assert_eq!((&seen["share"], &seen["factors"]), (&1.into(), &0.into()), "{seen}");
    }
    lies_well(&page);
}

/// Two of four threads share a core of a machine with eight.
#[test]
fn shared_cores_are_named_on_the_first_screen() {
    let recording = include_str!("page/siblings.json");
    let answer = report_of(recording, "html", &["--machine", "zen4"]);
    let Some((page, _)) = answer else { return };
    assert_eq!(verdict(&page), "shared-cores");
    let said = headline(&page);
    assert!(said.contains("T0 and T1 share a core while 5 cores are idle"), "{said}");
    let probe = "seen.shared = document.querySelectorAll('.panel .core.shared').length;";
    if let Some(seen) = open(&page, (1280, 800), probe) {
        assert_eq!(seen["shared"], 1);
    }
    lies_well(&page);
}

/// Half of the slots of each thread go to its sibling; with a core to itself it would use them.
#[test]
fn siblings_that_compete_for_a_core_are_named_on_the_first_screen() {
    let recording = include_str!("page/contention.json");
    let answer = report_of(recording, "html", &["--machine", "zen4"]);
    let Some((page, _)) = answer else { return };
    assert_eq!(verdict(&page), "smt-contention");
    let said = headline(&page);
    let slots = "in digest, line 18, hash.c:18: 50 % of their issue slots go to the sibling";
    assert!(said.contains(slots) && said.contains("SMT off pays, 1.00 to 1."), "{said}");
    let expected = "To help: run one thread a core, by OMP_NUM_THREADS=2 OMP_PLACES=cores.";
    assert_eq!(help(&page), expected);
    lies_well(&page);
    for size in [(800, 600), (1280, 800), (1920, 1080)] {
        let probe = "
            const slots = document.querySelector('.slots .cores').getBoundingClientRect();
            seen.low = slots.bottom;
            seen.high = slots.top;";
        let Some(seen) = open(&page, size, probe) else { break };
        let at = |edge: &str| seen[edge].as_f64().expect("a place");
        let height = f64::from(size.1);
        assert!(
            0.0 < at("high") && at("high") < at("low") && at("low") < height,
            "{size:?}: {seen}"
        );
    }
    let probe = "
        const section = document.querySelector('.slots');
        const part = section.querySelector('.part.s-smt'), track = part.parentNode;
        seen.cores = section.querySelectorAll('.core.shared').length;
        seen.label = track.getAttribute('aria-label');
        const colour = function (name) {
          return getComputedStyle(section.querySelector(name)).background;
        };
        seen.own = ['useful', 'barrier', 'worksharing', 'ordered'].every(function (state) {
          return colour('.part.s-' + state) !== colour('.part.s-smt');
        });
        seen.share = part.getBoundingClientRect().width / track.getBoundingClientRect().width;";
    if let Some(seen) = open(&page, (1280, 800), probe) {
        assert_eq!((&seen["cores"], &seen["own"]), (&2.into(), &true.into()));
        let label = "T0: retiring 40 %, backend 3.0 %, frontend 5.0 %, bad speculation 2.0 %, SMT contention 50 %";
        assert_eq!(seen["label"], label);
        let share = seen["share"].as_f64().expect("a number");
        assert!((share - 0.5).abs() < 0.01, "half of the bar: {share}");
    }
    // Without waits, too; and not where each thread leaves slots that the other one fills.
    let untimed = recording
        .replace("\"states\"", "\"other\"")
        .replace("\"waits\": {\"sites\"", "\"other\": {\"sites\"");
    let answer = report_of(&untimed, "html", &["--machine", "zen4"]);
    assert_eq!(verdict(&answer.expect("as above").0), "smt-contention");
    let little = recording.replace("75000000000", "15000000000");
    let answer = report_of(&little, "html", &["--machine", "zen4"]);
    assert_eq!(verdict(&answer.expect("as above").0), "little");
}
