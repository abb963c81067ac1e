#!/bin/sh
# The backend's own code with a stand-in for Nx, with Debian's Elixir and a NIF that is built:
#
#   run_with_stand_in.sh <folder of adit_nif.so> <folder to work in>
set -eu
cd "$(dirname "$0")/.."
ADIT_NIF_DIR=$1
MIX_BUILD_PATH=$2
export ADIT_NIF_DIR MIX_BUILD_PATH ADIT_WITHOUT_NX=stand_in MIX_ENV=test LC_ALL=C.UTF-8
exec mix test test/stand_in_test.exs
