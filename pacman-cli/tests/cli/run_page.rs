//! `run`'s page: what is in the file, and what a browser makes of it.

use std::process::{Command, Stdio};

use pacman_suite::skipped;

use super::run_report::report;
use super::scratch::Scratch;
use super::text;

#[test]
fn the_page_is_whole_in_itself_and_its_text_is_only_text() {
    let Some((page, _)) = report("html", &["--adapt"]) else { return };
    for foreign in ["http:", "https:", "//cdn", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    for part in [
        "40 % of 10.0 s in 2 regions; the most is lost in <em>solver+0x20</em>: its threads wait 50 % of the time.",
        "lab::Grid&lt;int&gt;::inner, line 7",
        "2 are best &amp; &lt;fast&gt;",
        "guard query",
        "<p class=\"outcome\">Adaptation: all of 2 regions kept their threads.</p>",
        "<td>2<small>2 cores x 1</small></td><td><b class=\"loss\">-250 ms</b></td>",
        ">keeps 2 threads</span>",
        "LLC_MISSES was not counted: no such counter here",
        "<dd>exit status 3</dd>",
        "1.750",
    ] {
        assert!(page.contains(part), "lacks {part:?}");
    }
    assert!(!page.contains("Grid<int>"), "a name is no element");
    assert_eq!(page.matches("class=\"region\"").count(), 2);
    assert_eq!(page.matches("<path class=\"area ").count(), 1);
    assert_eq!(page.matches("<article class=\"panel\"").count(), 2);
    assert_eq!(page.matches("<span class=\"who\">").count(), 3, "a bar a thread");
}

#[test]
fn a_browser_runs_the_page() {
    let browsers = ["chromium-headless-shell", "chromium", "google-chrome"];
    let there = |name: &&str| {
        let mut version = Command::new(name);
        version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        version.status().is_ok_and(|status| status.success())
    };
    let Some(browser) = browsers.into_iter().find(there) else {
        skipped("no headless Chromium");
        return;
    };
    let Some((page, _)) = report("html", &[]) else { return };
    let scratch = Scratch::new();
    let path = scratch.file("report.html", &page);
    let answer = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--user-data-dir={}", scratch.path("profile").display()))
        .arg(format!("file://{}", path.display()))
        .output()
        .expect("it was there a moment ago");
    let dom = text(&answer.stdout);
    assert!(
        dom.contains("data-regions=\"2\""),
        "the script ran to its end: {}",
        text(&answer.stderr)
    );
    assert_eq!(
        dom.matches("data-region=\"0\" aria-pressed=\"true\"").count(),
        1,
        "the longest region is chosen"
    );
    assert_eq!(dom.matches("class=\"panel chosen\"").count(), 1);
}
