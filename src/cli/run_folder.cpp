#include "cli/run_folder.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include <adit/checkpoint.hpp>
#include <adit/diagnostics.hpp>
#include <adit/draws_origin.hpp>
#include <adit/error.hpp>
#include <adit/system.hpp>
#include <adit/text.hpp>

#include "cli/paths.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

// The chain that "<model>_12.csv" is of; 0: it is no such name.
int64_t chain_in(const std::string& name, const std::string& model) {
  constexpr std::string_view ending = ".csv";
  if (!name.starts_with(model + "_") || !name.ends_with(ending)) return 0;
  if (name.size() <= model.size() + 1 + ending.size()) return 0;
  const char *first = name.data() + model.size() + 1, *last = name.data() + name.size() - ending.size();
  int64_t chain = 0;
  const auto [end, error] = std::from_chars(first, last, chain);
  return error == std::errc() && end == last && chain > 0 && *first != '0' ? chain : 0;
}

}  // namespace

RunFolder::RunFolder(Words words)
    : words_(std::move(words)), where_(fmt::format("[{}] --output", words_.command)), folder_(words_.folder) {
  if (folder_.empty()) folder_ = "adit-" + words_.model;
  const std::vector<std::string> formats{"csv", "netcdf", "both", "none"};
  const bool has_netcdf = !adit::netcdf_name().empty();
  const std::string word = !words_.format.empty() ? words_.format : has_netcdf ? "netcdf" : "csv";
  const std::string option = fmt::format("[{}] --format", words_.command);
  const size_t choice = choice_of(option, word, formats);
  csv_ = choice == 0 || choice == 2;
  netcdf_ = choice == 1 || choice == 2;
  report_ = words_.report > 0 || (words_.report == 0 && keeps_draws());
  if (netcdf_ && !has_netcdf)
    throw UsageError(
        fmt::format("{}: expected csv or none, as this build has no netCDF, got {}", option, word));
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  const bool is_ours = made_ && is_held();
  files_.reset();
  lock_.reset();
  if (is_ours) fs::remove(folder_, ignored);  // fails where something is in it
}

void RunFolder::make() {
  std::error_code error;
  made_ = fs::create_directories(folder_, error);
  if (!error && !fs::is_directory(folder_, error) && !error)
    error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    throw Error(ErrorKind::io, fmt::format("{}: {} cannot be made: {}", where_, printable(folder_.string()),
                                           error.message()));
}

std::string RunFolder::chain_name(int64_t chain) const {
  return fmt::format("{}_{}.csv", words_.model, chain);
}

// out.csv of one chain; out_1.csv, out_2.csv, ... of several.
std::string RunFolder::cmdstan_name(int64_t chain, int64_t chains) const {
  constexpr size_t ending = 4;
  const std::string& file = words_.cmdstan_file;
  return chains == 1 ? file : fmt::format("{}_{}.csv", file.substr(0, file.size() - ending), chain);
}

bool RunFolder::is_chain(const fs::path& path) const {
  return chain_in(path.filename().string(), words_.model) > 0;
}

// By what is there: a million chains are not asked after one by one.
void RunFolder::expect_places(int64_t chains) const {
  if (keeps_draws()) files_->expect_place(checkpoint(), Content::checkpoint);
  if (report_) files_->expect_place(folder_ / report_name, Content::report);
  if (netcdf_) files_->expect_place(folder_ / netcdf_name, Content::draws);
  if (csv_)
    for (const fs::path& path : entries_of(where_, folder_)) {
      const int64_t chain = chain_in(path.filename().string(), words_.model);
      if (chain > 0 && chain <= chains) files_->expect_place(path, Content::draws);
    }
  expect_cmdstan_places(chains);
  for (const fs::path& path : outdated()) files_->expect_unread(path);
  // A run that goes on writes into its checkpoint, so that must have no other name.
  std::error_code ignored;
  if (keeps_draws() && kind_of_name(where_, checkpoint()) == PathKind::file &&
      fs::hard_link_count(checkpoint(), ignored) > 1)
    throw Error(ErrorKind::io,
                fmt::format("{}: expected a plain file or none at {}, got one with other names", where_,
                            printable(checkpoint())));
}

void RunFolder::expect_cmdstan_places(int64_t chains) const {
  if (!csv_ || words_.cmdstan_file.empty()) return;
  for (int64_t chain = 1; chain <= chains; ++chain)
    files_->expect_place(cmdstan_name(chain, chains), Content::draws);
}

