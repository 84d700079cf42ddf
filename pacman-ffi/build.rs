//! Gives the shared library its soname; `install.sh` makes the links to match.

fn main() {
    let abi = std::env::var("CARGO_PKG_VERSION_MAJOR").expect("cargo sets the version");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libpacman.so.{abi}");
    println!("cargo:rerun-if-changed=build.rs");
}
