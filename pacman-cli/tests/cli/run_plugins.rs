//! Programs that load and close plugins: a region is of the file that is loaded, whatever was at its address
//! before, and a plugin is unloaded when it is unloaded alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::rows::{rows, waits};
use super::scratch::Scratch;
use super::{pacman_pmu, text};

/// Loads each plugin of its arguments, calls it, and closes it. `PATH:CALLS=FROM` renames the file FROM to PATH
/// first. Writes how many plugins were on the page of an earlier one to standard error.
const HOST: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *plugin_opened(const char *path) { return dlopen(path, RTLD_NOW | FLAGS); }
int main(int count, char **words) {
  void *(*open)(const char *) = plugin_opened, *manager = 0;
  int (*close)(void *) = dlclose, reused = 0;
  void *places[64];
  if (getenv("MANAGER")) {
    manager = dlopen(getenv("MANAGER"), RTLD_NOW | RTLD_DEEPBIND);
    if (!manager) return 4;
    open = (void *(*)(const char *))dlsym(manager, "manager_open");
    close = (int (*)(void *))dlsym(manager, "manager_close");
  }
  for (int at = 1; at < count && at < 64; at++) {
    char path[500];
    snprintf(path, sizeof path, "%s", words[at]);
    char *calls = strrchr(path, ':'), *from = strchr(calls, '=');
    *calls = 0;
    if (from && rename(from + 1, path)) return 3;
    void *plugin = open(path);
    if (!plugin) { puts(dlerror()); return 1; }
    long (*work)(int) = (long (*)(int))dlsym(plugin, "work"), sum = 0;
    places[at] = (void *)((size_t)work >> 12);
    for (int other = 1; other < at; other++)
      if (places[other] == places[at]) { reused++; break; }
    for (int call = 0; call < atoi(calls + 1); call++) sum = sum * 31 + work(call);
    printf("%s: %ld\n", strrchr(path, '/'), sum);
    if (close(plugin)) return 2;
  }
  fprintf(stderr, "reused %d\n", reused);
  puts("end");
  return 0;
}
"#;

/// Opens and closes plugins past all preloaded libraries, as it is bound deeply.
const MANAGER: &str = r#"
#include <dlfcn.h>
void *manager_open(const char *path) { return dlopen(path, RTLD_NOW); }
int manager_close(void *plugin) { return dlclose(plugin); }
"#;

/// A plugin whose name and operation differ. A counter and a destructor show whether it was unloaded.
const PLUGIN: &str = r#"
#include <stdio.h>
static int calls;
__attribute__((destructor)) static void ends(void) { printf("NAME ends after %d calls\n", calls); }
static long NAME(int n) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; i++) {
    sum += i OPERATION n;
    if (i == 0) {
#pragma omp critical
      calls++;
    }
  }
  return sum;
}
long work(int n) { return NAME(n); }
"#;

/// A host, and plugins that it loads.
struct Plugins {
    _host: Scratch,
    host: PathBuf,
    compiler: &'static str,
    folder: Scratch,
}

impl Plugins {
    /// A host with or without an OpenMP runtime of its own.
    fn new(compiler: &'static str, flags: &str, with_runtime: bool) -> Option<Plugins> {
        let scratch = Scratch::new();
        let source = HOST.replace("FLAGS", flags);
        let options: &[&str] = match with_runtime {
            // The program itself calls nothing of it.
            true => &["-fopenmp", "-Wl,--no-as-needed", "-ldl"],
            false => &["-ldl"],
        };
        let host = scratch.compile(compiler, options, &source)?;
        Some(Plugins { _host: scratch, host, compiler, folder: Scratch::new() })
    }

    fn add(&self, file: &str, name: &str, operation: &str, flags: &[&str]) -> Option<String> {
        let source = PLUGIN.replace("NAME", name).replace("OPERATION", operation);
        self.add_source(file, &source, flags)
    }

    fn add_source(&self, file: &str, source: &str, flags: &[&str]) -> Option<String> {
        let flags = [&["-g", "-O1", "-fopenmp", "-shared", "-fPIC"], flags].concat();
        let made = self.folder.compile(self.compiler, &flags, source)?;
        let path = self.folder.path(file);
        fs::rename(made, &path).expect("it was made");
        Some(path.to_str().expect("a path in UTF-8").to_owned())
    }

