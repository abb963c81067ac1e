#include "cli/saved_draws.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include <adit/error.hpp>

#include "cli/run_folder.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

// theta_2.csv comes before theta_10.csv.
bool in_order_of_chains(const fs::path& a, const fs::path& b) {
  const std::string x = a.string(), y = b.string();
  return x.size() != y.size() ? x.size() < y.size() : x < y;
}

std::vector<std::string> files_of(const std::string& where, const fs::path& folder) {
  if (fs::exists(folder / RunFolder::netcdf_name)) return {(folder / RunFolder::netcdf_name).string()};
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".csv") found.push_back(entry.path());
  std::sort(found.begin(), found.end(), in_order_of_chains);
  if (found.empty() && fs::exists(folder / RunFolder::checkpoint_name))
    throw Error(ErrorKind::not_found,
                fmt::format("{}: {} holds a run that was cut short; the command that made it, with --resume, "
                            "goes on from there",
                            where, folder.string()));
  if (found.empty())
    throw Error(ErrorKind::not_found, fmt::format("{}: no draws in {}", where, folder.string()));
  return {found.begin(), found.end()};
}

}  // namespace

void require_exists(const std::string& command, const std::string& argument, const std::string& path) {
  if (!fs::exists(path))
    throw Error(ErrorKind::not_found, fmt::format("[{}] {}: {} does not exist", command, argument, path));
}

Draws read_saved(const std::string& command, const std::string& argument,
                 const std::vector<std::string>& paths) {
  const std::string where = fmt::format("[{}] {}", command, argument);
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    require_exists(command, argument, path);
    const auto found = fs::is_directory(path) ? files_of(where, path) : std::vector{path};
    files.insert(files.end(), found.begin(), found.end());
  }
  return read_draws(files);
}

nlohmann::ordered_json to_json(const std::vector<SummaryRow>& rows) {
  auto array = nlohmann::ordered_json::array();
  for (const SummaryRow& row : rows)
    array.push_back({{"name", row.name},
                     {"mean", row.mean},
                     {"mcse", row.mcse},
                     {"sd", row.sd},
                     {"mad", row.mad},
                     {"q5", row.q5},
                     {"q50", row.q50},
                     {"q95", row.q95},
                     {"ess_bulk", row.ess_bulk},
                     {"ess_tail", row.ess_tail},
                     {"r_hat", row.r_hat}});
  return array;
}

}  // namespace adit::cli
