// One array as NumPy's .npy.
#pragma once

#include "io/file.hpp"

namespace adit::npy {

HostArray decode(const Place& place, ByteSpan bytes);
Bytes encode(const Place& place, const HostView& array);

}  // namespace adit::npy
