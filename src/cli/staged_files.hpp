// Files that come into their folders together, or not at all, however the process ends.
//
// Those of a folder are written in a folder of their own beside their places:
//
//   .adit.writing-<process>-<number>/
//     origin     whose it is; locked while its process lives, and before anything is written in it
//     files/     the new files, by the names that they are to have
//     commit     the names that are to go, and the stages of other folders that come with this one; it is
//     there
//                from when all of the files, theirs too, are whole and on the disk
//     part       in the place of `commit` where the stage comes with another one: which, and names that are
//     to go
//
// From the moment when `commit` is there the new files count: where the process ends before it has moved them
// all, whoever looks into one of the folders next moves the rest.
#pragma once

#include <filesystem>
#include <map>
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

  struct Part {
    StagedFiles* files;
    std::vector<std::string> outdated;
  };
  // Moves what was written over what is there, in all of the folders; `outdated` names of a folder go, where
  // they are files of ours. After an error either nothing has changed, or the rest is moved by the next who
  // looks.
  static void commit_together(std::vector<Part> parts);
  void commit(std::vector<std::string> outdated) { commit_together({{this, std::move(outdated)}}); }

  // Ends what dead processes began in the folder: moves the rest of files that count, there and in the
  // folders that they come with, and takes away what was never whole. Gives what stands in the way where some
  // that count are not in their places and cannot be moved, else "". Nothing comes in the place of a file
  // that is not ours.
  // Stages of other users are theirs to end.
  static std::string settle(const std::filesystem::path& folder);
  // Names of a folder that other users' stages which count are to have, and words that say whose.
  using Claims = std::map<std::string, std::string>;
  static Claims claims_of_others(const std::filesystem::path& folder);

 private:
  using Names = std::vector<std::string>;  // of the files of a stage
  static void record(const std::vector<Part>& parts);
  static void move(const std::vector<Part>& parts, const std::vector<Names>& names);
  static void after_failure(const std::vector<Part>& parts, bool nothing_moved);

  std::string where_;
  std::filesystem::path folder_, stage_;
  int lock_ = -1;
  bool stays_ = false;  // for the next who looks
};

}  // namespace adit::cli
