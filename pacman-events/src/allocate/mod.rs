//! Exact allocation: which counter counts which event, or the smallest set that cannot coexist.