    fn set<'c>(&self, command: &'c mut Command, threads: u32) -> &'c mut Command {
        command.env("OMP_NUM_THREADS", threads.to_string()).env("OMP_WAIT_POLICY", "passive")
    }

    /// Standard output, the plugins at an address of an earlier one, and the report, of a run that must
    /// print what it prints alone.
    fn run(
        &self,
        options: &[&str],
        threads: u32,
        plugins: &[String],
        manager: Option<&Path>,
    ) -> Ran {
        let report = self.folder.path("report.json");
        let mut command = pacman_pmu(&["run"]);
        command.args(options).arg("-o").arg(&report).arg("--").arg(&self.host).args(plugins);
        if let Some(path) = manager {
            command.env("MANAGER", path);
        }
        let observed = self.set(&mut command, threads).output().expect("it runs");
        let said = text(&observed.stderr);
        assert_eq!(observed.status.code(), Some(0), "{options:?}: {said}");
        let reused = said.lines().find_map(|line| line.strip_prefix("reused ")?.parse().ok());
        let json = fs::read_to_string(&report).expect("a report");
        Ran {
            output: text(&observed.stdout).to_owned(),
            reused: reused.expect("the host says it"),
            report: serde_json::from_str(&json).expect("JSON"),
        }
    }

    fn alone(&self, threads: u32, plugins: &[String]) -> String {
        let mut command = Command::new(&self.host);
        let alone = self.set(command.args(plugins), threads).output().expect("it runs");
        assert_eq!(alone.status.code(), Some(0), "{}", text(&alone.stderr));
        text(&alone.stdout).to_owned()
    }
}

struct Ran {
    output: String,
    reused: u32,
    report: Value,
}

impl Ran {
    /// Names of regions with their executions.
    fn regions(&self) -> Vec<(&str, u64)> {
        let regions = self.report["processes"][0]["regions"].as_array().expect("a list");
        let mut regions: Vec<_> = regions
            .iter()
            .map(|region| {
                let name = region["name"].as_str().expect("a name");
                (name, region["executions"].as_u64().expect("a number"))
            })
            .collect();
        regions.sort_unstable();
        regions
    }
}

const MODES: [&[&str]; 4] =
    [&[], &["--overhead", "100"], &["--waits"], &["--adapt", "--narrow", "--no-memory"]];

/// The names of each pair of plugins differ, and so do their files. Alone and observed they come to the same
/// addresses by turns.
#[test]
fn plugins_at_one_address_have_their_own_regions_and_a_plugin_that_comes_back_has_its_own_again() {
    for compiler in ["gcc", "clang"] {
        let Some(plugins) = Plugins::new(compiler, "RTLD_LOCAL", true) else { continue };
        let none = &["-Wl,--build-id=none"][..];
        let added = [("a.so", "alpha", "*", &[][..]), ("b.so", "bravo", "+", &[][..])];
        let unnamed = [("c.so", "charlie", "-", none), ("d.so", "delta", "^", none)];
        let add = |one: (&str, &str, &str, &[&str])| plugins.add(one.0, one.1, one.2, one.3);
        let Some(paths) = added.into_iter().chain(unnamed).map(add).collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        let calls = |at: usize, calls: u32| format!("{}:{calls}", paths[at]);
        let all = [
            calls(0, 10),
            calls(1, 30),
            calls(0, 10),
            calls(1, 30),
            calls(2, 5),
            calls(3, 7),
            calls(2, 5),
        ];
        let alone = plugins.alone(2, &all);
        for mode in MODES {
            let ran = plugins.run(mode, 2, &all, None);
            assert_eq!(ran.output, alone, "{compiler} {mode:?}");
            assert!(ran.reused > 0, "{compiler} {mode:?}: each plugin had an address of its own");
            let names = |name: &str| format!("{name}, line 7");
            let expected: Vec<(String, u64)> =
                [("alpha", 20), ("bravo", 60), ("charlie", 10), ("delta", 7)]
                    .map(|(name, executions)| (names(name), executions))
                    .into();
            let found = ran.regions();
            let found: Vec<(String, u64)> = found
                .iter()
                .map(|(name, executions)| {
                    // The mark of regions of one name follows it.
                    (name.split(" (").next().expect("a name").to_owned(), *executions)
                })
                .collect();
            assert_eq!(found, expected, "{compiler} {mode:?}");
        }
    }
}

/// The end of a plugin is known although neither its opening nor its closing passes the library.
#[test]
fn plugins_that_a_deeply_bound_manager_opens_and_closes_have_their_own_regions() {
    let scratch = Scratch::new();
    let Some(manager) = scratch.compile("cc", &["-shared", "-fPIC"], MANAGER) else { return };
    let Some(plugins) = Plugins::new("gcc", "RTLD_LOCAL", true) else { return };
    let Some(one) = plugins.add("a.so", "alpha", "*", &[]) else { return };
    let Some(other) = plugins.add("b.so", "bravo", "+", &[]) else { return };
    let all = [format!("{one}:10"), format!("{other}:30"), format!("{one}:10")];
    let ran = plugins.run(&["--overhead", "100"], 2, &all, Some(&manager));
    assert_eq!(ran.output, plugins.alone(2, &all));
    assert!(ran.reused > 0, "each plugin had an address of its own");
    assert_eq!(ran.regions(), [("alpha, line 7", 20), ("bravo, line 7", 30)]);
}