void RunFolder::prepare(Earlier earlier, int64_t chains, Inputs inputs) {
  const bool was_there = earlier == Earlier::resumed && holds_checkpoint();
  if (earlier == Earlier::resumed && kind_at(where_, folder_) == PathKind::nothing)
    expect_run_to_resume(was_there);
  make();
  lock_.emplace(where_, folder_);
  files_.emplace(where_, std::move(inputs));
  files_->settle(folder_);  // which may end a run that was killed at its end
  if (earlier == Earlier::resumed) expect_run_to_resume(was_there);
  expect_places(chains);
  if (keeps_draws() && earlier == Earlier::refused && holds_checkpoint()) refuse_stopped_run();
}

// One in which nothing is yet, of a run that was killed as it began, is none.
bool RunFolder::holds_checkpoint() const {
  const PathKind kind = kind_of_name(where_, checkpoint());
  std::error_code error;
  return kind != PathKind::nothing && !(kind == PathKind::file && fs::file_size(checkpoint(), error) == 0);
}

void RunFolder::expect_run_to_resume(bool was_there) const {
  if (holds_checkpoint()) return;
  const std::string rest =
      was_there ? "; the one there is complete, and its files are in their places now" : "";
  throw Error(ErrorKind::not_found, fmt::format("[{}] --resume: {} holds no run that was stopped{}",
                                                words_.command, printable(folder_.string()), rest));
}

void RunFolder::refuse_stopped_run() const {
  const char* others =
      words_.command == "sample" ? "--resume goes on with it, --overwrite replaces it, " : "";
  throw Error(ErrorKind::bad_argument,
              fmt::format("{}: {} holds a run that was stopped; {}another --output leaves it", where_,
                          printable(folder_.string()), others));
}

// Files of this model's earlier run, and a report that tells of it: those that adit wrote.
std::vector<fs::path> RunFolder::outdated() const {
  std::vector<fs::path> paths;
  const auto add = [&](const fs::path& path, FileMark mark) {
    if (mark_of_file(path.string()) == mark) paths.push_back(path);
  };
  add(folder_ / report_name, FileMark::report);
  if (!keeps_draws()) return paths;
  add(folder_ / netcdf_name, FileMark::netcdf);
  for (const fs::path& path : entries_of(where_, folder_))
    if (is_chain(path) && !origin_of_csv(path.string()).run.empty()) add(path, FileMark::csv);
  return paths;
}

// A page that cannot be made leaves the draws alone; one that finds no room leaves everything as it was.
void RunFolder::stage_report(const Draws& draws, Written& written) {
  const std::string place = (folder_ / report_name).string();
  const std::string aside = files_->aside(place, Content::report);
  try {
    write_report(draws, aside);
    written.report = place;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    written.fault = words_of(error);
  } catch (const std::exception& error) {
    written.fault = words_of(error);
  }
}

void RunFolder::stage(const Draws& draws, Written& written) {
  if (netcdf_) {
    const fs::path place = folder_ / netcdf_name;
    write_netcdf(draws, files_->aside(place, Content::draws));
    written.draws.push_back(place.string());
  }
  std::vector<std::string> chains;
  for (int64_t chain = 1; csv_ && chain <= draws.chains; ++chain) {
    const fs::path place = folder_ / chain_name(chain);
    chains.push_back(files_->aside(place, Content::draws));
    written.draws.push_back(place.string());
  }
  if (csv_) {
    const std::string ending = fmt::format("_{}.csv", draws.chains), last = chains.back();
    write_csv(draws, last.substr(0, last.size() - ending.size()));
  }
  for (size_t i = 0; i < chains.size() && !words_.cmdstan_file.empty(); ++i)
    files_->copy(chains[i], cmdstan_name(static_cast<int64_t>(i) + 1, draws.chains), Content::draws);
  if (report_) stage_report(draws, written);
}

RunFolder::Written RunFolder::write(const Draws& draws) {
  Written written;
  if (!keeps_draws() && !report_) return written;
  try {
    if (lock_) lock_->expect_held();
    stage(draws, written);
    for (const fs::path& path : outdated()) files_->outdate(path);
    if (keeps_draws() && draws.finished && is_checkpoint(checkpoint())) files_->outdate(checkpoint());
    if (lock_) lock_->expect_held();
    files_->commit();
    return written;
  } catch (const std::exception& error) {
    const std::string words = files_->with_places(words_of(error));
    files_->forget();
    return {{}, {}, words};
  }
}

}  // namespace adit::cli
