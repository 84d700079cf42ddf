//! Texts that users read, each compared whole with a file.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

/// Compares a text with a file below the directory of a package. With `BLESS` set, it replaces the file instead.
///
/// # Panics
/// If they differ, or without the file.
#[track_caller]
pub fn snapshot(package: &str, file: &str, text: &str) {
    let path = Path::new(package).join(file);
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("it has a directory")).expect("room for it");
        std::fs::write(&path, text).expect("room for the text");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    assert!(
        text == expected,
        "{file} differs; BLESS=1 accepts it.\n--- is\n{text}\n--- was\n{expected}"
    );
}

/// Texts of one test, which are compared with a section of a file when this value is dropped. A file has the sections of
/// many tests, each below its title.
#[derive(Debug)]
pub struct Texts {
    path: String,
    title: &'static str,
    text: String,
}

impl Texts {
    /// None yet, of the section with this title in a file below the directory of a package.
    pub fn new(package: &str, file: &str, title: &'static str) -> Texts {
        Texts { path: format!("{package}/{file}"), title, text: String::new() }
    }

    /// Adds a text of one or more lines.
    pub fn add(&mut self, text: impl Display) {
        self.text.push_str(text.to_string().trim_end());
        self.text.push('\n');
    }
}

impl Drop for Texts {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let _one = SECTIONS.lock();
        let mut known = sections(&fs::read_to_string(&self.path).unwrap_or_default());
        if std::env::var_os("BLESS").is_some() {
            known.insert(self.title.to_owned(), self.text.clone());
            let all = known.iter().map(|(title, text)| format!("{TITLE}{title}\n{text}\n"));
            fs::write(&self.path, all.collect::<String>()).expect("room for the texts");
        }
        let (title, is) = (self.title, &self.text);
        let was = known.get(title).map_or("", String::as_str);
        assert!(
            is == was,
            "{}, {title:?} differs; BLESS=1 accepts it.\n--- is\n{is}\n--- was\n{was}",
            self.path
        );
    }
}

/// Tests of a program run side by side, and each replaces the whole file.
static SECTIONS: Mutex<()> = Mutex::new(());

/// Before a title.
const TITLE: &str = "# ";

/// Texts by their titles.
fn sections(file: &str) -> BTreeMap<String, String> {
    let mut sections: BTreeMap<String, String> = BTreeMap::new();
    let mut title = "";
    for line in file.lines() {
        match line.strip_prefix(TITLE) {
            Some(next) => title = next,
            None => {
                let text = sections.entry(title.to_owned()).or_default();
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    // A blank line is behind each.
    sections.values_mut().for_each(|text| text.truncate(text.len().saturating_sub(1)));
    sections
}
