//! Files that are written as a whole, in directories that others may write to, too.

use std::fs;
use std::process::Command;

use super::scratch::Scratch;
use super::text;

/// Four programs at four configurations.
fn data() -> String {
    let rows = (1..=4).flat_map(|app| [1, 2, 4, 8].map(|on| format!("m,{app},{on},{app}.{on}\n")));
    format!("machine,app,threads,time_s\n{}", rows.collect::<String>())
}

#[test]
fn links_prepared_beside_the_answer_lead_nowhere() {
    let place = Scratch::new();
    place.file("victim", "the user's");
    place.file("data.csv", &data());
    // A process knows its number before it becomes the command.
    let script = "ln -s victim model.json.$$ && ln -s victim model.json.$$.part &&
                  exec \"$0\" train data.csv --samples 1 -o model.json";
    let command = env!("CARGO_BIN_EXE_pacman-train");
    let done = Command::new("sh")
        .args(["-c", script, command])
        .current_dir(place.path(""))
        .output()
        .expect("a shell");
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(fs::read_to_string(place.path("victim")).unwrap(), "the user's");
    let model = fs::symlink_metadata(place.path("model.json")).unwrap();
    assert!(model.is_file(), "the answer is a file of its own: {model:?}");
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 5, "nothing was deleted or left");
}

#[test]
fn standard_output_is_a_file_like_any_other() {
    let place = Scratch::new();
    let data = place.file("data.csv", &data());
    let answer = super::pacman_pmu(&["train", "--samples", "1", "-o", "/dev/stdout"])
        .arg(data)
        .output()
        .expect("the command was built");
    assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
    assert!(text(&answer.stdout).starts_with("{\n  \"format\": \"pacman-prediction-model\""));
}
