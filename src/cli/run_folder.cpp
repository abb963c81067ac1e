#include "cli/run_folder.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>

#include <adit/error.hpp>

#include "cli/usage.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

#ifdef ADIT_NETCDF
constexpr bool has_netcdf = true;
#else
constexpr bool has_netcdf = false;
#endif

bool all_digits(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

RunFolder::RunFolder(std::string folder, std::string model, const std::string& format, int report)
    : folder_(std::move(folder)), model_(std::move(model)) {
  if (folder_.empty()) folder_ = "adit-" + model_;
  const std::vector<std::string> formats{"csv", "netcdf", "both", "none"};
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
  if (made_) fs::remove(folder_, ignored);  // fails where something is in it
}

void RunFolder::prepare() {
  std::error_code error;
  made_ = fs::create_directories(folder_, error);
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::io, fmt::format("[sample] --output: {} {}", folder_.string(), why));
  };
  if (error) refuse(fmt::format("cannot be made: {}", error.message()));
  if (!fs::is_directory(folder_, error)) refuse("is not a folder");
  const fs::path trial = folder_ / ".trial";
  const bool written = std::ofstream(trial).put('x').flush().good();
  fs::remove(trial, error);
  if (!written) refuse("cannot be written");
}

void RunFolder::remove_earlier() const {
  fs::remove(folder_ / netcdf_name);
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() == ".csv" && stem.starts_with(model_ + "_") &&
        all_digits(stem.substr(model_.size() + 1)))
      old.push_back(entry.path());
  }
  for (const fs::path& path : old) fs::remove(path);
}

std::vector<std::string> RunFolder::write(const Draws& draws) {
  if (!keeps_draws()) return {};
  std::vector<std::string> files;
  remove_earlier();
  if (netcdf_) {
    files.push_back((folder_ / netcdf_name).string());
    write_netcdf(draws, files.back());
  }
  if (csv_) {
    const std::string stem = (folder_ / model_).string();
    write_csv(draws, stem);
    for (int64_t chain = 1; chain <= draws.chains; ++chain)
      files.push_back(fmt::format("{}_{}.csv", stem, chain));
  }
  return files;
}

}  // namespace adit::cli
