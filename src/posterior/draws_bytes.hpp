// Draws as bytes, for the way from one process to another.
#pragma once

#include <adit/draws.hpp>

#include "io/file.hpp"

namespace adit {

Bytes to_bytes(const Draws& draws);
// Fails where the bytes are not those of draws.
Draws draws_of(const Place& place, ByteSpan bytes);

}  // namespace adit
