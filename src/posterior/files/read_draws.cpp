// The format of files is seen from their first bytes.
#include <algorithm>
#include <fmt/format.h>

#include <adit/text.hpp>

#include "posterior/files/csv.hpp"
#include "posterior/files/netcdf.hpp"

namespace adit {
namespace {

bool is_netcdf(const Bytes& bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 4));
  return head == "\x89HDF" || head.starts_with("CDF");
}

// Models of others have the log likelihoods among what they compute of a draw, by custom under this name.
void take_log_likelihood(Draws& draws) {
  const auto at = std::find_if(
      draws.variables.begin(), draws.variables.end(),
      [](const DrawsVariable& variable) { return variable.name == "log_lik" && variable.shape.size() > 0; });
  if (!draws.log_likelihood.empty() || at == draws.variables.end()) return;
  draws.log_likelihood.push_back(std::move(*at));
  draws.variables.erase(at);
}

// What a file says of its run is not believed beyond what a run can be (2^30 iterations).
void bound_counts(Draws& draws) {
  constexpr int64_t most = int64_t{1} << 30;
  draws.warmup = std::clamp<int64_t>(draws.warmup, 0, most);
  draws.thin = std::clamp<int64_t>(draws.thin, 1, most);
  draws.max_depth = std::clamp<int64_t>(draws.max_depth, 0, 64);
}

Draws read_files(const std::vector<std::string>& paths) {
  std::vector<Bytes> contents;
  for (const std::string& path : paths) {
    contents.push_back(read_file({"read_draws", printable(path)}, path));
    if (!is_netcdf(contents.back())) continue;
    if (paths.size() > 1)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("[read_draws] paths: expected one netCDF file or CSV files alone, got {} files "
                              "with the netCDF file {} among them",
                              paths.size(), printable(path)));
    return netcdf::read(path, contents.back());
  }
  return csv::read(paths, contents);
}

}  // namespace

Draws read_draws(const std::vector<std::string>& paths) {
  if (paths.empty())
    throw Error(ErrorKind::bad_argument, "[read_draws] paths: expected files of draws, got none");
  Draws draws = read_files(paths);
  bound_counts(draws);
  take_log_likelihood(draws);
  return draws;
}

}  // namespace adit
