//! Installations by `install.sh`: programs build against them, the command runs, uninstalling removes
//! every file.

mod debian;
mod packages;
mod programs;
mod tree;

use std::fs;
use std::path::Path;
use std::process::Command;

use pacman_suite::command::{finish, have};
use pacman_suite::skipped;
use tree::{everyday, install, text, tree};

#[test]
fn the_command_runs_from_where_it_is_installed() {
    if everyday().is_none() {
        return;
    }
    let command = tree().join("bin/pacman-pmu");
    let version = text(Command::new(&command).arg("--version"));
    assert_eq!(version, concat!("pacman-pmu ", env!("CARGO_PKG_VERSION"), "\n"));
    // `help` and `--help` are one text.
    let help = text(Command::new(&command).args(["help", "run"]));
    assert_eq!(help, text(Command::new(&command).args(["run", "--help"])));
    // The program beside it.
    let help = text(Command::new(&command).args(["help", "train"]).env("PATH", "/none"));
    assert!(help.contains("pacman-pmu train measured.csv -o model.json"), "{help}");
}

#[test]
fn every_command_and_function_has_a_page() {
    if everyday().is_none() {
        return;
    }
    let pages = |section: &str| -> Vec<String> {
        let folder = tree().join("share/man").join(section);
        let names = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        names
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
            .collect()
    };
    let commands = pacman_train::command_line();
    let (ones, threes) = (pages("man1"), pages("man3"));
    for command in commands.get_subcommands() {
        let page = format!("pacman-pmu-{}.1", command.get_name());
        assert!(ones.contains(&page), "no {page} in {ones:?}");
    }
    let header = fs::read_to_string(tree().join("include/pacman.h")).expect("the header");
    let functions: Vec<&str> = header
        .lines()
        .filter_map(|line| line.strip_prefix(" * ")?.split_once(": "))
        .filter_map(|(name, _)| name.starts_with("pacman_").then_some(name))
        .collect();
    assert_eq!(functions.len() + 1, threes.len(), "{functions:?} and pacman.3, not {threes:?}");
    for function in functions {
        assert!(threes.contains(&format!("{function}.3")), "no {function}.3 in {threes:?}");
    }
    if !have("man") {
        skipped("no man");
        return;
    }
    let page = |name: &str| {
        let mut man = Command::new("man");
        man.arg("-M").arg(tree().join("share/man")).arg(name);
        text(man.envs([("MANWIDTH", "100"), ("MAN_KEEP_FORMATTING", ""), ("MANPAGER", "cat")]))
    };
    let begin = page("pacman_begin");
    for part in
        ["int pacman_begin(const pacman_session *session, pacman_phase phase);", "RETURN VALUE"]
    {
        assert!(begin.contains(part), "no {part} in\n{begin}");
    }
    assert!(page("pacman-pmu-train").contains("pacman-pmu train measured.csv"), "the whole help");
    assert!(page("pacman-pmu-run").contains("pacman-pmu run -- ./"), "{}", page("pacman-pmu-run"));
    assert!(page("pacman").contains("#define PACMAN_E_REENTERED (-28)"));
}

#[test]
fn shells_find_completions() {
    if everyday().is_none() {
        return;
    }
    for (place, words) in [
        ("share/bash-completion/completions/pacman-pmu", "complete -F _pacman__pmu"),
        ("share/zsh/site-functions/_pacman-pmu", "#compdef pacman-pmu"),
        ("share/fish/vendor_completions.d/pacman-pmu.fish", "complete -c pacman-pmu"),
    ] {
        let script = fs::read_to_string(tree().join(place)).expect(place);
        assert!(script.contains(words), "no {words} in {place}");
    }
    if !have("bash") {
        skipped("no bash");
        return;
    }
    let mut bash = Command::new("bash");
    let script = "source \"$0\"; COMP_WORDS=(pacman-pmu va); COMP_CWORD=1; \
                  _pacman__pmu pacman-pmu va pacman-pmu; echo \"${COMPREPLY[*]}\"";
    bash.args(["-c", script]).arg(tree().join("share/bash-completion/completions/pacman-pmu"));
    assert_eq!(text(&mut bash), "validate\n");
}

#[test]
fn uninstalling_removes_what_was_installed_and_nothing_else() {
    if everyday().is_none() {
        return;
    }
    let root = tempfile::tempdir().expect("a folder");
    let prefix = root.path().join("usr");
    fs::create_dir_all(prefix.join("bin")).expect("a folder");
    fs::write(prefix.join("bin/other"), "not of this installation").expect("a file");
    // Twice, the second time as if a file of an older version were there.
    install(root.path(), &["--prefix", "/usr", "--libdir=/usr/lib/machine"]);
    let list = prefix.join("share/pacman/installed");
    let listed = fs::read_to_string(&list).expect("the list");
    fs::write(prefix.join("lib/machine/old"), "").expect("a file");
    fs::write(&list, format!("{listed}lib/machine/old\n")).expect("the list");
    install(root.path(), &["--prefix", "/usr", "--libdir", "lib/machine"]);
    assert!(!prefix.join("lib/machine/old").exists());
    assert_eq!(fs::read_to_string(&list).expect("the list"), listed);
    for file in ["lib/machine/libpacman.so", "bin/pacman-pmu", "bin/pacman-train"] {
        assert!(prefix.join(file).exists(), "{file}");
    }

    let uninstall = || {
        let mut uninstall = tree::installer();
        uninstall.env("DESTDIR", root.path()).args(["--uninstall", "--prefix", "/usr"]);
        uninstall
    };
    finish(&mut uninstall());
    let names = |folder: &Path| -> Vec<_> {
        let entries = fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name()).collect()
    };
    assert_eq!(names(&prefix), ["bin"]);
    assert_eq!(names(&prefix.join("bin")), ["other"]);
    let again = uninstall().output().expect("it runs");
    assert_eq!(again.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&again.stderr).starts_with("install.sh: nothing to uninstall: ")
    );
}

#[test]
fn arguments_that_make_no_sense_change_nothing() {
    for (arguments, line) in [
        (&[][..], "--prefix is missing"),
        (&["--prefix", "relative"], "--prefix must be an absolute path, got relative"),
        (&["--prefix"], "--prefix needs a path"),
        (&["--prefix", "/usr", "--libdir", "/lib"], "--libdir must be below /usr, got /lib"),
        (&["--prefix", "/usr", "--libdir", "../lib"], "--libdir must be below /usr, got ../lib"),
        (&["/usr"], "unknown argument /usr"),
        (
            &["--prefix", "/usr", "--dist", "--from", "."],
            "--dist builds and --from does not: give one of them",
        ),
    ] {
        let output = tree::installer().args(arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(complaint, format!("install.sh: {line}; --help lists the options\n"));
    }
    let help = text(tree::installer().arg("--help"));
    assert!(help.starts_with("usage: ./install.sh --prefix PREFIX"), "{help}");
}
