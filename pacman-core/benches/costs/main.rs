//! What the library costs, against what it stands on, in one run.

mod baseline;
mod doorbell;
mod lab;

fn main() {
    if doorbell::in_lab() {
        match lab::run() {
            Ok(kept) => std::process::exit(if kept { 0 } else { 1 }),
            Err(error) => {
                println!("{error}");
                std::process::exit(2);
            }
        }
    }
}
