//! The option `--trust-driver` reaches the programs that a command runs.

use super::{pacman_pmu, text};

#[test]
fn programs_get_the_variable_where_the_option_or_the_environment_has_it() {
    let line = ["--", "sh", "-c", "echo trusted=$PACMAN_TRUST_DRIVER,kept=$KEPT"];
    for command in [&["run"][..], &["stat", "-e", "task-clock"]] {
        for (option, variable, expected) in [
            (&[][..], None, "trusted=,kept=a b\n"),
            (&["--trust-driver"], None, "trusted=1,kept=a b\n"),
            (&["--trust-driver"], Some("0"), "trusted=1,kept=a b\n"),
            (&[], Some("1"), "trusted=1,kept=a b\n"),
        ] {
            let words = [option, command, &line].concat();
            let mut started = pacman_pmu(&words);
            started.env_remove("PACMAN_TRUST_DRIVER").env("KEPT", "a b");
            started.envs(variable.map(|value| ("PACMAN_TRUST_DRIVER", value)));
            let output = started.output().expect("it runs");
            assert_eq!(text(&output.stdout), expected, "{words:?} {variable:?}: {output:?}");
        }
    }
}
