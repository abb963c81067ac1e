#include "cli/saved_draws.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include <adit/checkpoint.hpp>
#include <adit/draws_origin.hpp>
#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/cut_run.hpp"
#include "cli/output.hpp"
#include "cli/paths.hpp"
#include "cli/run_folder.hpp"
#include "cli/staged_files.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

// theta_2.csv comes before theta_10.csv.
bool in_order_of_chains(const fs::path& a, const fs::path& b) {
  const std::string x = a.string(), y = b.string();
  return x.size() != y.size() ? x.size() < y.size() : x < y;
}

bool is_csv(const fs::path& path) { return path.extension() == ".csv"; }

bool is_chain_of_ours(const fs::path& path) {
  return is_csv(path) && mark_of_file(path.string()) == FileMark::csv &&
         !origin_of_csv(path.string()).run.empty();
}

bool is_netcdf_of_ours(const fs::path& path) {
  return path.filename() == RunFolder::netcdf_name && mark_of_file(path.string()) == FileMark::netcdf;
}

// Ours, or else CmdStan's, or else all there are: other tables may lie beside them.
std::vector<fs::path> chains_in(const std::string& where, const fs::path& folder) {
  std::vector<fs::path> ours, cmdstans, all;
  for (const fs::path& path : entries_of(where, folder)) {
    if (!is_csv(path)) continue;
    all.push_back(path);
    if (is_chain_of_ours(path)) ours.push_back(path);
    if (mark_of_file(path.string()) == FileMark::cmdstan_csv) cmdstans.push_back(path);
  }
  std::vector<fs::path>& found = !ours.empty() ? ours : !cmdstans.empty() ? cmdstans : all;
  std::sort(found.begin(), found.end(), in_order_of_chains);
  return found;
}

fs::file_time_type time_of(const fs::path& path) {
  std::error_code ignored;
  return fs::last_write_time(path, ignored);
}

// A checkpoint and no draws that were saved after it, or not all of them: a run that was stopped in good
// order has both.
bool holds_cut_run(const std::string& where, const fs::path& folder, bool all_in_place) {
  const fs::path checkpoint = folder / RunFolder::checkpoint_name;
  if (kind_at(where, checkpoint) != PathKind::file || !is_checkpoint(checkpoint.string())) return false;
  if (!all_in_place) return true;
  for (const fs::path& path : entries_of(where, folder))
    if ((is_chain_of_ours(path) || is_netcdf_of_ours(path)) && time_of(path) >= time_of(checkpoint))
      return false;
  return true;
}

// One that has no draws yet does not hide those of a whole run before it.
bool hides_whole_run(const std::string& where, const fs::path& folder) {
  const auto is_draws = [](const fs::path& path) {
    return is_chain_of_ours(path) || is_netcdf_of_ours(path);
  };
  return std::ranges::any_of(entries_of(where, folder), is_draws) &&
         draws_in_checkpoint((folder / RunFolder::checkpoint_name).string()).value_or(0) == 0;
}

std::vector<std::string> files_of(const std::string& where, const fs::path& folder) {
  const std::string obstacle = StagedFiles::settle(folder);
  const bool all_in_place = obstacle.empty();
  if (holds_cut_run(where, folder, all_in_place) && !(all_in_place && hides_whole_run(where, folder)))
    return {(folder / RunFolder::checkpoint_name).string()};
  if (!all_in_place)
    throw Error(ErrorKind::io,
                fmt::format("{}: expected the files of a run in {}, got some of them: it ended "
                            "while it moved them there, and this command cannot move the rest: {}",
                            where, printable(folder.string()), obstacle));
  const std::vector<fs::path> chains = chains_in(where, folder);
  const fs::path netcdf = folder / RunFolder::netcdf_name;
  const bool has_chains = !chains.empty() && is_chain_of_ours(chains.front());
  if (kind_at(where, netcdf) != PathKind::nothing && (!has_chains || is_netcdf_of_ours(netcdf)))
    return {netcdf.string()};
  if (chains.empty())
    throw Error(ErrorKind::not_found, fmt::format("{}: no draws in {}", where, printable(folder.string())));
  return {chains.begin(), chains.end()};
}

