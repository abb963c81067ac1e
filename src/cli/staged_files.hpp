// Files that come into a folder together, or not at all, however the process ends.
//
// They are written in a folder of their own beside their places:
//
//   .adit.writing-<process>-<number>/
//     origin     whose it is; locked while its process lives
//     files/     the new files, by the names that they are to have
//     commit     the names that are to go; it is there from when all of the files are whole and on the disk
//
// From then on the new files count: where the process ends before it has moved them all, whoever looks into
// the folder next moves the rest.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace adit::cli {

class StagedFiles {
 public:
  // `where` begins the errors.
  StagedFiles(std::string where, const std::filesystem::path& folder);
  ~StagedFiles();  // what was not moved goes
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;

  // Where a file of the folder is to be written for now.
  std::filesystem::path path(const std::string& name) const { return stage_ / "files" / name; }
  // Moves what was written over what is there; `outdated` names of the folder go, where they are files of
  // ours. After an error either nothing has changed, or the rest is moved by the next who looks.
  void commit(std::vector<std::string> outdated);

  // Ends what dead processes began in the folder: moves the rest of files that count, and takes away what was
  // never whole. False where some that count are not in their places and cannot be moved.
  static bool settle(const std::filesystem::path& folder);

 private:
  void record(const std::vector<std::string>& outdated) const;
  void move(const std::vector<std::string>& names);

  std::string where_;
  std::filesystem::path folder_, stage_;
  int lock_ = -1;
  bool stays_ = false;  // for the next who looks
};

}  // namespace adit::cli
