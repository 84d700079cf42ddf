//! A page in a real browser without a screen.

use std::fs;
use std::process::{Command, Stdio};

use pacman_suite::skipped;
use serde_json::Value;

use super::scratch::Scratch;
use super::text;

/// Opens the page in a frame of that size and runs `probe`, the body of a function that fills
/// `seen`. Answers `seen`, with `errors` of scripts and the `loaded` resources. `None`, said aloud,
/// without a browser.
pub(super) fn open(page: &str, (width, height): (u32, u32), probe: &str) -> Option<Value> {
    let Some(browser) = BROWSERS.into_iter().find(runs) else {
        skipped("no headless Chromium");
        return None;
    };
    let scratch = Scratch::new();
    let probed = page.replacen("<head>", &format!("<head>{WATCH}"), 1);
    let probe = PROBE.replace("/* probe */", probe);
    let probed = probed.replacen("</body>", &format!("{probe}</body>"), 1);
    fs::write(scratch.path("report.html"), probed).expect("a file");
    // A window of Chromium's is at least 500 pixels wide; a frame has any width.
    let frame = format!(
        "<!doctype html><body><iframe src=\"report.html\" width=\"{width}\" height=\"{height}\" \
         style=\"border: 0\"></iframe></body>"
    );
    let path = scratch.file("frame.html", &frame);
    let answer = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        // The frame's script answers in the document around it.
        .arg("--allow-file-access-from-files")
        .arg(format!("--user-data-dir={}", scratch.path("profile").display()))
        .arg(format!("file://{}", path.display()))
        .output()
        .expect("it was there a moment ago");
    let dom = text(&answer.stdout);
    let seen = dom.split_once(BEGIN).and_then(|(_, rest)| rest.split_once("</script>"));
    let seen = seen.unwrap_or_else(|| panic!("the probe ran: {}", text(&answer.stderr))).0;
    let seen: Value = serde_json::from_str(seen).expect("JSON");
    assert_eq!(seen["width"], width, "the frame is as wide as was asked for");
    assert_eq!(seen["errors"], Value::Array(Vec::new()), "scripts ran without an error");
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

const WATCH: &str = "<script>window.errors = [];
window.addEventListener('error', function (event) { window.errors.push(event.message); });</script>";

const PROBE: &str = "<script>window.addEventListener('load', function () {
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
});</script>";
