#!/bin/sh
# conda-build runs it in the sources.
set -eu
./install.sh --dist --prefix "$PREFIX"
# conda keeps its own list of files.
rm -r "$PREFIX/share/pacman"
