#include "cli/saved_draws.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include <adit/checkpoint.hpp>
#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/cut_run.hpp"
#include "cli/run_folder.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

// theta_2.csv comes before theta_10.csv.
bool in_order_of_chains(const fs::path& a, const fs::path& b) {
  const std::string x = a.string(), y = b.string();
  return x.size() != y.size() ? x.size() < y.size() : x < y;
}

bool is_draws(const fs::path& path) {
  return path.extension() == ".csv" || path.filename() == RunFolder::netcdf_name;
}

// A checkpoint and no draws that were saved after it: a run that was stopped in good order has both.
bool holds_cut_run(const fs::path& folder) {
  const fs::path checkpoint = folder / RunFolder::checkpoint_name;
  if (!fs::exists(checkpoint)) return false;
  const auto written = fs::last_write_time(checkpoint);
  for (const auto& entry : fs::directory_iterator(folder))
    if (is_draws(entry.path()) && entry.last_write_time() >= written) return false;
  return true;
}

std::vector<std::string> files_of(const std::string& where, const fs::path& folder) {
  if (holds_cut_run(folder)) return {(folder / RunFolder::checkpoint_name).string()};
  if (fs::exists(folder / RunFolder::netcdf_name)) return {(folder / RunFolder::netcdf_name).string()};
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".csv") found.push_back(entry.path());
  std::sort(found.begin(), found.end(), in_order_of_chains);
  if (found.empty())
    throw Error(ErrorKind::not_found, fmt::format("{}: no draws in {}", where, printable(folder.string())));
  return {found.begin(), found.end()};
}

}  // namespace

void require_exists(const std::string& command, const std::string& argument, const std::string& path) {
  if (!fs::exists(path))
    throw Error(ErrorKind::not_found,
                fmt::format("[{}] {}: {} does not exist", command, argument, printable(path)));
}

Draws read_saved(const std::string& command, const std::string& argument,
                 const std::vector<std::string>& paths) {
  const std::string where = fmt::format("[{}] {}", command, argument);
  std::vector<std::string> files;
  for (const std::string& typed : paths) {
    const std::string path = typed == "-" ? "/dev/stdin" : typed;
    require_exists(command, argument, path);
    const auto found = fs::is_directory(path) ? files_of(where, path) : std::vector{path};
    files.insert(files.end(), found.begin(), found.end());
  }
  for (const std::string& file : files) {
    if (!fs::is_regular_file(file) || !is_checkpoint(file)) continue;  // a pipe can be read once alone
    if (files.size() > 1)
      throw Error(ErrorKind::bad_argument, fmt::format("{}: expected the checkpoint {} alone, got {} files",
                                                       where, file, files.size()));
    return read_cut_run(where, file);
  }
  return read_draws(files);
}

nlohmann::ordered_json to_json(const std::vector<SummaryRow>& rows) {
  auto array = nlohmann::ordered_json::array();
  for (const SummaryRow& row : rows)
    array.push_back({{"name", printable(row.name)},
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
