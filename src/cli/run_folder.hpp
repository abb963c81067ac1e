// The folder of a run: its draws, its report, and the checkpoint while it is not finished.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <adit/draws.hpp>

namespace adit::cli {

class RunFolder {
 public:
  static constexpr const char* netcdf_name = "draws.nc";
  static constexpr const char* checkpoint_name = "checkpoint";
  static constexpr const char* report_name = "report.html";

  // `format`: csv, netcdf, both, none, or "" for what the build has. `report`: 1 asked for, -1 refused, 0:
  // where draws are kept.
  RunFolder(std::string folder, std::string model, const std::string& format, int report);
  // A folder that nothing was put into goes again, if it was made here.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  // Makes the folder and tries to write into it.
  void prepare();
  // Files of draws, in place of those of an earlier run; what was written.
  std::vector<std::string> write(const Draws& draws);

  bool keeps_draws() const { return csv_ || netcdf_; }
  bool wants_report() const { return report_; }
  std::string path() const { return folder_.string(); }
  std::string checkpoint() const { return (folder_ / checkpoint_name).string(); }
  std::string report() const { return (folder_ / report_name).string(); }

 private:
  void remove_earlier() const;

  std::filesystem::path folder_;
  std::string model_;
  bool csv_ = false, netcdf_ = false, report_ = false, made_ = false;
};

}  // namespace adit::cli
