//! `fields.tsv`: fields of unit masks that a name may leave empty, or that hold one value.

use std::fmt::Write;
use std::path::Path;

use crate::events::Events;
use crate::models::Models;
use crate::tsv::{self, Fault};

/// The bits of a unit mask in the selector.
const UNIT_MASK: u64 = 0xff00;

/// The statics of `unit_masks.rs`.
pub(crate) fn to_rust(data: &Path, models: &Models, events: &Events) -> Result<String, Fault> {
    let mut rust = String::from("pub(crate) static FIELDS: &[Field] = &[\n");
    for row in tsv::read(data, "fields.tsv", &["tables", "events", "field", "empty", "holds"])? {
        let (bits, empty) = (row.number("field")?, row.number("empty")?);
        let one_value = row.one_of("holds", &[("bits", false), ("one", true)])?;
        if bits & !UNIT_MASK != 0 || empty & !bits != 0 {
            return Err(
                row.fault("the field is not of the unit mask, or empty is not of the field")
            );
        }
        for table in row.list("tables") {
            let model = models.position(&table);
            let model = model.ok_or_else(|| row.fault(format!("no table {table}")))?;
            for event in row.list("events") {
                let code = events.code(model, &event).ok_or_else(|| {
                    row.fault(format!("{table} has no unit masks of one code for {event}"))
                })?;
                writeln!(
                    rust,
                    "Field {{ model: {model}, code: {code:#x}, bits: {bits:#x}, \
                     empty: {empty:#x}, one_value: {one_value} }},"
                )
                .expect("writing to a string");
            }
        }
    }
    rust.push_str("];\n");
    Ok(rust)
}
