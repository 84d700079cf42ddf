//! Predictors on machines whose truth is known.

mod steps;
