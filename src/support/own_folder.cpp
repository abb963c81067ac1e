#include "support/own_folder.hpp"

#include <climits>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <vector>

namespace adit {
namespace {

namespace fs = std::filesystem;

// Passing through a folder asks for no right to list it.
#if defined(O_PATH)
constexpr int pass = O_PATH;
#elif defined(O_SEARCH)
constexpr int pass = O_SEARCH;
#else
constexpr int pass = O_RDONLY;
#endif
constexpr int folder_flags = pass | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int most_links = 40;
constexpr mode_t writable_by_others = S_IWGRP | S_IWOTH;

std::string user_name(uid_t user) {
  passwd entry{}, *found = nullptr;
  std::vector<char> text(16384);
  if (::getpwuid_r(user, &entry, text.data(), text.size(), &found) == 0 && found) return entry.pw_name;
  return std::to_string(user);
}

// A group of one's own, as many systems give: it has the user's name and no other member. Root's is not
// taken for one, since it may be the administrators'.
bool is_private(gid_t group) {
  if (::geteuid() == 0) return false;
  ::group entry{}, *found = nullptr;
  std::vector<char> text(65536);
  if (::getgrgid_r(group, &entry, text.data(), text.size(), &found) != 0 || !found) return false;
  const std::string us = user_name(::geteuid());
  for (char** member = entry.gr_mem; *member; ++member)
    if (us != *member) return false;
  return us == entry.gr_name;
}

std::string trouble_of(const fs::path& path, const std::string& what) {
  return fmt::format("{}: {}", path.string(), what);
}

std::string trouble_of(const fs::path& path, int failure) {
  return trouble_of(path, fmt::format("expected a folder to use, got: {}", std::strerror(failure)));
}

// Empty: it is ours alone.
std::string check_own(const fs::path& path, const struct stat& status) {
  const char* kind = S_ISDIR(status.st_mode) ? "folder" : "file";
  if (status.st_uid != ::geteuid())
    return trouble_of(path, fmt::format("expected a {} of user {}, got one of user {}", kind,
                                        user_name(::geteuid()), user_name(status.st_uid)));
  if (status.st_mode & writable_by_others)
    return trouble_of(path, fmt::format("expected a {} that only its owner may write, got mode {:04o} "
                                        "(clear it if others may have written there, then chmod go-w)",
                                        kind, status.st_mode & 07777));
  return {};
}

// One walk along a path.
class Walk {
 public:
  explicit Walk(bool make) : make_(make) {}

  Opened along(const fs::path& path) {
    std::error_code error;
    const fs::path absolute = fs::absolute(path, error);
    if (error) return {{}, trouble_of(path, error.value())};
    put_first(absolute);
    if (!start()) return failed();
    while (!left_.empty()) {
      const std::string name = left_.front();
      left_.pop_front();
      if (!step(name)) return failed();
    }
    return {std::move(at_), {}};
  }

 private:
  Opened failed() { return {{}, std::move(trouble_)}; }
  bool fail(const std::string& trouble) {
    trouble_ = trouble;
    return false;
  }

  void put_first(const fs::path& path) {
    std::vector<std::string> names;
    for (const fs::path& part : path.relative_path())
      if (!part.empty() && part != ".") names.push_back(part.string());
    left_.insert(left_.begin(), names.begin(), names.end());
  }

  bool start() {
    where_ = "/";
    at_ = Descriptor(::open("/", folder_flags));
    struct stat status {};
    if (!at_ || ::fstat(at_.number(), &status) != 0) return fail(trouble_of(where_, errno));
    system_owner_ = status.st_uid;
    return check(status);
  }

