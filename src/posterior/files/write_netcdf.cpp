#include "posterior/check.hpp"
#include "posterior/files/check_sum.hpp"
#include "posterior/files/netcdf.hpp"

namespace adit {

void write_netcdf(const Draws& draws, const std::string& path) {
  check_draws("write_netcdf", draws);
  const Place place{"write_netcdf", path};
  Bytes file = netcdf::encode(place, draws);
  netcdf::append_check_sum(file);
  write_file(place, path, file, Links::replaced);
}

}  // namespace adit
