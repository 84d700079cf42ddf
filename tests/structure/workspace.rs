//! The workspace: its packages, their dependencies, and its source files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// One package: its folder and its manifest.
pub(crate) struct Package {
    pub(crate) name: String,
    folder: PathBuf,
    manifest: Table,
}

/// The workspace's root folder.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

pub(crate) fn text(path: &Path) -> String {
    fs::read_to_string(root().join(path))
        .unwrap_or_else(|error| panic!("{}: cannot read: {error}", path.display()))
}

/// The workspace's manifest.
pub(crate) fn manifest() -> Table {
    text(Path::new("Cargo.toml")).parse().expect("the workspace's manifest")
}

/// The packages that the workspace's manifest lists.
pub(crate) fn packages() -> Vec<Package> {
    let manifest = manifest();
    let members = manifest["workspace"]["members"].as_array().expect("members");
    members
        .iter()
        .map(|member| {
            let folder = PathBuf::from(member.as_str().expect("a folder"));
            let manifest: Table =
                text(&folder.join("Cargo.toml")).parse().expect("a package's manifest");
            let name = manifest["package"]["name"].as_str().expect("a name").to_owned();
            Package { name, folder, manifest }
        })
        .collect()
}

impl Package {
    /// The section `[package]` of its manifest.
    pub(crate) fn about(&self) -> &Table {
        self.manifest["package"].as_table().expect("a table")
    }

    /// Whether it says that it is published.
    pub(crate) fn is_published(&self) -> bool {
        self.about().get("publish").and_then(Value::as_bool) == Some(true)
    }

    /// Whether its folder has a file.
    pub(crate) fn has(&self, file: &Path) -> bool {
        root().join(&self.folder).join(file).is_file()
    }

    /// The root file of its library if cargo makes pages of it.
    pub(crate) fn documented_library(&self) -> Option<PathBuf> {
        let library = self.manifest.get("lib");
        let value = |name: &str| library.and_then(|own| own.get(name));
        let path = value("path").and_then(Value::as_str).unwrap_or("src/lib.rs");
        let is_documented = value("doc").and_then(Value::as_bool) != Some(false);
        (is_documented && self.has(Path::new(path))).then(|| self.folder.join(path))
    }

    /// Names in its `[dependencies]`, whatever the target.
    pub(crate) fn dependencies(&self) -> BTreeSet<String> {
        let targets = self.manifest.get("target").and_then(Value::as_table);
        let tables = targets.into_iter().flat_map(|table| table.values());
        let own = self.manifest.get("dependencies").into_iter();
        own.chain(tables.filter_map(|table| table.get("dependencies")))
            .filter_map(Value::as_table)
            .flat_map(|table| table.keys().cloned())
            .collect()
    }

    /// Root files of its library and its programs, below the workspace's root.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        let declared = self.manifest.get("bin").and_then(Value::as_array).into_iter().flatten();
        let paths =
            declared.chain(self.manifest.get("lib")).filter_map(|target| target.get("path"));
        let mut roots: BTreeSet<PathBuf> =
            paths.filter_map(Value::as_str).map(|path| self.folder.join(path)).collect();
        let usual = ["src/lib.rs", "src/main.rs"].map(|path| self.folder.join(path));
        roots.extend(usual.into_iter().filter(|path| root().join(path).exists()));
        roots.into_iter().collect()
    }
}

/// The dependencies between the workspace's packages, one a line: `a -> b`.
pub(crate) fn graph(packages: &[Package]) -> BTreeSet<String> {
    let names: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let mut lines = BTreeSet::new();
    for package in packages {
        for dependency in package.dependencies() {
            if names.contains(dependency.as_str()) {
                lines.insert(format!("{} -> {dependency}", package.name));
            }
        }
    }
    lines
}

/// The lines of the block in `document` that starts with the fence ```` ```crates ````.
pub(crate) fn drawn(document: &str) -> BTreeSet<String> {
    let lines = document.lines().skip_while(|line| *line != "```crates").skip(1);
    lines.take_while(|line| *line != "```").map(str::to_owned).collect()
}

/// All Rust files below `folder`, but for what cargo builds.
pub(crate) fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: cannot list: {error}", folder.display()));
    for entry in entries {
        let entry = entry.expect("an entry of a folder");
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type().expect("a file's type");
        if kind.is_dir() && name != "target" && !name.starts_with('.') {
            rust_files(&entry.path(), found);
        } else if kind.is_file() && name.ends_with(".rs") {
            found.push(entry.path());
        }
    }
}
