//! The C API of PACMAN.
