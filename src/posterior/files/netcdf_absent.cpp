// In place of netcdf_*.cpp where the build found no libnetcdf.
#include <adit/system.hpp>

#include "posterior/files/netcdf.hpp"

namespace adit::netcdf {
namespace {

[[noreturn]] void refuse(const std::string& function) {
  throw Error(
      ErrorKind::unsupported,
      "[" + function +
          "] netCDF: expected a build with libnetcdf, got one without; install libnetcdf-dev (Debian), "
          "netcdf-devel (Fedora) or netcdf (FreeBSD) and build again, or use CSV");
}

}  // namespace

Draws read(const std::string&, const Bytes&) { refuse("read_draws"); }
Bytes encode(const Place& place, const Draws&) { refuse(place.function); }

}  // namespace adit::netcdf

std::string adit::netcdf_name() { return {}; }
