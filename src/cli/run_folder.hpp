// The folder of a run: its draws, its report, and the checkpoint while it is not finished.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <adit/draws.hpp>

#include "cli/output_files.hpp"
#include "cli/run_lock.hpp"

namespace adit::cli {

class RunFolder {
 public:
  static constexpr const char* netcdf_name = "draws.nc";
  static constexpr const char* checkpoint_name = "checkpoint";
  static constexpr const char* report_name = "report.html";

  // What becomes of a run that was stopped in the folder. What is overwritten stays until the new run has
  // something to show.
  enum class Earlier : uint8_t { refused, resumed, overwritten };

  struct Words {
    std::string command;       // "sample": whose errors these are
    std::string folder;        // "": adit-<model>
    std::string model;         //
    std::string format;        // csv, netcdf, both, none, or "" for what the build has
    int report = 0;            // 1 asked for, -1 refused, 0: where draws are kept
    std::string cmdstan_file;  // dir/out.csv: chains are to be there too, as CmdStan puts them; "": not
  };

  // What was written, and why not all of it.
  struct Written {
    std::vector<std::string> draws;
    std::string report, fault;
  };

  explicit RunFolder(Words words);
  // A folder that nothing was put into goes again, if it was made here.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  // Makes the folder and takes it: no other run works there until this ends. What an earlier run has left
  // stays as it is. Throws where a file of `chains` chains must not come to its place.
  void prepare(Earlier earlier, int64_t chains, Inputs inputs);
  // Draws and report, in the place of those of an earlier run; the checkpoint of a run that is finished goes.
  // All of it happens, or nothing. Throws nothing: what was drawn is still to be told.
  Written write(const Draws& draws);

  // Whether the folder's name still leads to the one that was taken.
  bool is_held() const { return !lock_ || lock_->is_held(); }
  bool keeps_draws() const { return csv_ || netcdf_; }
  bool wants_report() const { return report_; }
  std::string path() const { return folder_.string(); }
  std::string checkpoint() const { return (folder_ / checkpoint_name).string(); }

 private:
  void make();
  bool holds_checkpoint() const;
  void expect_run_to_resume(bool was_there) const;
  [[noreturn]] void refuse_stopped_run() const;
  void expect_places(int64_t chains) const;
  void expect_cmdstan_places(int64_t chains) const;
  void stage(const Draws& draws, Written& written);
  void stage_report(const Draws& draws, Written& written);
  bool is_chain(const std::filesystem::path& path) const;
  std::string chain_name(int64_t chain) const;
  std::string cmdstan_name(int64_t chain, int64_t chains) const;
  std::vector<std::filesystem::path> outdated() const;

  Words words_;
  std::string where_;
  std::filesystem::path folder_;
  bool csv_ = false, netcdf_ = false, report_ = false, made_ = false;
  std::optional<RunLock> lock_;
  std::optional<OutputFiles> files_;
};

}  // namespace adit::cli
