//! The command `pacman-pmu`.

use std::process::ExitCode;

/// The loader calls this function before Rust's runtime begins. The static is in the binary,
/// because a linker may drop it from a library that does not use it.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = pacman_cli::started::look;

/// The libraries that `run` preloads, for a program that was installed alone.
#[cfg(all(feature = "embedded", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod embedded {
    use std::arch::global_asm;

    use pacman_cli::recording::Embedded;

    // The assembler reads the files: when a program is only checked, the linker has not made them.
    global_asm!(
        concat!(
            ".pushsection .rodata.pacman_omp, \"a\", @progbits\n",
            "pacman_omp_library: .incbin \"",
            env!("PACMAN_OMP_FOLDER"),
            "/libpacman_omp.so\"\npacman_omp_engine: .incbin \"",
            env!("PACMAN_OMP_FOLDER"),
            "/libpacman_omp_engine.so\"\npacman_omp_end: .popsection",
        ),
        options(raw)
    );

    unsafe extern "C" {
        safe static pacman_omp_library: u8;
        safe static pacman_omp_engine: u8;
        safe static pacman_omp_end: u8;
    }

    pub(crate) fn libraries() -> Embedded {
        let between = |begin: &'static u8, end: &'static u8| {
            let (begin, end) = (&raw const *begin, &raw const *end);
            // SAFETY: the assembler puts one file between two of these symbols, which come in this order.
            unsafe { std::slice::from_raw_parts(begin, end.addr() - begin.addr()) }
        };
        Embedded {
            library: between(&pacman_omp_library, &pacman_omp_engine),
            engine: between(&pacman_omp_engine, &pacman_omp_end),
        }
    }
}

fn main() -> ExitCode {
    #[cfg(all(feature = "embedded", any(target_arch = "x86_64", target_arch = "aarch64")))]
    pacman_cli::recording::embed(embedded::libraries());
    pacman_cli::main()
}
