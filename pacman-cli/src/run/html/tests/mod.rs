//! Parts of the page, of made-up runs.

mod pictures;
mod timeline;
mod verdict;
