# How the emulator is made, for lab/build: the build dependencies, QEMU's
# configuration and the optimisation of its files. The hash of the sources covers it.

# Debian packages that the build needs beside a C compiler.
DEPENDENCIES=(gcc libc6-dev libglib2.0-dev libpixman-1-dev libfdt-dev meson ninja-build
    pkg-config python3 dpkg-dev patch xz-utils)

# The release of QEMU that the patch fits.
RELEASE=7.2

# One machine, no device that it does without, one static program.
CONFIGURE=(--static --target-list=x86_64-softmmu --without-default-features
    --without-default-devices --with-devices-x86_64=lab --enable-tcg --enable-system
    --disable-docs --disable-tools --disable-guest-agent --disable-debug-info
    --enable-trace-backends=nop --extra-cflags='-w -pipe -U_FORTIFY_SOURCE -O0')
DEVICES='CONFIG_I440FX=y'

# Files whose code a guest's instructions run through. The rest compiles in a third of the time
# without optimisation, and runs as rarely.
HOT='libqemu-x86_64-softmmu.fa.p/(target_i386_(tcg|helper|lab)|tcg_|accel_|softmmu_(physmem|icount|cpus))|libqemuutil.a.p/util_(qht|rcu|qsp|timer|qemu-timer|cacheflush)'

# optimise FILE: has the hot files of a build.ninja compiled with optimisation.
optimise() {
    awk -v hot="^build ($HOT)" '
        /^build / { is_hot = $0 ~ hot }
        is_hot && /^ ARGS/ { sub(/-U_FORTIFY_SOURCE -O0/, "-O2") }
        { print }' "$1" >"$1.new" && mv "$1.new" "$1"
}
