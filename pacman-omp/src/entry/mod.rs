//! The functions that the program finds instead of its runtime's.
//!
//! Most start a team ([`gomp`], [`kmpc`]). The others are only watched ([`watched`]): the
//! program's questions, and the ways out of the process.

// The loader finds them; nobody in this crate does.
#![allow(unreachable_pub)]

mod gomp;
mod kmpc;
mod ompt;
mod watched;