/// A file that has another's path by now gives it no names.
#[test]
fn a_file_that_replaces_a_plugin_s_between_two_loads_is_another_plugin() {
    let Some(plugins) = Plugins::new("gcc", "RTLD_LOCAL", true) else { return };
    for flags in [&[][..], &["-Wl,--build-id=none"]] {
        let Some(path) = plugins.add("p.so", "alpha", "*", flags) else { return };
        let Some(other) = plugins.add("q.so", "bravo", "+", flags) else { return };
        let all = [format!("{path}:10"), format!("{path}:30={other}")];
        let ran = plugins.run(&["--overhead", "100"], 2, &all, None);
        assert!(
            ran.output.contains("alpha ends after 10") && ran.output.ends_with("30 calls\nend\n")
        );
        let found = ran.regions();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], ("bravo, line 7", 30), "it has the path now");
        assert!(found[1].0.starts_with("p.so+0x") && found[1].1 == 10, "{found:?}");
        let notes = ran.report["notes"].to_string();
        let said = format!("regions of {path} are shown by offset: the program used another file");
        assert_eq!(notes.matches(&said).count(), 1, "{notes}");
    }
}

/// The second plugin keeps parts by thread numbers, at the address of one that a smaller team runs faster.
#[test]
fn a_decision_for_a_plugin_is_not_for_the_next_one_at_its_address() {
    const SLOW: &str = "static volatile double sum;\n\
        long work(int n) { sum = n;\n\
        #pragma omp parallel for\n\
        for (int i = 0; i < 2000; i++) {\n\
        #pragma omp critical\n\
        for (int k = 0; k < 60; k++) sum += k; }\n\
        return (long)sum; }";
    const PARTS: &str = "#include <omp.h>\n\
        long work(int n) { static long part[64]; long sum = 0;\n\
        for (int t = 0; t < 2; t++) part[t] = -1000;\n\
        #pragma omp parallel\n\
        { int t = omp_get_thread_num(); long own = 0; for (int i = t; i < 2000; i += 2) own += i + n;\n\
        part[t] = own; }\n\
        for (int t = 0; t < 2; t++) sum += part[t];\n\
        return sum; }";
    let Some(plugins) = Plugins::new("gcc", "RTLD_LOCAL", true) else { return };
    let text = &["-Wl,--section-start=.text=0x1400"];
    let Some(slow) = plugins.add_source("slow.so", SLOW, text) else { return };
    let Some(parts) = plugins.add_source("parts.so", PARTS, text) else { return };
    let all = [format!("{slow}:400"), format!("{parts}:3")];
    let alone = plugins.alone(2, &all);
    // The kernel gives the second plugin the first one's place, unless something else was mapped there meanwhile.
    let is_reused = (0..10).any(|_| {
        let ran = plugins.run(&["--adapt", "--narrow", "--no-memory"], 2, &all, None);
        assert_eq!(ran.output, alone);
        ran.reused == 1
    });
    assert!(is_reused, "the second plugin always has another address");
}

/// The runtime comes and goes with the plugin. Alone, GCC's leaves threads behind that crash the program, so it
/// gets one thread here.
#[test]
fn a_plugin_with_a_runtime_of_its_own_is_unloaded_when_it_is_alone() {
    for (compiler, threads) in [("gcc", 1), ("clang", 2)] {
        for flags in ["RTLD_LOCAL", "RTLD_GLOBAL", "RTLD_LOCAL | RTLD_DEEPBIND"] {
            let Some(plugins) = Plugins::new(compiler, flags, false) else { continue };
            let Some(one) = plugins.add("a.so", "alpha", "*", &[]) else { continue };
            let Some(other) = plugins.add("b.so", "bravo", "+", &[]) else { continue };
            let all = [format!("{one}:2"), format!("{one}:2"), format!("{other}:3")];
            let alone = plugins.alone(threads, &all);
            assert!(alone.contains("alpha ends after 2 calls\n/a.so"), "{alone}");
            for mode in MODES {
                let ran = plugins.run(mode, threads, &all, None);
                assert_eq!(ran.output, alone, "{compiler} {flags} {mode:?}");
            }
        }
    }
}

