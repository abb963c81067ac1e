// Files that a command reads. Nothing is written over them, whatever name they have there.
#pragma once

#include <string>
#include <sys/stat.h>
#include <vector>

namespace adit::cli {

class Inputs {
 public:
  // Standard output and standard error count too: what goes there must not be lost either.
  Inputs();
  // `word`: by which the command was given the file, "--data". Path "": none was; "-": standard input.
  void add(const std::string& word, const std::string& path);
  void add(const std::string& word, const std::vector<std::string>& paths);

  // The word that has the file of this name, by any of its names; "": none.
  std::string word_of(const std::string& path) const;
  // The same of an open stream, which may be the command's own output.
  std::string word_of_stream(int descriptor) const;

 private:
  void add(const std::string& word, const struct stat& status, bool is_read = true);

  struct Input {
    std::string word;
    dev_t device;
    ino_t number;
    bool is_read;
    bool is(const struct stat& status) const;
  };
  std::vector<Input> inputs_;
};

}  // namespace adit::cli
