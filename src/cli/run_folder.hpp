// The folder of a run: its draws, its report, and the checkpoint while it is not finished.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <adit/draws.hpp>

#include "cli/run_lock.hpp"

namespace adit::cli {

class StagedFiles;

class RunFolder {
 public:
  static constexpr const char* netcdf_name = "draws.nc";
  static constexpr const char* checkpoint_name = "checkpoint";
  static constexpr const char* report_name = "report.html";

  // What becomes of a run that was stopped in the folder.
  enum class Earlier : uint8_t { refused, resumed, overwritten };

  // What was written, and why the report is not among it.
  struct Written {
    std::vector<std::string> draws;
    std::string report, fault;
  };

  // `format`: csv, netcdf, both, none, or "" for what the build has. `report`: 1 asked for, -1 refused, 0:
  // where draws are kept.
  RunFolder(std::string folder, std::string model, const std::string& format, int report);
  // A folder that nothing was put into goes again, if it was made here.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  // Makes the folder and takes it: no other run works there until this ends. What an earlier run has left
  // stays as it is.
  void prepare(Earlier earlier);
  // Draws and report, in the place of those of an earlier run. All appear, or none does. Throws nothing: what
  // was drawn is still to be told.
  Written write(const Draws& draws);
  // The run is finished and has its files.
  void remove_checkpoint();

  bool keeps_draws() const { return csv_ || netcdf_; }
  bool wants_report() const { return report_; }
  std::string path() const { return folder_.string(); }
  std::string checkpoint() const { return (folder_ / checkpoint_name).string(); }

 private:
  void make();
  void expect_plain_files() const;
  void stage(const StagedFiles& stage, const Draws& draws, Written& written) const;
  std::vector<std::string> outdated() const;

  std::filesystem::path folder_;
  std::string model_;
  bool csv_ = false, netcdf_ = false, report_ = false, made_ = false;
  std::optional<RunLock> lock_;
};

}  // namespace adit::cli
