// netCDF through libnetcdf, which a build may lack.
#pragma once

#include <adit/draws.hpp>

#include "io/file.hpp"

namespace adit::netcdf {

Draws read(const std::string& path, const Bytes& contents);
// What the file is to hold; the library works in memory, since it does not survive a full disk.
Bytes encode(const Place& place, const Draws& draws);

}  // namespace adit::netcdf
