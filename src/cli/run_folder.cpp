#include "cli/run_folder.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>

#include <adit/diagnostics.hpp>
#include <adit/error.hpp>
#include <adit/system.hpp>

#include "cli/paths.hpp"
#include "cli/staged_files.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* output_option = "[sample] --output";

bool all_digits(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A page of ours, which tells of draws that go; not one that a user has put there.
bool is_own_report(const fs::path& path) {
  if (kind_of_name(output_option, path) != PathKind::file) return false;
  constexpr std::streamoff tail = 8192;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  file.seekg(std::max<std::streamoff>(0, static_cast<std::streamoff>(file.tellg()) - tail));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.find("<footer>Written by Adit.") != std::string::npos;
}

// Messages name files by the places that they are to have.
std::string with_place(std::string message, const std::string& stage, const std::string& folder) {
  if (stage.empty()) return message;
  for (size_t at = 0; (at = message.find(stage, at)) != std::string::npos; at += folder.size())
    message.replace(at, stage.size(), folder);
  return message;
}

}  // namespace

RunFolder::RunFolder(std::string folder, std::string model, const std::string& format, int report)
    : folder_(std::move(folder)), model_(std::move(model)) {
  if (folder_.empty()) folder_ = "adit-" + model_;
  const std::vector<std::string> formats{"csv", "netcdf", "both", "none"};
  const bool has_netcdf = !adit::netcdf_name().empty();
  const std::string word = !format.empty() ? format : has_netcdf ? "netcdf" : "csv";
  const size_t choice = choice_of("[sample] --format", word, formats);
  csv_ = choice == 0 || choice == 2;
  netcdf_ = choice == 1 || choice == 2;
  report_ = report > 0 || (report == 0 && keeps_draws());
  if (netcdf_ && !has_netcdf)
    throw UsageError("[sample] --format: expected csv or none, as this build has no netCDF, got " + word);
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  lock_.reset();
  if (made_) fs::remove(folder_, ignored);  // fails where something is in it
}

void RunFolder::make() {
  std::error_code error;
  made_ = fs::create_directories(folder_, error);
  if (!error && !fs::is_directory(folder_, error) && !error)
    error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    throw Error(ErrorKind::io,
                fmt::format("{}: {} cannot be made: {}", output_option, folder_.string(), error.message()));
}

// A link, a pipe or a folder in the place of a file was put there by somebody: nothing is written through it.
// The checkpoint alone is not written aside, so it must have no other name either.
void RunFolder::expect_plain_files() const {
  for (const std::string_view name : {checkpoint_name, netcdf_name, report_name}) {
    const fs::path path = folder_ / name;
    const PathKind kind = kind_of_name(output_option, path);
    std::error_code ignored;
    const bool shared =
        kind == PathKind::file && name == checkpoint_name && fs::hard_link_count(path, ignored) > 1;
    if ((kind != PathKind::nothing && kind != PathKind::file) || shared)
      throw Error(ErrorKind::io,
                  fmt::format("{}: expected a plain file or none at {}, got {}", output_option, path.string(),
                              shared ? "one with other names" : "something else"));
  }
}

void RunFolder::prepare(Earlier earlier) {
  const auto holds_checkpoint = [&] {
    return kind_of_name(output_option, checkpoint()) != PathKind::nothing;
  };
  if (earlier == Earlier::resumed && !holds_checkpoint())
    throw Error(ErrorKind::not_found,
                fmt::format("[sample] --resume: {} holds no run that was stopped", folder_.string()));
  make();
  lock_.emplace(output_option, folder_);
  expect_plain_files();
  if (keeps_draws() && earlier == Earlier::refused && holds_checkpoint())
    throw Error(ErrorKind::bad_argument,
                fmt::format("{}: {} holds a run that was stopped; --resume goes on with it, --overwrite "
                            "replaces it, another --output leaves it",
                            output_option, folder_.string()));
  StagedFiles::remove_leftovers(folder_);
}

// Files of this model's earlier run, and a report that tells of it.
std::vector<std::string> RunFolder::outdated() const {
  std::vector<std::string> names;
  if (is_own_report(folder_ / report_name)) names.push_back(report_name);
  if (!keeps_draws()) return names;
  names.push_back(netcdf_name);
  for (const fs::path& path : entries_of(output_option, folder_)) {
    const std::string stem = path.stem().string();
    if (path.extension() == ".csv" && stem.starts_with(model_ + "_") &&
        all_digits(stem.substr(model_.size() + 1)))
      names.push_back(path.filename().string());
  }
  return names;
}

// Draws first: they are what must not be lost. They come without their report where that cannot be
// written.
void RunFolder::stage(const StagedFiles& stage, const Draws& draws, Written& written) const {
  const auto place = [&](const std::string& name) { return (folder_ / name).string(); };
  if (netcdf_) {
    write_netcdf(draws, stage.path(netcdf_name));
    written.draws.push_back(place(netcdf_name));
  }
  if (csv_) {
    write_csv(draws, stage.path(model_));
    for (int64_t chain = 1; chain <= draws.chains; ++chain)
      written.draws.push_back(place(fmt::format("{}_{}.csv", model_, chain)));
  }
  if (!report_) return;
  try {
    write_report(draws, stage.path(report_name));
    written.report = place(report_name);
  } catch (const std::exception& error) {
    written.fault = with_place(words_of(error), stage.path(""), place(""));
  }
}

RunFolder::Written RunFolder::write(const Draws& draws) {
  Written written;
  std::string staged;
  try {
    if (!keeps_draws() && !report_) return written;
    StagedFiles files(folder_);
    staged = files.path("");
    stage(files, draws, written);
    files.commit(outdated());
    return written;
  } catch (const std::exception& error) {
    return {{}, {}, with_place(words_of(error), staged, (folder_ / "").string())};
  }
}

void RunFolder::remove_checkpoint() {
  std::error_code ignored;
  fs::remove(checkpoint(), ignored);
}

}  // namespace adit::cli
