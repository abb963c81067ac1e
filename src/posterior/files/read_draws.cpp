// The format of files is seen from their first bytes.
#include <fmt/format.h>

#include "posterior/files/csv.hpp"
#include "posterior/files/netcdf.hpp"

namespace adit {
namespace {

bool is_netcdf(const Bytes& bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 4));
  return head == "\x89HDF" || head.starts_with("CDF");
}

}  // namespace

Draws read_draws(const std::vector<std::string>& paths) {
  if (paths.empty())
    throw Error(ErrorKind::bad_argument, "[read_draws] paths: expected files of draws, got none");
  std::vector<Bytes> contents;
  for (const std::string& path : paths) {
    contents.push_back(read_file({"read_draws", path}, path));
    if (!is_netcdf(contents.back())) continue;
    if (paths.size() > 1)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("[read_draws] paths: expected one netCDF file or CSV files alone, got {} files "
                              "with the netCDF file {} among them",
                              paths.size(), path));
    return netcdf::read(path, contents.back());
  }
  return csv::read(paths, contents);
}

}  // namespace adit
