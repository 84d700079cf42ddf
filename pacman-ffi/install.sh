#!/bin/sh
# Builds libpacman and installs library, header and pkg-config file.
#
# usage: install.sh PREFIX
#   PREFIX            where programs will look, such as /usr/local; an absolute path
#   DESTDIR           put in front of every path that is written (for packages)
#   LIBDIR            below PREFIX (default lib)
#   PACMAN_PROFILE    cargo's profile (default release)
#   CARGO             the cargo to use (default cargo)
set -eu

case ${1-} in
    /*) prefix=${1%/} ;;
    *)
        echo 'usage: install.sh PREFIX   (an absolute path, such as /usr/local)' >&2
        exit 2
        ;;
esac
cargo=${CARGO:-cargo}
profile=${PACMAN_PROFILE:-release}
libdir=${LIBDIR:-lib}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# One build for all kinds of library; rustc also says what the static one needs.
if ! "$cargo" rustc --manifest-path "$here/Cargo.toml" --lib --profile "$profile" \
    --message-format json-render-diagnostics -- --print native-static-libs \
    >"$scratch/messages" 2>"$scratch/log"; then
    cat "$scratch/log" >&2
    exit 1
fi
# The path that cargo reports for a file of this package.
built() {
    sed -n "s|.*\"\\(/[^\"]*/$1\\)\".*|\\1|p" "$scratch/messages" | tail -n 1
}
shared=$(built 'libpacman\.so')
archive=$(built 'libpacman\.a')
private=$(sed -n 's/.*native-static-libs: //p' "$scratch/log" | tail -n 1)
version=$(sed -n 's/^#define PACMAN_VERSION  *"\(.*\)"$/\1/p' "$here/include/pacman.h")
if [ ! -f "$shared" ] || [ ! -f "$archive" ] || [ -z "$version" ]; then
    echo 'install.sh: cargo did not say where it put the libraries' >&2
    exit 1
fi

root=${DESTDIR-}$prefix
mkdir -p "$root/$libdir/pkgconfig" "$root/include"
cp "$here/include/pacman.h" "$root/include/pacman.h"
cp "$archive" "$root/$libdir/libpacman.a"
# Beside the old one and then over it: programs that run keep the file they mapped.
cp "$shared" "$root/$libdir/.libpacman.so.new"
mv -f "$root/$libdir/.libpacman.so.new" "$root/$libdir/libpacman.so.$version"
ln -sf "libpacman.so.$version" "$root/$libdir/libpacman.so.${version%%.*}"
ln -sf "libpacman.so.${version%%.*}" "$root/$libdir/libpacman.so"

# Paths hang on where the file itself is found, so that the tree may be moved.
up=$(printf '%s/pkgconfig' "$libdir" | sed 's|[^/][^/]*|..|g')
cat >"$root/$libdir/pkgconfig/pacman.pc" <<END
prefix=\${pcfiledir}/$up
libdir=\${prefix}/$libdir
includedir=\${prefix}/include

Name: pacman
Description: Hardware performance counters per thread on SMT cores
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lpacman
Libs.private: $private
END
echo "installed libpacman $version under $root"
