#!/bin/sh
# Builds PACMAN and installs it: the commands, the libraries and what belongs to them.
set -eu

usage() {
    cat <<'USAGE'
usage: ./install.sh --prefix PREFIX [--libdir DIR] [--dist | --from DIR]
       ./install.sh --uninstall --prefix PREFIX

  --prefix PREFIX   install below this absolute path, such as /usr/local
  --libdir DIR      for the C library: below PREFIX, or an absolute path in it (default lib)
  --dist            build for a package: smaller files, and several minutes
  --from DIR        install the files that cargo has built in DIR, without a build
  --uninstall       remove what an installation below PREFIX has put there
  --help            this text

Environment:
  DESTDIR           goes in front of every path that is written (for packages)
  CARGO, RUSTC      the programs to build with (default cargo, rustc)
USAGE
}

# refuse TEXT: ends because of the arguments.
refuse() {
    echo "install.sh: $1; --help lists the options" >&2
    exit 2
}

# fail TEXT: ends because of the machine.
fail() {
    echo "install.sh: $1" >&2
    exit 1
}

prefix='' libdir=lib from='' profile=release action=install
while [ $# -gt 0 ]; do
    case $1 in
        --help)
            usage
            exit 0
            ;;
        --uninstall) action=uninstall ;;
        --dist) profile=dist ;;
        --prefix=* | --libdir=* | --from=*)
            option=${1%%=*} value=${1#*=}
            shift
            set -- "$option" "$value" "$@"
            continue
            ;;
        --prefix | --libdir | --from)
            [ -n "${2-}" ] || refuse "$1 needs a path"
            case $1 in
                --prefix) prefix=$2 ;;
                --libdir) libdir=$2 ;;
                --from) from=$2 ;;
            esac
            shift
            ;;
        *) refuse "unknown argument $1" ;;
    esac
    shift
done
[ -z "$from" ] || [ "$profile" = release ] || refuse '--dist builds and --from does not: give one of them'
case $prefix in
    /*) prefix=${prefix%/} ;;
    '') refuse '--prefix is missing' ;;
    *) refuse "--prefix must be an absolute path, got $prefix" ;;
esac
libdir=${libdir#"$prefix"/}
case /$libdir/ in
    //* | */../*) refuse "--libdir must be below $prefix, got $libdir" ;;
esac
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=${DESTDIR-}$prefix
# The installed paths, each below the prefix a line; folders that were made end in a slash.
list=share/pacman/installed
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# forget PATH: removes what the list says of one path; a folder only if it is empty.
forget() {
    case $1 in
        ./) rmdir "$root" 2>/dev/null || : ;;
        */) rmdir "$root/$1" 2>/dev/null || : ;;
        *) rm -f "$root/$1" ;;
    esac
}

if [ "$action" = uninstall ]; then
    [ -f "$root/$list" ] || fail "nothing to uninstall: $root/$list does not exist"
    # Files come before their folders, and these before the ones that they lie in.
    LC_ALL=C sort -r "$root/$list" >"$scratch/list"
    while read -r path; do
        forget "$path"
    done <"$scratch/list"
    echo "uninstalled PACMAN from $root"
    exit 0
fi

version=$(sed -n 's/^#define PACMAN_VERSION  *"\(.*\)"$/\1/p' "$here/pacman-ffi/include/pacman.h")

# One build for everything. Cargo says where it puts each file.
if [ -n "$from" ]; then
    from=$(CDPATH='' cd -- "$from" && pwd)
else
    "${CARGO:-cargo}" build --manifest-path "$here/Cargo.toml" --profile "$profile" \
        -p pacman-cli -p pacman-train -p pacman-omp -p pacman-ffi --message-format json-render-diagnostics \
        >"$scratch/messages"
fi
# built FILE: the path of a file of the build.
built() {
    if [ -n "$from" ]; then
        path=$from/$1
    else
        path=$(sed -n "s|.*\"\\(/[^\"]*/$1\\)\".*|\\1|p" "$scratch/messages" | tail -n 1)
    fi
    [ -f "$path" ] || fail "the build has no $1${from:+ in $from}"
    printf '%s\n' "$path"
}
command=$(built pacman-pmu)
train=$(built pacman-train)
pages=$(built pacman-pages)
engine=$(built libpacman_omp_engine.so)
# Cargo does not list it: the engine's build script puts it beside the engine.
observer=${engine%/*}/libpacman_omp.so
[ -f "$observer" ] || fail "the build has no libpacman_omp.so beside $engine"
shared=$(built libpacman.so)
archive=$(built libpacman.a)
"$pages" "$here/pacman-ffi/include/pacman.h" "$scratch/pages"
# Libraries that a program needs beside the archive: those of Rust's standard library.
private=$(: | "${RUSTC:-rustc}" --crate-type staticlib --print native-static-libs -o "$scratch/empty.a" - 2>&1 |
    sed -n 's/.*native-static-libs: //p')
[ -n "$private" ] || fail "${RUSTC:-rustc} does not say what libpacman.a needs; RUSTC can name another rustc"

# Folders that an earlier installation made are still to be removed with this one.
: >"$scratch/list"
if [ -f "$root/$list" ]; then
    cp "$root/$list" "$scratch/earlier"
    grep '/$' "$scratch/earlier" >>"$scratch/list" || :
fi

# folder PATH: makes a folder below the prefix, and keeps which ones it made.
folder() {
    [ ! -d "$root/$1" ] || return 0
    case $1 in
        */*) folder "${1%/*}" ;;
    esac
    mkdir "$root/$1"
    echo "$1/" >>"$scratch/list"
}

