//! Parts of the page, of made-up runs.

mod made;
mod pictures;
mod timeline;
mod verdict;
