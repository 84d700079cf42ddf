//! Finds the libraries that the program has in it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The package that builds them says in which folder they are.
    if let Ok(folder) = std::env::var("DEP_PACMAN_OMP_FOLDER") {
        println!("cargo::rustc-env=PACMAN_OMP_FOLDER={folder}");
    }
}
