//! The demands of the registry of packages and the pages of documentation need of each package that is published.

use std::path::Path;

use toml::{Table, Value};

use crate::workspace::Package;

/// The categories of the registry that the packages use: it refuses unknown ones.
const CATEGORIES: [&str; 11] = [
    "command-line-utilities",
    "concurrency",
    "development-tools",
    "development-tools::debugging",
    "development-tools::ffi",
    "development-tools::profiling",
    "development-tools::testing",
    "hardware-support",
    "os::linux-apis",
    "science",
    "simulation",
];

/// The faults of a package, a line each.
pub(crate) fn faults(package: &Package) -> Vec<String> {
    let about = package.about();
    let list = |name: &str| -> Vec<&str> {
        let values = about.get(name).and_then(Value::as_array).into_iter().flatten();
        values.filter_map(Value::as_str).collect()
    };
    let mut faults = Vec::new();
    let mut fault = |is_one: bool, what: &str| {
        if is_one {
            faults.push(format!("{}: {what}", package.name));
        }
    };
    let description = about.get("description").and_then(Value::as_str).unwrap_or_default();
    fault(description.len() < 20 || description.ends_with('.'), "no description of one phrase");
    let readme = about.get("readme").and_then(Value::as_str);
    let has_readme = readme.is_some_and(|readme| package.has(Path::new(readme)));
    fault(!has_readme, "no readme");
    let keywords = list("keywords");
    let is_keyword = |word: &&str| {
        word.len() <= 20
            && word.starts_with(|first: char| first.is_ascii_alphanumeric())
            && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-+".contains(letter))
    };
    fault(keywords.is_empty() || keywords.len() > 5, "keywords must be one to five");
    fault(!keywords.iter().all(is_keyword), "a keyword that the registry refuses");
    let categories = list("categories");
    fault(categories.is_empty() || categories.len() > 5, "categories must be one to five");
    fault(!categories.iter().all(|own| CATEGORIES.contains(own)), "an unknown category");
    fault(!about.contains_key("license"), "no license");
    let docs = about.get("metadata").and_then(|all| all.get("docs")?.get("rs")?.get("targets"));
    fault(docs.is_none(), "no targets for docs.rs");
    faults
}

/// The packages of the workspace that a published one may depend on, without their version.
pub(crate) fn without_version(manifest: &Table, published: &[&str]) -> Vec<String> {
    let workspace = &manifest["workspace"];
    let version = &workspace["package"]["version"];
    let dependencies = workspace["dependencies"].as_table().expect("dependencies");
    let own = dependencies.iter().filter(|(name, _)| published.contains(&name.as_str()));
    own.filter(|(_, value)| value.get("version") != Some(version))
        .map(|(name, _)| name.clone())
        .collect()
}