# put MODE FILE PATH: installs a file. It comes beside the old one and then over it: programs that
# run keep the file that they mapped.
put() {
    folder "${3%/*}"
    cp "$2" "$root/${3%/*}/.pacman-new"
    chmod "$1" "$root/${3%/*}/.pacman-new"
    mv -f "$root/${3%/*}/.pacman-new" "$root/$3"
    echo "$3" >>"$scratch/list"
}

# link TO PATH: installs a symbolic link.
link() {
    ln -sf "$1" "$root/$2"
    echo "$2" >>"$scratch/list"
}

# put_program MODE FILE PATH: installs a program or a shared library without debug information,
# which goes to where debuggers look for it.
put_program() {
    name=${3##*/}
    if ! command -v objcopy >/dev/null; then
        echo "install.sh: objcopy is missing: $name keeps its debug information" >&2
        put "$@"
        return
    fi
    objcopy --only-keep-debug "$2" "$scratch/$name.debug"
    (cd "$scratch" && objcopy --strip-unneeded --add-gnu-debuglink="$name.debug" "$2" stripped)
    put "$1" "$scratch/stripped" "$3"
    put 644 "$scratch/$name.debug" "${3%/*}/.debug/$name.debug"
}

# filled FILE: the template with its values.
filled() {
    sed -e "s|@VERSION@|$version|g" -e "s|@MAJOR@|${version%%.*}|g" -e "s|@LIBDIR@|$libdir|g" \
        -e "s|@PRIVATE@|$private|g" -e "s|@PRIVATE_LIST@|$(echo "$private" | sed 's/-l//g; s/ /;/g')|g" \
        -e "s|@UP@|$(printf '%s' "$libdir" | sed 's|[^/][^/]*|..|g')|g" "$here/pacman-ffi/$1.in" >"$scratch/filled"
    echo "$scratch/filled"
}

if [ ! -d "$root" ]; then
    mkdir -p "$root"
    echo ./ >>"$scratch/list"
fi
put_program 755 "$command" bin/pacman-pmu
# The command starts it from its own folder.
put_program 755 "$train" bin/pacman-train
# The command looks for it here, whatever the place of other libraries.
put_program 644 "$observer" lib/pacman/libpacman_omp.so
# The library loads it from its own folder.
put_program 644 "$engine" lib/pacman/libpacman_omp_engine.so
put_program 644 "$shared" "$libdir/libpacman.so.$version"
link "libpacman.so.$version" "$libdir/libpacman.so.${version%%.*}"
link "libpacman.so.${version%%.*}" "$libdir/libpacman.so"
if command -v objcopy >/dev/null; then
    objcopy --strip-debug "$archive" "$scratch/archive"
    archive=$scratch/archive
fi
put 644 "$archive" "$libdir/libpacman.a"
put 644 "$here/pacman-ffi/include/pacman.h" include/pacman.h
put 644 "$here/pacman-ffi/fortran/pacman.f90" include/pacman.f90
put 644 "$(filled pacman.pc)" "$libdir/pkgconfig/pacman.pc"
for file in pacman-config.cmake pacman-config-version.cmake; do
    put 644 "$(filled "$file")" "$libdir/cmake/pacman/$file"
done
for section in 1 3; do
    for page in "$scratch/pages/man$section"/*; do
        put 644 "$page" "share/man/man$section/${page##*/}"
    done
done
put 644 "$scratch/pages/completions/bash" share/bash-completion/completions/pacman-pmu
put 644 "$scratch/pages/completions/zsh" share/zsh/site-functions/_pacman-pmu
put 644 "$scratch/pages/completions/fish" share/fish/vendor_completions.d/pacman-pmu.fish
for file in LICENSE-MIT LICENSE-APACHE NOTICE; do
    put 644 "$here/$file" "share/doc/pacman/$file"
done

folder "${list%/*}"
echo "$list" >>"$scratch/list"
LC_ALL=C sort -u "$scratch/list" >"$scratch/sorted"
put 644 "$scratch/sorted" "$list"
# Files of an earlier version that this one lacks.
if [ -f "$scratch/earlier" ]; then
    LC_ALL=C sort -u "$scratch/earlier" | LC_ALL=C comm -23 - "$scratch/sorted" >"$scratch/gone"
    while read -r path; do
        forget "$path"
    done <"$scratch/gone"
fi
echo "installed PACMAN $version under $root"
