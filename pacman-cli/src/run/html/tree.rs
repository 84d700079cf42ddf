//! The efficiency tree as a picture: a bar for each factor, the worst one marked.

use super::escape::escaped;
use crate::run::report::{FactorLoss, ProcessReport};
use crate::run::text::{meaning, name, number, reason_at, share};

/// The section, or the way to one if waits were not timed.
pub(super) fn section(process: &ProcessReport) -> String {
    let Some(tree) = &process.efficiency else {
        let why = match process.regions.iter().any(|region| region.states.is_some()) {
            true => "Several threads started regions: there is no efficiency of the whole program.",
            false => {
                "Waits inside of regions were not timed; <code>--waits</code> adds them and the \
                      efficiency tree."
            }
        };
        return format!("<section class=\"tree\"><h2>Efficiency</h2><p>{why}</p></section>\n");
    };
    let lacks = process.lacks_processors();
    let whole = row(
        "whole",
        "parallel efficiency",
        tree.efficiency.parallel,
        &format!("useful work in the time of {}", number(tree.threads, "thread")),
    );
    let factors = tree.factors();
    let rows: String = factors
        .iter()
        .enumerate()
        .map(|(at, loss)| {
            let is_worst = at == 0 && !lacks && loss.value < WORTH_A_MARK;
            let class = if is_worst { "factor worst" } else { "factor" };
            row(class, name(loss.factor), loss.value, &cause(loss, process))
        })
        .collect();
    format!(
        "<section class=\"tree\"><h2>Efficiency</h2><ol class=\"factors\">{}{whole}</ol>\
         <p class=\"hint\">The product of these factors, worst first:</p>\
         <ol class=\"factors product{}\">{rows}</ol></section>\n",
        processors(process) + &useful_on_processor(process),
        if lacks { " doubtful" } else { "" },
    )
}

/// The processor share, first and marked where it is what costs most.
fn processors(process: &ProcessReport) -> String {
    let Some(value) = process.processor_share() else { return String::new() };
    let class = if process.lacks_processors() { "beside worst" } else { "beside" };
    row(class, "processor share", value, "ran, of the time in which threads could run")
}

/// The part of useful time on a processor, beside the factors.
fn useful_on_processor(process: &ProcessReport) -> String {
    let Some(value) = process.useful_processor_share() else { return String::new() };
    row("beside", "on a processor", value, "of the useful time in regions")
}

/// A factor: a bar with its value.
pub(super) fn row(class: &str, name: &str, value: f64, words: &str) -> String {
    let worst = if class.ends_with("worst") { "<em class=\"tag\">worst</em> " } else { "" };
    format!(
        "<li class=\"{class}\"><span class=\"name\">{name}</span>\
         <span class=\"gauge\"><span style=\"width:{:.2}%\"></span></span><b>{}</b>\
         <small>{worst}{}</small></li>",
        (100.0 * value).clamp(0.0, 100.0),
        escaped(&share(value)),
        escaped(words),
    )
}

fn cause(loss: &FactorLoss, process: &ProcessReport) -> String {
    let worst = loss.worst.filter(|(_, part)| *part >= WORTH);
    let worst = worst.map(|(reason, part)| {
        format!("; above all {}, {}", reason_at(reason, &process.sites), share(part))
    });
    format!("{}{}", meaning(loss.factor), worst.unwrap_or_default())
}

/// The part of the time from which on a loss is worth a word.
const WORTH: f64 = 0.01;
/// A factor above this costs too little to be marked: the headline says what matters more.
pub(super) const WORTH_A_MARK: f64 = 0.95;
