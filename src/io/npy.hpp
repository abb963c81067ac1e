// One array as NumPy's .npy.
#pragma once

#include "io/file.hpp"

namespace adit::npy {

HostArray decode(const Place& place, ByteSpan bytes);
// How long a file is that starts so.
uint64_t promised_bytes(const Place& place, ByteSpan first);
Bytes encode(const Place& place, const HostView& array);
Bytes encode_header(const Place& place, DType type, const Shape& shape);

}  // namespace adit::npy
