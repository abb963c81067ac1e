// One run at a time works in a folder.
#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>

namespace adit::cli {

// Holds the folder while it lives, by a lock on its file .adit.lock, which ends with the process however that
// ends.
class RunLock {
 public:
  // Throws where another process holds it, or where the folder cannot be written; `where` begins the errors.
  RunLock(const std::string& where, const std::filesystem::path& folder);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  // Whether the name of the folder still leads to the one that was taken: it may have been moved since, and
  // another run may work where it was.
  bool is_held() const;
  void expect_held() const;

  // The process that works in the folder, and since when; 0: none that is known.
  struct Holder {
    pid_t process = 0;
    std::filesystem::file_time_type since{};
  };
  static Holder holder(const std::filesystem::path& folder);

 private:
  bool open();
  bool is_plain() const;
  bool is_named(int folder, const char* path) const;
  void sign() const;
  [[noreturn]] void fail(const std::string& why) const;

  std::string where_;
  std::filesystem::path folder_, path_;
  int descriptor_ = -1, names_ = -1;  // names_: the folder
};

bool is_alive(pid_t process);

}  // namespace adit::cli
