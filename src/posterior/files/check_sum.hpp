// The check sum that our netCDF files carry after their end, where HDF5 reads nothing. It comes and goes with
// the file: whoever writes the file anew drops it, and a copy has it.
#pragma once

#include <optional>
#include <string_view>

#include "io/file.hpp"

namespace adit::netcdf {

// Bytes of the file itself, as its first block says. Nothing where that is not HDF5's.
std::optional<uint64_t> hdf5_size(ByteSpan file);

// What its line begins with, and how long it is.
inline constexpr std::string_view check_sum_head = "\n\nadit: XXH3-128 of what stands above: ";
inline constexpr size_t check_sum_length = check_sum_head.size() + 32 + 1;

void append_check_sum(Bytes& file);

enum class CheckSum { right, wrong, absent };
struct Checked {
  CheckSum sum = CheckSum::absent;
  ByteSpan file;  // without the sum
};
Checked check(ByteSpan file);

}  // namespace adit::netcdf
