// The one door through which commands write files: never over what they read, through a link, or over what
// adit has not written; and nothing old goes before all that is new is whole and on the disk.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/inputs.hpp"
#include "cli/own_files.hpp"
#include "cli/staged_files.hpp"

namespace adit::cli {

class OutputFiles {
 public:
  // `where` begins the errors: "[sample] --output".
  OutputFiles(std::string where, Inputs inputs) : where_(std::move(where)), inputs_(std::move(inputs)) {}

  // Ends what dead processes have left in a folder; throws where it cannot.
  void settle(const std::filesystem::path& folder) const;
  // Throws where a file must not come.
  void expect_place(const std::filesystem::path& path, Content content) const;
  // Throws where an open stream is a file that the command reads.
  void expect_unread_stream(const std::string& path, int descriptor) const;
  // Throws where a file that is to go is one that the command reads.
  void expect_unread(const std::filesystem::path& path) const;

  // Where a new file is to be written for now; and the same with its text.
  std::string aside(const std::filesystem::path& path, Content content);
  void write(const std::filesystem::path& path, Content content, std::string_view text);
  // A file that was written aside once more, under another name.
  void copy(const std::string& aside, const std::filesystem::path& path, Content content);
  // Goes when the new files are there, if it is ours.
  void outdate(const std::filesystem::path& path);

  // All of the new files come to their places, in all folders, and what is outdated goes; or nothing changes.
  void commit();
  // What was written aside goes.
  void forget();
  // In words about files that were written aside, the places that they are to have.
  std::string with_places(std::string words) const;

 private:
  struct Place {
    std::filesystem::path path;
    Content content;
  };
  struct Folder {
    std::filesystem::path path;
    std::unique_ptr<StagedFiles> files;
    std::vector<std::string> outdated;
  };
  Folder& folder_of(const std::filesystem::path& path);
  void expect_unclaimed(const std::filesystem::path& path) const;

  std::string where_;
  Inputs inputs_;
  std::vector<Folder> folders_;
  std::vector<Place> places_;
  mutable std::map<std::filesystem::path, StagedFiles::Claims> claims_;  // of others, by folder
};

}  // namespace adit::cli