  bool step(const std::string& name) {
    const fs::path next = where_ / name;
    struct stat status {};
    if (::fstatat(at_.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno != ENOENT) return fail(trouble_of(next, errno));
      if (!make_) return false;
      if (::mkdirat(at_.number(), name.c_str(), 0700) != 0 && errno != EEXIST)
        return fail(trouble_of(next, errno));
    } else if (S_ISLNK(status.st_mode)) {
      return follow(name, next, status);
    }
    Descriptor opened(::openat(at_.number(), name.c_str(), folder_flags));
    if (!opened || ::fstat(opened.number(), &status) != 0) return fail(trouble_of(next, errno));
    at_ = std::move(opened);
    where_ = next;
    return check(status);
  }

  bool follow(const std::string& name, const fs::path& next, const struct stat& status) {
    if (!is_trusted(status.st_uid))
      return fail(trouble_of(next, fmt::format("expected no symbolic link of another user, got one of {}",
                                               user_name(status.st_uid))));
    if (++links_ > most_links) return fail(trouble_of(next, ELOOP));
    char target[PATH_MAX];
    const ssize_t length = ::readlinkat(at_.number(), name.c_str(), target, sizeof target);
    if (length <= 0 || length == sizeof target)
      return fail(trouble_of(next, length < 0 ? errno : ENAMETOOLONG));
    const fs::path path(std::string(target, static_cast<size_t>(length)));
    put_first(path);
    return !path.is_absolute() || start();
  }

  // Root; and who owns "/": inside a container's own count of users, root may go by another number.
  bool is_trusted(uid_t user) const { return user == ::geteuid() || user == 0 || user == system_owner_; }

  bool check(const struct stat& status) {
    if (left_.empty()) return fail_unless_empty(check_own(where_, status));
    if (!is_trusted(status.st_uid))
      return fail(
          trouble_of(where_, fmt::format("expected a folder of user {} or of root above the cache, got "
                                         "one of user {}, who may replace what is in it",
                                         user_name(::geteuid()), user_name(status.st_uid))));
    const bool others =
        (status.st_mode & S_IWOTH) || ((status.st_mode & S_IWGRP) && !is_private(status.st_gid));
    if (others && !(status.st_mode & S_ISVTX))
      return fail(trouble_of(where_, fmt::format("expected a folder above the cache that no other may write, "
                                                 "got mode {:04o}",
                                                 status.st_mode & 07777)));
    return true;
  }

  bool fail_unless_empty(std::string trouble) {
    trouble_ = std::move(trouble);
    return trouble_.empty();
  }

  bool make_;
  Descriptor at_;
  fs::path where_;
  std::deque<std::string> left_;
  std::string trouble_;
  uid_t system_owner_ = 0;
  int links_ = 0;
};

}  // namespace

Opened open_own_folder(const fs::path& path, bool make) { return Walk(make).along(path); }

Opened open_own_folder_in(const Descriptor& parent, const std::string& name, const fs::path& path,
                          bool make) {
  if (make && ::mkdirat(parent.number(), name.c_str(), 0700) != 0 && errno != EEXIST)
    return {{}, trouble_of(path, errno)};
  Descriptor opened(::openat(parent.number(), name.c_str(), folder_flags));
  struct stat status {};
  if (!opened && errno == ENOENT) return {};
  if (!opened || ::fstat(opened.number(), &status) != 0) return {{}, trouble_of(path, errno)};
  std::string trouble = check_own(path, status);
  if (!trouble.empty()) return {{}, std::move(trouble)};
  return {std::move(opened), {}};
}

Opened open_own_file_in(const Descriptor& folder, const std::string& name, const fs::path& path) {
  Descriptor opened(
      ::openat(folder.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!opened && errno == ENOENT) return {};
  if (!opened || ::fstat(opened.number(), &status) != 0)
    return {{}, trouble_of(path, fmt::format("expected a regular file, got: {}", std::strerror(errno)))};
  if (!S_ISREG(status.st_mode)) return {{}, trouble_of(path, "expected a regular file, got something else")};
  std::string trouble = check_own(path, status);
  if (!trouble.empty()) return {{}, std::move(trouble)};
  return {std::move(opened), {}};
}

}  // namespace adit
