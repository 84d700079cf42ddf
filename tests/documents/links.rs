//! Pages and links.

use std::path::Path;

use crate::markdown::{anchors, links};
use crate::{files, read, root};

#[test]
fn every_page_is_in_the_summary() {
    let docs = root().join("docs");
    let summary: Vec<String> =
        links(&read(&docs.join("SUMMARY.md"))).into_iter().map(|(_, target)| target).collect();
    let missing: Vec<String> = files(&docs, "md")
        .iter()
        .map(|page| page.strip_prefix(&docs).expect("a page is below docs").display().to_string())
        .filter(|page| page != "SUMMARY.md" && !summary.contains(page))
        .collect();
    assert!(summary.len() > 10, "docs/SUMMARY.md names {} pages", summary.len());
    assert!(missing.is_empty(), "docs/SUMMARY.md does not name {missing:?}");
}

#[test]
fn every_relative_link_leads_to_a_file_and_a_heading() {
    let mut broken = Vec::new();
    let mut checked = 0;
    for page in files(&root(), "md") {
        for (line, target) in links(&read(&page)) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            if let Err(why) = follow(&page, &target) {
                let page = page.strip_prefix(root()).expect("a page of the repository");
                broken.push(format!("{}:{line}: {target}: {why}", page.display()));
            }
        }
    }
    assert!(checked > 50, "only {checked} links were found");
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

fn follow(page: &Path, target: &str) -> Result<(), String> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() {
        page.to_path_buf()
    } else {
        page.parent().expect("a page is in a folder").join(file)
    };
    if !path.exists() {
        return Err("no such file".to_owned());
    }
    if !heading.is_empty() && !anchors(&read(&path)).iter().any(|anchor| anchor == heading) {
        return Err("no such heading".to_owned());
    }
    Ok(())
}
