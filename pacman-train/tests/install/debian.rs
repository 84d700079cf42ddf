//! The Debian package.

use std::fs;
use std::process::Command;

use pacman_suite::command::{finish, have};
use pacman_suite::skipped;

use crate::tree::{built, everyday, root, text};

#[test]
fn the_debian_package_has_the_installation_and_its_command_runs() {
    if everyday().is_none() {
        return;
    }
    if !have("dpkg-deb") || !have("dpkg-shlibdeps") {
        return skipped("no dpkg-deb or dpkg-shlibdeps (dpkg-dev)");
    }
    let (built, folder) = (built(), tempfile::tempdir().expect("a folder"));
    let mut build = Command::new(root().join("packaging/debian/build"));
    build.env_remove("DESTDIR").env("DPKG_DEB_COMPRESSOR_TYPE", "none");
    build.envs([("SOURCE_DATE_EPOCH", "1700000000"), ("DEBEMAIL", "maintainer@example.org")]);
    finish(build.arg("--from").arg(built.path()).arg("--output").arg(folder.path()));
    let version = env!("CARGO_PKG_VERSION");
    let packages: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
    let [package] = &packages[..] else { panic!("one package, not {packages:?}") };
    let name = package.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with(&format!("pacman-pmu_{version}_")), "{name}");

    let field = |name| text(Command::new("dpkg-deb").arg("-f").arg(package).arg(name));
    assert_eq!(field("Version").trim(), version);
    assert!(field("Depends").contains("libc6 (>= "), "{}", field("Depends"));

    let files = text(Command::new("dpkg-deb").arg("-c").arg(package));
    let listed = |part: &str| files.lines().any(|line| line.contains(part));
    for part in [
        " ./usr/bin/pacman-pmu",
        " ./usr/bin/pacman-train",
        " ./usr/lib/pacman/libpacman_omp.so",
        " ./usr/lib/pacman/libpacman_omp_engine.so",
        "/libpacman.so -> libpacman.so.0",
        " ./usr/include/pacman.h",
        " ./usr/share/man/man1/pacman-pmu-run.1.gz",
        " ./usr/share/man/man3/pacman_begin.3.gz",
        " ./usr/share/zsh/vendor-completions/_pacman-pmu",
        " ./usr/share/doc/pacman-pmu/copyright",
        " ./usr/share/doc/pacman-pmu/NOTICE",
    ] {
        assert!(listed(part), "no {part} in\n{files}");
    }
    for part in [".debug", "share/pacman/", "share/doc/pacman/", "/home/", "/tmp/"] {
        assert!(!listed(part), "{part} in\n{files}");
    }
    assert!(files.lines().all(|line| line.contains(" root/root ")), "{files}");

    let tree = folder.path().join("tree");
    finish(Command::new("dpkg-deb").arg("-x").arg(package).arg(&tree));
    let version_line = text(Command::new(tree.join("usr/bin/pacman-pmu")).arg("--version"));
    assert_eq!(version_line, format!("pacman-pmu {version}\n"));
    let copyright = fs::read_to_string(tree.join("usr/share/doc/pacman-pmu/copyright")).unwrap();
    assert!(copyright.contains("\n Permission is hereby granted"), "{copyright}");
}

#[test]
fn its_bad_arguments_are_one_line() {
    for (arguments, line) in
        [(&["--from"][..], "--from needs a path"), (&["x"], "unknown argument x")]
    {
        let mut build = Command::new(root().join("packaging/debian/build"));
        let output = build.args(arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let complaint = format!("packaging/debian/build: {line}; --help lists the options\n");
        assert_eq!(String::from_utf8_lossy(&output.stderr), complaint);
    }
}
