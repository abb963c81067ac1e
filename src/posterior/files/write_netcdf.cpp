#include "posterior/files/check.hpp"
#include "posterior/files/netcdf.hpp"

namespace adit {

void write_netcdf(const Draws& draws, const std::string& path) {
  check_draws("write_netcdf", draws);
  const Place place{"write_netcdf", path};
  write_file(place, path, netcdf::encode(place, draws), Links::replaced);
}

}  // namespace adit
