#!/bin/sh
# The tests that need no Nx, with Debian's Elixir and a NIF that is built:
#
#   run_without_nx.sh <folder of adit_nif.so> <folder to work in> [what `mix test` takes]
set -eu
cd "$(dirname "$0")/.."
ADIT_NIF_DIR=$1
MIX_BUILD_PATH=$2
shift 2
export ADIT_NIF_DIR MIX_BUILD_PATH ADIT_WITHOUT_NX=1 MIX_ENV=test LC_ALL=C.UTF-8
exec mix test "$@"
