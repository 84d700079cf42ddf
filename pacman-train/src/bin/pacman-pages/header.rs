//! The parts of pacman.h: its overview, its definitions and its functions.

/// The parts of pacman.h that the pages show.
#[derive(Debug, Default)]
pub(crate) struct Header {
    /// The file's first comment.
    pub(crate) overview: String,
    /// Constants and structs with their comments, as they stand in the file.
    pub(crate) definitions: String,
    pub(crate) functions: Vec<Function>,
}

/// A function with the comment before it.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) summary: String,
    pub(crate) text: String,
    /// Without attributes.
    pub(crate) declaration: String,
}

/// Takes a header apart whose functions have comments that begin with "name: summary".
pub(crate) fn parse(text: &str) -> Result<Header, String> {
    let mut header = Header::default();
    let mut lines = text.lines().peekable();
    if lines.next() != Some("/*") {
        return Err("line 1 does not begin a comment".to_string());
    }
    header.overview = comment(&mut lines);
    // Includes and macros for compilers up to the block that C++ needs are no part of the API.
    lines.by_ref().find(|line| line.starts_with("extern \"C\""));
    lines.next();
    while let Some(line) = lines.next() {
        let describes = lines.peek().is_some_and(|next| next.starts_with(" * pacman_"));
        if line == "#ifdef __cplusplus" {
            break;
        } else if line == "/*" && describes {
            let text = comment(&mut lines);
            header.functions.push(function(&text, &declaration(&mut lines))?);
        } else if line.starts_with("/* ---") {
            comment(&mut lines);
        } else {
            header.definitions.push_str(line);
            header.definitions.push('\n');
        }
    }
    if header.functions.is_empty() {
        return Err("no comment describes a function".to_string());
    }
    Ok(header)
}

/// The rest of a comment, without the stars in front of its lines.
fn comment<'a>(lines: &mut impl Iterator<Item = &'a str>) -> String {
    let rest = lines.take_while(|line| !line.ends_with("*/"));
    let bare = rest.map(|line| line.strip_prefix(" * ").unwrap_or(line.trim_start_matches(" *")));
    bare.collect::<Vec<_>>().join("\n")
}

/// The lines up to a semicolon.
fn declaration<'a>(lines: &mut impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line);
        text.push('\n');
        if line.ends_with(';') {
            break;
        }
    }
    let plain = text.split("\n    PACMAN_").next().unwrap_or_default();
    format!("{};", plain.trim_end().trim_end_matches(';'))
}

fn function(comment: &str, declaration: &str) -> Result<Function, String> {
    let (first, text) = comment.split_once("\n\n").unwrap_or((comment, ""));
    let first = first.replace('\n', " ");
    let Some((name, summary)) = first.split_once(": ") else {
        return Err(format!("no summary in \"{first}\""));
    };
    if !declaration.contains(&format!("{name}(")) {
        return Err(format!("{name} is described, but {declaration} follows"));
    }
    Ok(Function {
        name: name.to_string(),
        summary: summary.to_string(),
        text: text.to_string(),
        declaration: declaration.to_string(),
    })
}
