// Files that come into a folder together.
//
// They are written in a folder of their own beside their places, and moved when all of them are whole and on
// the disk. A mark tells readers that some of them may be missing while they are moved: it stays if the
// process ends there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace adit::cli {

class StagedFiles {
 public:
  explicit StagedFiles(const std::filesystem::path& folder);
  ~StagedFiles();  // what was not moved goes
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  // Where a file of the folder is to be written for now.
  std::string path(const std::string& name) const { return (stage_ / name).string(); }
  // Moves what was written, over what is there; `outdated` names of the folder go.
  void commit(const std::vector<std::string>& outdated);

  // Whether a process ended while it moved files into the folder.
  static bool is_incomplete(const std::filesystem::path& folder);
  // Takes away what processes that are dead had not finished; `name`: of this file alone.
  static void remove_leftovers(const std::filesystem::path& folder, const std::string& name = "");

 private:
  std::filesystem::path folder_, stage_;
};

}  // namespace adit::cli
