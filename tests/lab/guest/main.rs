//! The program that runs in the lab's guests; `lab/main.rs` judges what it prints.

mod by_registers;
mod conflicts;
mod doorbell;
mod forked;
mod netburst;
mod registers;
mod siblings;
mod smt;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["by-registers"] => by_registers::run(),
        ["forked"] => forked::run(),
        ["netburst"] => netburst::run(),
        ["netburst-hold"] => netburst::hold(),
        ["registers", events] => registers::run(events),
        ["siblings"] => siblings::run(),
        ["smt", seconds] => smt::run(seconds.parse().expect("a number of seconds")),
        ["too-many"] => conflicts::too_many(),
        ["taken"] => conflicts::taken(),
        other => {
            eprintln!("lab-guest: no such job {other:?}; see lab/main.rs");
            std::process::exit(2);
        }
    };
    if let Err(error) = done {
        println!("error {:?}: {error}", error.kind());
        std::process::exit(1);
    }
}
