//! A page in a real browser without a screen.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::skipped;

/// Opens the page in a frame of that size and, once `until` is true in the page, runs `probe`, the body of a function
/// that fills `seen`. Answers `seen`, with `errors` of scripts and the `loaded` resources. `None`, said aloud, without
/// a browser.
pub fn open(page: &str, (width, height): (u32, u32), until: &str, probe: &str) -> Option<Value> {
    let Some(browser) = BROWSERS.into_iter().find(runs) else {
        skipped("no headless Chromium");
        return None;
    };
    let scratch = tempfile::tempdir().expect("a directory for a test");
    let probed = page.replacen("<head>", &format!("<head>{WATCH}"), 1);
    let probe = PROBE.replace("/* probe */", probe).replace("/* until */", until);
    let probed = probed.replacen("</body>", &format!("{probe}</body>"), 1);
    fs::write(scratch.path().join("report.html"), probed).expect("a file");
    let path = scratch.path().join("frame.html");
    let size = format!("width=\"{width}\" height=\"{height}\"");
    fs::write(&path, FRAME.replace("/* size */", &size)).expect("a file");
    let answer = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .args(["--disable-quic", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync"])
        // The frame's script answers in the document around it.
        .arg("--allow-file-access-from-files")
        .arg(format!("--user-data-dir={}", scratch.path().join("profile").display()))
        .arg(format!("file://{}", path.display()))
        .output()
        .expect("it was there a moment ago");
    let dom = String::from_utf8_lossy(&answer.stdout);
    let seen = dom.split_once(BEGIN).and_then(|(_, rest)| rest.split_once("</script>"));
    let said = || String::from_utf8_lossy(&answer.stderr).into_owned();
    let seen = seen.unwrap_or_else(|| panic!("the probe ran: {}", said())).0;
    let seen: Value = serde_json::from_str(seen).expect("JSON");
    assert_eq!(seen["errors"], Value::Array(Vec::new()), "scripts ran without an error");
    assert_eq!(seen["width"], width, "the frame is as wide as was asked for");
    assert_eq!(seen["loaded"], 0, "the page loads nothing");
    Some(seen)
}

fn runs(name: &&str) -> bool {
    let mut version = Command::new(name);
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

const BROWSERS: [&str; 3] = ["chromium-headless-shell", "chromium", "google-chrome"];
const BEGIN: &str = "<script type=\"application/json\" id=\"seen\">";

/// A window of Chromium's is at least 500 pixels wide; a frame has any width. The browser shows the document once it is
/// loaded, and a document that is still being written keeps it from that until the probe has answered.
const FRAME: &str = "<!doctype html><body><iframe id=\"wait\"></iframe><script>
const wait = document.getElementById('wait').contentDocument;
wait.open();
wait.write('waits');
window.answered = function () { wait.close(); };
</script><iframe src=\"report.html\" /* size */ style=\"border: 0\"></iframe></body>";

const WATCH: &str = "<script>window.errors = [];
window.addEventListener('error', function (event) { window.errors.push(event.message); });
window.addEventListener('unhandledrejection', function (event) { window.errors.push(String(event.reason)); });
</script>";

const PROBE: &str = "<script>window.addEventListener('load', function () {
  const begun = Date.now();
  function answer() {
    const seen = {};
    try {
      /* probe */
    } catch (error) { window.errors.push('probe: ' + error); }
    seen.width = window.innerWidth;
    seen.loaded = performance.getEntriesByType('resource').length;
    seen.errors = window.errors;
    const out = document.createElement('script');
    out.type = 'application/json';
    out.id = 'seen';
    out.textContent = JSON.stringify(seen).replace(/</g, '\\\\u003c');
    window.parent.document.body.append(out);
    window.parent.answered();
  }
  const timer = setInterval(function () {
    if (Date.now() - begun > 30000) window.errors.push('waited for: /* until */');
    if (window.errors.length === 0 && !(/* until */)) return;
    clearInterval(timer);
    answer();
  }, 5);
});</script>";