// Draws of two runs in a folder: it cannot be told which are meant.
void expect_one_run(const std::string& where, const fs::path& folder, const std::string& run) {
  for (const fs::path& path : entries_of(where, folder)) {
    const std::string other = is_csv(path) ? origin_of_csv(path.string()).run : "";
    if (!other.empty() && other != run)
      throw Error(ErrorKind::io,
                  fmt::format("{}: expected the files of one run in {}, got {} of another beside them; name "
                              "the files that are meant",
                              where, folder.string(), path.filename().string()));
  }
}

// Of which `files` are not.
void tell_of_newer_run(const std::string& where, const fs::path& folder,
                       const std::vector<std::string>& files) {
  const std::string checkpoint = (folder / RunFolder::checkpoint_name).string();
  if (files.front() != checkpoint && holds_cut_run(where, folder, true))
    print_err(
        "The newer run in {} has no draws that it could go on from; these are those of the run before it.\n",
        printable(checkpoint));
}

// Of a folder all chains are expected; who names files may want some of them, and is told.
void expect_every_chain(const std::string& where, const std::string& file, int64_t chains, bool from_folder) {
  const DrawsOrigin origin = is_csv(file) ? origin_of_csv(file) : DrawsOrigin{};
  if (chains >= origin.chains) return;
  const std::string got = fmt::format("{} of the run's {} chains", chains, origin.chains);
  if (from_folder && !origin.run.empty())
    throw Error(ErrorKind::io,
                fmt::format("{}: expected all files of the run of {}, got {}; name files to use "
                            "these alone",
                            where, file, got));
  print_err("Only {} are there.\n", got);
}

}  // namespace

void require_exists(const std::string& command, const std::string& argument, const std::string& path) {
  if (kind_at(fmt::format("[{}] {}", command, argument), path) == PathKind::nothing)
    throw Error(ErrorKind::not_found,
                fmt::format("[{}] {}: {} does not exist", command, argument, printable(path)));
}

void require_file(const std::string& command, const std::string& argument, const std::string& path) {
  require_exists(command, argument, path);
  const std::string where = fmt::format("[{}] {}", command, argument);
  if (kind_at(where, path) == PathKind::folder)
    throw Error(ErrorKind::io, fmt::format("{}: expected a file, got the folder {}", where, printable(path)));
}

std::vector<std::string> saved_files(const std::string& command, const std::string& argument,
                                     const std::vector<std::string>& paths) {
  const std::string where = fmt::format("[{}] {}", command, argument);
  std::vector<std::string> files;
  for (const std::string& typed : paths) {
    const std::string path = typed == "-" ? "/dev/stdin" : typed;
    require_exists(command, argument, path);
    const PathKind kind = kind_at(where, path);
    if (kind == PathKind::file) StagedFiles::settle(parent_of(path));
    const auto found = kind == PathKind::folder ? files_of(where, path) : std::vector{path};
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

namespace {

Draws read_files(const std::string& where, const std::vector<std::string>& paths,
                 const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (!fs::is_regular_file(file) || !is_checkpoint(file)) continue;  // a pipe can be read once alone
    if (files.size() > 1)
      throw Error(ErrorKind::bad_argument, fmt::format("{}: expected the checkpoint {} alone, got {} files",
                                                       where, file, files.size()));
    return read_cut_run(where, file);
  }
  Draws draws = read_draws(files);
  bool from_folder = false;
  for (const std::string& path : paths) {
    if (kind_at(where, path) != PathKind::folder) continue;
    from_folder = true;
    tell_of_newer_run(where, path, files);
    if (!is_csv(files.front())) expect_one_run(where, path, run_name(draws));
  }
  expect_every_chain(where, files.front(), draws.chains, from_folder);
  return draws;
}

}  // namespace

// A run may come to its end between the look and the reading: then other files are there, and those are read.
Draws read_saved(const std::string& command, const std::string& argument,
                 const std::vector<std::string>& paths) {
  const std::string where = fmt::format("[{}] {}", command, argument);
  const std::vector<std::string> files = saved_files(command, argument, paths);
  try {
    return read_files(where, paths, files);
  } catch (const Error&) {
    const std::vector<std::string> now = saved_files(command, argument, paths);
    if (now == files) throw;
    return read_files(where, paths, now);
  }
}

nlohmann::ordered_json to_json(const std::vector<SummaryRow>& rows) {
  auto array = nlohmann::ordered_json::array();
  for (const SummaryRow& row : rows)
    array.push_back({{"name", printable(row.name)},
                     {"label", printable(row.shown())},
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