/// Opens a runtime for all modules and a plugin that uses it, and closes the runtime first.
const OPENER: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
static void look(const char *when) {
  void *runtime = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
  printf("%s: %s\n", when, runtime ? "loaded" : "not loaded");
  if (runtime) dlclose(runtime);
}
int main(int count, char **words) {
  for (int round = 0; round < 2; round++) {
    void *runtime = dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
    void *plugin = dlopen(words[1], RTLD_NOW);
    if (!runtime || !plugin) { puts(dlerror()); return 1; }
    long (*work)(int) = (long (*)(int))dlsym(plugin, "work");
    printf("%ld\n", work(3));
    dlclose(runtime);
    look("closed");
    printf("%ld\n", work(4));
    dlclose(plugin);
    look("without users");
  }
  return 0;
}
"#;

/// The plugin itself names no runtime. Alone the loader knows that it uses this one.
#[test]
fn a_runtime_that_the_program_closes_stays_as_long_as_a_plugin_uses_it() {
    let (scratch, own) = (Scratch::new(), Scratch::new());
    let Some(opener) = own.compile("gcc", &["-ldl"], OPENER) else { return };
    let source = PLUGIN.replace("NAME", "alpha").replace("OPERATION", "*");
    let flags = ["-g", "-O1", "-fopenmp", "-fPIC", "-c"];
    let Some(object) = scratch.compile("gcc", &flags, &source) else { return };
    let plugin = scratch.path("plugin.so");
    let linked = Command::new("gcc").arg("-shared").arg(object).arg("-o").arg(&plugin).status();
    assert!(linked.expect("it compiled").success());
    let alone = Command::new(&opener).arg(&plugin).env("OMP_NUM_THREADS", "1").output();
    let alone = alone.expect("it runs");
    assert_eq!(alone.status.code(), Some(0), "{}", text(&alone.stdout));
    let path = scratch.path("report.json");
    for mode in MODES {
        let mut command = pacman_pmu(&["run"]);
        command.args(mode).arg("-o").arg(&path).arg("--").arg(&opener).arg(&plugin);
        let observed = command.env("OMP_NUM_THREADS", "1").output().expect("it runs");
        assert_eq!(text(&observed.stdout), text(&alone.stdout), "{mode:?}");
        let report = fs::read_to_string(&path).expect("a report");
        let report: Value = serde_json::from_str(&report).expect("JSON");
        let regions = &report["processes"][0]["regions"];
        assert_eq!(regions.as_array().expect("a list").len(), 1, "{regions:#}");
        assert_eq!(regions[0]["executions"], 4);
    }
}

/// A region of the program calls plugins, which have a barrier each, one at the address of the other.
#[test]
fn a_construct_of_a_plugin_is_not_that_of_another_one_at_its_address() {
    const CALLER: &str = "#include <dlfcn.h>\n\
        int main(int count, char **words) {\n\
        for (int at = 1; at < count; at++) {\n\
        void *plugin = dlopen(words[at], RTLD_NOW);\n\
        void (*meet)(void) = (void (*)(void))dlsym(plugin, \"meet\");\n\
        for (int k = 0; k < 10; k++) {\n\
        #pragma omp parallel num_threads(2)\n\
        meet(); }\n\
        dlclose(plugin); }\n\
        return 0; }";
    let scratch = Scratch::new();
    let Some(caller) = scratch.compile("gcc", &["-g", "-fopenmp", "-ldl"], CALLER) else { return };
    let plugin = |file: &str, before: &str| {
        let source = format!(
            "static volatile int n;\n{before}void meet(void) {{\n#pragma omp barrier\nn++; }}"
        );
        let own = Scratch::new();
        let flags = ["-g", "-O1", "-fopenmp", "-shared", "-fPIC"];
        let made = own.compile("gcc", &flags, &source)?;
        let path = scratch.path(file);
        fs::copy(made, &path).expect("it was made");
        Some(path)
    };
    let Some(one) = plugin("one.so", "") else { return };
    let Some(other) = plugin("other.so", "\n") else { return };
    let path = scratch.path("report.json");
    let mut command = pacman_pmu(&["run", "--waits", "--overhead", "100", "-o"]);
    command.arg(&path).arg("--").arg(&caller).args([&one, &other, &one, &other, &other]);
    let answer = command.output().expect("it runs");
    assert_eq!(answer.status.code(), Some(0), "{}", text(&answer.stderr));
    let report = fs::read_to_string(&path).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let process = &report["processes"][0];
    let sites = process["sites"].as_array().expect("a list");
    let names: Vec<_> = sites.iter().map(|site| site["name"].as_str()).collect();
    assert_eq!(names, [Some("meet, line 3"), Some("meet, line 4")]);
    assert_eq!(sites[0]["address"], sites[1]["address"], "this test needs equal offsets");
    for thread in rows(&process["regions"][0]["threads"]) {
        let waits = waits(&thread["states"]);
        let counts: Vec<_> = waits.iter().map(|wait| wait["count"].as_u64()).collect();
        assert_eq!(counts, [Some(20), Some(30)], "{waits:?}");
    }
}
