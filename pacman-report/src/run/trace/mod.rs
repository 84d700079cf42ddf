//! The report for trace viewers, in the Chrome trace event format and in Perfetto's own.

mod document;
mod event;
mod executions;
mod perfetto;
#[cfg(test)]
mod perfetto_tests;
mod phases;
mod pids;
mod protobuf;
mod rates;
#[cfg(test)]
mod tests;
mod timeline;
mod totals;

pub(super) use document::stream;
pub(super) use perfetto::stream as stream_perfetto;
