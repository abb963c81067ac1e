// The check sum that our netCDF files carry after their end, where HDF5 reads nothing. It comes and goes with
// the file: whoever writes the file anew drops it, and a copy has it.
#pragma once

#include <optional>

#include "io/file.hpp"

namespace adit::netcdf {

// Bytes of the file itself, as its first block says. Nothing where that is not HDF5's.
std::optional<uint64_t> hdf5_size(ByteSpan file);

void append_check_sum(Bytes& file);

enum class CheckSum { right, wrong, absent };
struct Checked {
  CheckSum sum = CheckSum::absent;
  ByteSpan file;  // without the sum
};
Checked check(ByteSpan file);

}  // namespace adit::netcdf
