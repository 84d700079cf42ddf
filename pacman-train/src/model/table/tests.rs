//! Tests of `table`.

use super::*;

const HEAD: &str = "machine,app,threads,time_s,llc_misses,package_j\n";

fn parse(text: &str) -> CliResult<Table> {
    Table::parse(text, &Defaults { machine: None, program: None })
}

#[test]
fn a_table_in_long_form_is_read() {
    let text = "\u{feff},machine,app,threads,time_s,llc_misses,package_j,compiler\n\
                0,m,\"a, b\",4.0,0.5,7,3.2,gcc\n1,m,c,6x2,1e-3,,3,gcc\n";
    let table = parse(text).unwrap();
    assert_eq!(table.unused, ["compiler"]);
    let [first, second] = &table.rows[..] else { panic!("{table:?}") };
    assert_eq!((first.line, first.program.as_str()), (2, "a, b"));
    assert_eq!(first.sample.configuration().threads(), 4);
    assert_eq!(first.sample.counts().collect::<Vec<_>>(), [("llc_misses", 7.0)]);
    assert_eq!(second.sample.configuration().to_string(), "6x2");
    assert_eq!((second.sample.seconds(), second.sample.counts().count()), (1e-3, 0));
}

#[test]
fn bad_lines_are_named() {
    for (lines, why) in [
        ("m,a,4,0.5,7\n", "line 2: 5 fields, and the header has 6"),
        (
            "m,a,4,0.5,7,1\nm,a,2,0,7,1\n",
            "line 3: time_s: execution time must be positive, got 0 s",
        ),
        ("m,a,4,NaN,7,1\n", "line 2: time_s is \"NaN\", which is not a number"),
        ("m,a,4,,7,1\n", "line 2: time_s is blank"),
        ("m,a,4,-1,7,1\n", "line 2: time_s: execution time must be positive, got -1 s"),
        ("m,a,0,1,7,1\n", "line 2: threads: \"0\" is not a configuration: write 12 (threads)"),
        ("m,a,4.5,1,7,1\n", "line 2: threads: \"4.5\" is not a configuration"),
        ("m,a,99999,1,7,1\n", "1 to 65536 threads"),
        ("m,a,4,1,nan,1\n", "line 2: llc_misses is \"nan\", which is not a number"),
        ("m,a,4,1,-7,1\n", "line 2: the count of llc_misses must be 0 or above, got -7"),
        ("m,a,4,1,7,1\nm,a,2,1,many,1\n", "line 3: llc_misses is \"many\""),
        ("m,,4,1,7,1\n", "line 2: app is blank"),
        (",a,4,1,7,1\n", "line 2: machine is blank"),
        ("", "no line follows the header"),
    ] {
        let words = parse(&format!("{HEAD}{lines}")).unwrap_err().to_string();
        assert!(words.contains(why), "{words}");
        assert!(!words.contains('\n'), "{words}");
    }
}

#[test]
fn missing_columns_are_named_beside_those_there() {
    for (header, why) in [
        ("{\"format\": 1}", "it is JSON, but training data is CSV: pacman-pmu run --record"),
        ("machine,app,threads", "no column time_s; there is machine, app, threads"),
        ("machine,app,time_s", "no column threads;"),
        ("machine,threads,time_s", "no column app;"),
        ("app,threads,time_s", "no column machine, and no --measured-on;"),
        ("machine,app,threads,time_s,time_s", "line 1: column time_s stands there twice"),
    ] {
        let words = parse(&format!("{header}\n")).unwrap_err().to_string();
        assert!(words.contains(why), "{words}");
    }
    for blank in ["", "\n", "# only a comment\n"] {
        assert_eq!(parse(blank).unwrap_err().to_string(), "it is empty: no header, no lines");
    }
    let defaults = Defaults { machine: Some("m"), program: Some("phase") };
    let table = Table::parse("threads,time_s\n4,1\n", &defaults).unwrap();
    assert_eq!((table.rows[0].machine.as_str(), table.rows[0].program.as_str()), ("m", "phase"));
}
