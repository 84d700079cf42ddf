//! Pages of the C API.

use std::fmt::Write;

use crate::header::{Function, Header};
use crate::roff;

/// A page for the API and one for each function, with their file names.
pub(crate) fn pages(header: &Header) -> Vec<(String, Vec<u8>)> {
    let functions = header.functions.iter().map(|it| (it.name.as_str(), function(it)));
    let all = std::iter::once(("pacman", overview(header))).chain(functions);
    all.map(|(name, page)| (format!("{name}.3"), page.into_bytes())).collect()
}

fn overview(header: &Header) -> String {
    let mut page = roff::title("pacman", 3);
    let (first, text) = header.overview.split_once('\n').unwrap_or((&header.overview, ""));
    name(&mut page, "pacman", first.split_once(": ").map_or(first, |(_, summary)| summary));
    roff::heading(&mut page, "DESCRIPTION");
    let mut part = String::new();
    for line in text.lines() {
        let is_title = !line.trim().is_empty()
            && line.chars().all(|letter| letter.is_ascii_uppercase() || letter == ' ');
        if is_title {
            roff::mixed(&mut page, part.trim_matches('\n'));
            part.clear();
            roff::heading(&mut page, line);
        } else {
            part.push_str(line);
            part.push('\n');
        }
    }
    roff::mixed(&mut page, part.trim_matches('\n'));
    roff::heading(&mut page, "FUNCTIONS");
    for function in &header.functions {
        page.push_str(".TP\n");
        let _ = writeln!(page, ".BR {} (3)", function.name);
        roff::paragraphs(&mut page, &function.summary);
    }
    roff::heading(&mut page, "CONSTANTS AND STRUCTS");
    roff::verbatim(&mut page, header.definitions.trim_start_matches('\n'));
    page
}

fn function(function: &Function) -> String {
    let mut page = roff::title(&function.name, 3);
    name(&mut page, &function.name, &function.summary);
    roff::heading(&mut page, "SYNOPSIS");
    roff::verbatim(&mut page, &format!("#include <pacman.h>\n\n{}", function.declaration));
    roff::heading(&mut page, "DESCRIPTION");
    let mut part = String::new();
    let mut has_rule = false;
    for line in function.text.lines() {
        has_rule |= line.starts_with("Thread rule: ");
        // A sentence of the description may begin with the same word, but before the thread rule.
        let title = match line {
            "Example" => "EXAMPLES",
            _ if has_rule && line.starts_with("Returns") => "RETURN VALUE",
            _ => "",
        };
        if !title.is_empty() {
            roff::mixed(&mut page, part.trim_matches('\n'));
            part.clear();
            roff::heading(&mut page, title);
        }
        if !matches!(line, "Example" | "Returns") {
            part.push_str(line);
            part.push('\n');
        }
    }
    roff::mixed(&mut page, part.trim_matches('\n'));
    roff::heading(&mut page, "SEE ALSO");
    page.push_str(".BR pacman (3)\n");
    page
}

fn name(page: &mut String, name: &str, summary: &str) {
    roff::heading(page, "NAME");
    let _ = writeln!(page, "{name} \\- {summary}");
}
