//! `refusals.tsv`: names of other tools that a table cannot count, and why.

use std::fmt::Write;
use std::path::Path;

use crate::models::Models;
use crate::tsv::{self, Fault};

/// The statics of `refusal.rs`, in the order of the file.
pub(crate) fn to_rust(data: &Path, models: &Models) -> Result<String, Fault> {
    let mut rust = String::from("pub(crate) static REFUSALS: &[RefusalRow] = &[\n");
    for row in tsv::read(data, "refusals.tsv", &["names", "tables", "reason"])? {
        let mut within = 0u128;
        for place in row.list("tables") {
            let found = models.named(&place);
            if found.is_empty() {
                return Err(row.fault(format!("no table or group {place}")));
            }
            within = found.iter().fold(within, |within, model| within | 1 << model);
        }
        let reason = row.required("reason")?;
        for name in row.list("names") {
            writeln!(
                rust,
                "RefusalRow {{ name: {name:?}, reason: {reason:?}, models: {within:#x} }},"
            )
            .expect("writing to a string");
        }
    }
    rust.push_str("];\n");
    Ok(rust)
}
