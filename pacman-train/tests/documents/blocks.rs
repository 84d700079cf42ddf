//! The shell lines of a text.

/// Lines that are typed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The line of the text that the block begins after.
    pub(crate) line: usize,
    pub(crate) text: String,
    /// The statuses with which the last line may end.
    pub(crate) statuses: Vec<i32>,
    pub(crate) not_run: Option<String>,
}

/// Languages of blocks without shell lines, except behind `$`.
const LANGUAGES: [&str; 9] =
    ["text", "rust", "rust,ignore", "c", "cmake", "fortran", "python", "crates", "yaml"];

/// The blocks of a page: those of a shell, and the lines after `$` in others. A block in another form would
/// escape the tests.
pub(crate) fn of_page(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut comment = "";
    let mut lines = page.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else {
            let is_code = comment.is_empty() && line.starts_with("    ");
            let is_fence = line.trim_start().starts_with("~~~");
            assert!(!is_code && !is_fence, "line {}: begin a block with ```: {line}", at + 1);
            if !line.trim().is_empty() {
                comment = line.trim();
            } else if !comment.starts_with("<!-- ") {
                comment = "";
            }
            continue;
        };
        let body: Vec<&str> = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| !line.trim_start().starts_with("```"))
            .collect();
        let typed: Vec<&str> = match language.trim() {
            "sh" | "shell" | "bash" => body,
            other => {
                assert!(LANGUAGES.contains(&other), "line {}: a block of {other:?}", at + 1);
                let typed = body.iter().filter_map(|line| line.trim_start().strip_prefix("$ "));
                typed.collect()
            }
        };
        if !typed.is_empty() {
            blocks.push(commented(at + 1, typed.join("\n"), comment));
        }
        comment = "";
    }
    blocks
}

fn commented(line: usize, text: String, comment: &str) -> Block {
    let said = comment.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
    let (what, why) = said.and_then(|said| said.split_once(": ")).unwrap_or_default();
    let statuses = what.strip_prefix("status ").map_or(vec![0], |list| {
        let numbers = list.split(|one: char| !one.is_ascii_digit()).filter(|part| !part.is_empty());
        numbers.map(|number| number.parse().expect("a status")).collect()
    });
    let not_run = (what == "not run").then(|| why.to_owned());
    assert!(not_run.as_deref() != Some(""), "line {line}: give the reason");
    Block { line, text, statuses, not_run }
}

/// The lines of a source's comment that begin with `compiler`. They suppose that pkg-config finds PACMAN.
pub(crate) fn of_comment(source: &str, compiler: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut goes_on = false;
    for (at, line) in source.lines().enumerate() {
        let line = line.trim_start_matches([' ', '*', '!']);
        let line = line.strip_prefix("Build:").unwrap_or(line).trim();
        match blocks.last_mut() {
            Some(last) if goes_on => last.text.push_str(&format!("\n{line}")),
            _ if line.starts_with(compiler) => {
                let found = "export PKG_CONFIG_PATH=\"$HOME/.local/lib/pkgconfig\"";
                blocks.push(commented(at + 1, format!("{found}\n{line}"), ""));
            }
            _ => continue,
        }
        goes_on = line.ends_with('\\');
    }
    blocks
}

/// The examples of a help text, without their explanations.
pub(crate) fn of_help(help: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = help.lines().enumerate().skip_while(|(_, line)| !line.starts_with("Examples"));
    lines.next();
    let mut goes_on = false;
    for (at, line) in lines.take_while(|(_, line)| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        let command = without_explanation(line.trim_start());
        if goes_on {
            let last = blocks.last_mut().expect("a line before");
            last.text.push_str(&format!("\n{command}"));
        } else if indent == 2 {
            let text = command.to_owned();
            blocks.push(Block { line: at + 1, text, statuses: vec![0], not_run: None });
        } else {
            // An explanation has a line of its own.
            continue;
        }
        goes_on = command.ends_with('\\') || command.ends_with('|');
    }
    blocks
}

/// Commands inside of sentences: `` `pacman-pmu …` ``, as words. Three dots stand for something that is left out.
pub(crate) fn in_sentences(page: &str) -> Vec<Vec<String>> {
    let text: Vec<&str> = page.split("```").step_by(2).collect();
    let text = text.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let code = text.split('`').skip(1).step_by(2).filter(|code| !code.contains(['…', '$', '|']));
    let own = code.filter_map(|code| code.strip_prefix("pacman-pmu "));
    own.map(|rest| rest.split(' ').map(str::to_owned).collect()).collect()
}

/// The command of a line: an explanation stands behind two spaces at least.
fn without_explanation(line: &str) -> &str {
    let mut quote = None;
    for (at, one) in line.char_indices() {
        match (quote, one) {
            (None, '\'' | '"') => quote = Some(one),
            (Some(open), _) if open == one => quote = None,
            (None, ' ') if line[at..].starts_with("  ") => return &line[..at],
            _ => {}
        }
    }
    line
}

#[test]
fn pages_have_blocks_comments_and_prompts() {
    let page = "a\n\n<!-- not run: needs root -->\n```sh\nsudo a\n```\n\n```text\n$ b\nout\n```\n\
                <!-- status 1 or 3: here -->\n\n  ```sh\n  c\n  ```\n```c\n$\n```\n";
    let blocks = of_page(page);
    let seen: Vec<_> = blocks.iter().map(|block| (block.line, block.text.as_str())).collect();
    assert_eq!(seen, [(4, "sudo a"), (8, "b"), (14, "  c")]);
    assert_eq!(blocks[0].not_run.as_deref(), Some("needs root"));
    assert_eq!((&blocks[1].statuses[..], &blocks[2].statuses[..]), (&[0][..], &[1, 3][..]));
}

#[test]
fn helps_have_commands_and_explanations() {
    let help = "x\n\nExamples:\n  a 'b  c'   does it\n  d \\\n      e\n           more of it\n  f\n\nJSON:\n  g\n";
    let texts: Vec<String> = of_help(help).into_iter().map(|block| block.text).collect();
    assert_eq!(texts, ["a 'b  c'", "d \\\ne", "f"]);
}
