//! Lines of cargo in the pages compile for minutes, so few tests run them. Each names a package, a program, a test or a
//! bench that is there.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{files, read, root};

/// A package of the workspace, and its targets as (kind, name).
struct Package {
    name: String,
    targets: BTreeSet<(String, String)>,
    features: BTreeSet<String>,
}

fn packages() -> Vec<Package> {
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    cargo.args(["metadata", "--no-deps", "--format-version", "1", "--offline"]);
    let output = cargo.current_dir(root()).output().expect("cargo runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let package = |own: &Value| Package {
        name: text(&own["name"]),
        targets: list(&own["targets"])
            .iter()
            .flat_map(|target| {
                let name = text(&target["name"]);
                list(&target["kind"]).into_iter().map(move |kind| (text(&kind), name.clone()))
            })
            .collect(),
        features: own["features"].as_object().expect("features").keys().cloned().collect(),
    };
    list(&metadata["packages"]).iter().map(package).collect()
}

/// The words of each command of cargo: in shell blocks with their continued lines, and in code of sentences.
fn lines_of_cargo(page: &str) -> Vec<Vec<String>> {
    let joined = page.replace("\\\n", " ");
    let mut commands = Vec::new();
    let (mut fenced, mut prose) = (false, String::new());
    for line in joined.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            commands.push(line.to_owned());
        } else {
            prose += line;
            prose += " ";
        }
    }
    commands.extend(prose.split('`').skip(1).step_by(2).map(str::to_owned));
    let commands = commands.iter().flat_map(|line| line.split("&&")).filter_map(|line| {
        let line = line.split(" #").next().expect("a first part");
        let words = line.split_whitespace().map(|word| word.trim_matches(['\'', '"']).to_owned());
        // Variables stand before the command.
        let words: Vec<String> = words.skip_while(|word| word.contains('=')).collect();
        (words.first().is_some_and(|first| first == "cargo") && !line.contains('…'))
            .then_some(words)
    });
    commands.collect()
}

/// The reason why cargo would refuse this command, by its names.
fn refused(words: &[String], packages: &[Package]) -> Result<(), String> {
    let own = words.iter().skip(1).take_while(|word| *word != "--").map(String::as_str);
    let own: Vec<&str> = own.collect();
    let after = |option: &[&str]| -> Vec<&str> {
        let pairs = own.windows(2).filter(|pair| option.contains(&pair[0]));
        pairs.map(|pair| pair[1]).collect()
    };
    let mut named: Vec<&Package> = Vec::new();
    for name in after(&["-p", "--package"]) {
        let found = packages.iter().find(|package| package.name == name);
        named.push(found.ok_or_else(|| format!("no package {name}"))?);
    }
    for path in after(&["--path"]) {
        let manifest = root().join(path).join("Cargo.toml");
        if !manifest.is_file() {
            return Err(format!("no package in {path}"));
        }
    }
    // Packages outside of the workspace have a manifest of their own.
    if ["--manifest-path", "install", "fuzz"].iter().any(|word| own.contains(word)) {
        return Ok(());
    }
    if named.is_empty() {
        named.extend(packages);
    }
    for (option, kind) in
        [("--test", "test"), ("--bench", "bench"), ("--bin", "bin"), ("--example", "example")]
    {
        for name in after(&[option]) {
            let target = (kind.to_owned(), name.to_owned());
            if !named.iter().any(|package| package.targets.contains(&target)) {
                return Err(format!("no {kind} {name}"));
            }
        }
    }
    for feature in after(&["--features"]).iter().flat_map(|list| list.split(',')) {
        let (owner, feature) = match feature.split_once('/') {
            Some((owner, feature)) => (packages.iter().find(|own| own.name == owner), feature),
            None => (named.iter().find(|own| own.features.contains(feature)).copied(), feature),
        };
        if !owner.is_some_and(|owner| owner.features.contains(feature)) {
            return Err(format!("no feature {feature}"));
        }
    }
    Ok(())
}

#[test]
fn each_names_what_is_there() {
    let packages = packages();
    let (mut seen, mut wrong) = (0, Vec::new());
    for page in files(&root(), "md") {
        let name = page.strip_prefix(root()).unwrap_or(&page);
        // It is about earlier versions, too.
        if name == Path::new("CHANGELOG.md") {
            continue;
        }
        for words in lines_of_cargo(&read(&page)) {
            seen += 1;
            if let Err(why) = refused(&words, &packages) {
                wrong.push(format!("{}: {}: {why}", name.display(), words.join(" ")));
            }
        }
    }
    assert!(seen > 40, "{seen} commands: the pages have more");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_that_are_not_there_are_refused() {
    let packages = packages();
    for (line, why) in [
        ("cargo test -p pacman-test", "no package pacman-test"),
        ("cargo test -p pacman-tests --test document", "no test document"),
        ("A=1 cargo bench -p pacman-cli --bench begin -- --test x", "no bench begin"),
        ("cargo run -p pacman-train --bin pages", "no bin pages"),
        ("cargo test --features pacman-topology/no", "no feature no"),
        ("cargo install --path cli", "no package in cli"),
    ] {
        let words = lines_of_cargo(&format!("```sh\n{line}\n```\n"));
        assert_eq!(words.len(), 1, "{line}");
        assert_eq!(refused(&words[0], &packages), Err(why.to_owned()), "{line}");
    }
    let words = lines_of_cargo("Run `cargo test -p pacman-tests\n--test documents`, `cargo …`.\n");
    assert_eq!(words.len(), 1);
    assert_eq!(refused(&words[0], &packages), Ok(()));
}
