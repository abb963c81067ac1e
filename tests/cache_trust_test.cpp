// Whose cache is used: what another user owns or may write is neither read nor written, and what stands in
// the place of an entry (a pipe, a link, a giant) harms nobody. Each case is a child process, since a warning
// is said once a process.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <span>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>

#include "children.hpp"
#include "own_folder.hpp"
#include "support/cache.hpp"

namespace adit::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* key = "key";
const std::string warning = "adit: [cache] ";

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

void set_mode(const fs::path& path, unsigned mode) { fs::permissions(path, fs::perms(mode)); }
void give_to_nobody(const fs::path& path) { ASSERT_EQ(::lchown(path.c_str(), nobody, nobody), 0) << path; }

// The cache is home/cache: `home` is the folder above it.
class CacheTrust : public InOwnFolder {
 protected:
  void SetUp() override {
    InOwnFolder::SetUp();
    home_ = root_ / "home";
    cache_ = home_ / "cache";
    entry_ = cache_ / "objects" / "key.adit";
    ::setenv("ADIT_CACHE", cache_.c_str(), 1);
    cache::save("objects", key, bytes_of("planted"));
    for (const fs::path& path : {root_, home_}) set_mode(path, 0755);
  }

  fs::path home_, cache_, entry_;
};

// Neither read nor written, in any kind, and said in one line that names the folder and the way out.
void expect_unused(const std::string& what, const fs::path& named) {
  const Child child = run_in_child([] {
    for (int i = 0; i < 2; ++i)
      for (const char* kind : {"objects", "kernels", "pipelines", "executables", "profiles"}) {
        if (cache::load(kind, key)) ::_exit(1);
        cache::save(kind, key, bytes_of("mine"));
        if (cache::load(kind, key)) ::_exit(2);
      }
    if (!cache::usage().empty() || cache::clear() != 0) ::_exit(3);
    if (!cache::unusable()) ::_exit(4);
  });
  EXPECT_EQ(child.status, 0) << what << ": " << child.text;
  EXPECT_EQ(child.said(warning), 1) << what << ": " << child.text;
  EXPECT_EQ(child.said(warning + named.string() + ": expected "), 1) << what << ": " << child.text;
  EXPECT_EQ(child.said("ADIT_CACHE=FOLDER"), 1) << what << ": " << child.text;
}

void expect_used(const std::string& what) {
  const Child child = run_in_child([] {
    cache::save("objects", key, bytes_of("mine"));
    if (cache::load("objects", key) != bytes_of("mine")) ::_exit(1);
    if (cache::unusable()) ::_exit(2);
  });
  EXPECT_EQ(child.status, 0) << what << ": " << child.text;
  EXPECT_EQ(child.said(warning), 0) << what << ": " << child.text;
}

// --- Folders ----------------------------------------------------------------------------------------------

TEST_F(CacheTrust, what_is_made_is_its_owners_alone) {
  ::setenv("ADIT_CACHE", (root_ / "a" / "b").c_str(), 1);
  const Child child = run_in_child([] {
    ::umask(0);
    cache::save("objects", key, bytes_of("mine"));
  });
  EXPECT_EQ(child.text, "");
  for (const char* folder : {"a", "a/b", "a/b/objects"}) EXPECT_EQ(mode_of(root_ / folder), 0700u) << folder;
  EXPECT_EQ(mode_of(root_ / "a/b/objects/key.adit"), 0600u);
}

TEST_F(CacheTrust, a_folder_that_others_may_write_is_not_used) {
  for (const unsigned mode : {0777u, 0775u, 0757u, 0722u, 01777u}) {
    set_mode(cache_, mode);
    expect_unused(fmt::format("mode {:o}", mode), cache_);
    set_mode(cache_, 0700);
  }
  EXPECT_NE(read_file(entry_).find("planted"), std::string::npos);
  for (const unsigned mode : {0755u, 0700u, 0711u}) {
    set_mode(cache_, mode);
    expect_used(fmt::format("mode {:o}", mode));
  }
}

TEST_F(CacheTrust, a_kind_that_others_may_write_is_not_used) {
  for (const unsigned mode : {0777u, 0770u, 0702u}) {
    set_mode(cache_ / "objects", mode);
    const Child child = run_in_child([] {
      if (cache::load("objects", key)) ::_exit(1);
      cache::save("objects", key, bytes_of("mine"));
      if (cache::load("objects", key)) ::_exit(2);
      if (cache::clear() != 0) ::_exit(3);
    });
    EXPECT_EQ(child.status, 0) << child.text;
    EXPECT_EQ(child.said(warning + (cache_ / "objects").string() + ": expected "), 1) << child.text;
  }
  EXPECT_NE(read_file(entry_).find("planted"), std::string::npos);
}

TEST_F(CacheTrust, a_folder_above_that_others_may_write_is_not_passed) {
  for (const unsigned mode : {0777u, 0757u}) {
    set_mode(home_, mode);
    expect_unused("home", home_);
    set_mode(home_, 0755);
    set_mode(root_, mode);
    expect_unused("the folder above home", root_);
    set_mode(root_, 0755);
  }
  // Under the sticky bit nobody replaces another's folder.
  set_mode(home_, 01777);
  expect_used("a sticky folder above");
  set_mode(home_, 0711);
  expect_used("a folder above that may not be listed");
}

TEST_F(CacheTrust, a_folder_above_that_roots_group_may_write_is_not_passed) {
  if (!is_root()) GTEST_SKIP() << "needs root: a group of one's own is no other";
  set_mode(home_, 0775);
  expect_unused("home", home_);
}

TEST_F(CacheTrust, what_another_user_owns_is_not_used) {
  if (!is_root()) {
    ::setenv("ADIT_CACHE", "/usr", 1);  // root's
    return expect_unused("a folder of root", "/usr");
  }
  give_to_nobody(cache_);
  expect_unused("the cache of another", cache_);
  ASSERT_EQ(::chown(cache_.c_str(), 0, 0), 0);
  give_to_nobody(home_);
  expect_unused("the home of another", home_);
  ASSERT_EQ(::chown(home_.c_str(), 0, 0), 0);
  expect_used("our own again");
}

TEST_F(CacheTrust, a_user_does_not_use_what_root_owns_either) {
  if (!is_root()) GTEST_SKIP() << "needs root, to become another";
  for (const fs::path& folder : {cache_, cache_ / "objects"}) set_mode(folder, 0755);
  set_mode(entry_, 0644);  // so that only the owner is in the way
  const Child child = run_in_child([] {
    become_nobody();
    if (cache::load("objects", key)) ::_exit(1);
  });
  EXPECT_EQ(child.status, 0) << child.text;
  EXPECT_EQ(child.said(warning + cache_.string() + ": expected a folder of user "), 1) << child.text;
  for (const fs::path& path : {home_, cache_, cache_ / "objects", entry_}) give_to_nobody(path);
  const Child owner = run_in_child([] {
    become_nobody();
    if (cache::load("objects", key) != bytes_of("planted")) ::_exit(1);
  });
  EXPECT_EQ(owner.status, 0) << owner.text;
  EXPECT_EQ(owner.text, "");
}

TEST_F(CacheTrust, root_does_not_use_anothers_home) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  give_to_nobody(home_);
  const Child child = run_in_child([&] {
    ::unsetenv("ADIT_CACHE");
    ::unsetenv("XDG_CACHE_HOME");
    ::setenv("HOME", home_.c_str(), 1);
    cache::save("objects", key, bytes_of("root's"));
    if (cache::load("objects", key)) ::_exit(1);
  });
  EXPECT_EQ(child.status, 0) << child.text;
  EXPECT_EQ(child.said(warning + home_.string() + ": expected "), 1) << child.text;
  EXPECT_FALSE(fs::exists(home_ / ".cache"));
}

TEST_F(CacheTrust, a_home_that_is_not_there_is_not_made) {
  const auto in_home = [&](const char* home) {
    return run_in_child([&] {
      if (::chdir(root_.c_str()) != 0) ::_exit(1);
      ::unsetenv("ADIT_CACHE");
      ::setenv("XDG_CACHE_HOME", "relative", 1);  // counts as unset
      if (home)
        ::setenv("HOME", home, 1);
      else
        ::unsetenv("HOME");
      for (int i = 0; i < 2; ++i) cache::save("objects", key, bytes_of("mine"));
    });
  };
  const Child missing = in_home((root_ / "missing").c_str()), unset = in_home(nullptr);
  EXPECT_EQ(missing.said(warning), 1) << missing.text;
  EXPECT_FALSE(fs::exists(root_ / "missing"));
  EXPECT_EQ(unset.said(warning), 1) << unset.text;
  EXPECT_FALSE(fs::exists(root_ / "relative"));
  fs::create_directory(root_ / "there");
  EXPECT_EQ(in_home((root_ / "there").c_str()).text, "");
  EXPECT_TRUE(fs::exists(root_ / "there/.cache/adit/objects/key.adit"));
}

// --- Paths ------------------------------------------------------------------------------------------------

TEST_F(CacheTrust, links_of_our_own_and_odd_paths_lead_to_it) {
  fs::create_directory_symlink("home", root_ / "relative");
  fs::create_directory_symlink(cache_, root_ / "absolute");
  fs::create_directory_symlink(root_ / "not yet", root_ / "dangling");
  for (const std::string& path :
       {root_.string() + "/relative/cache", root_.string() + "/absolute",
        root_.string() + "/relative/../home/./cache//", root_.string() + "/dangling"}) {
    ::setenv("ADIT_CACHE", path.c_str(), 1);
    expect_used(path);
  }
  fs::create_symlink("loop", root_ / "loop");
  ::setenv("ADIT_CACHE", (root_ / "loop" / "x").c_str(), 1);
  expect_unused("a loop of links", root_ / "loop");
}

TEST_F(CacheTrust, a_relative_path_starts_where_the_process_is) {
  const Child child = run_in_child([&] {
    if (::chdir(home_.c_str()) != 0) ::_exit(1);
    ::setenv("ADIT_CACHE", "cache", 1);
    if (cache::load("objects", key) != bytes_of("planted")) ::_exit(2);
  });
  EXPECT_EQ(child.status, 0) << child.text;
}

TEST_F(CacheTrust, a_link_of_another_user_is_not_followed) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  set_mode(root_, 01777);
  fs::create_directory_symlink("home", root_ / "link");
  give_to_nobody(root_ / "link");
  ::setenv("ADIT_CACHE", (root_ / "link" / "cache").c_str(), 1);
  expect_unused("a link of another", root_ / "link");
}

TEST_F(CacheTrust, a_folder_that_is_none_is_said_once) {
  write_file(root_ / "file", "in the way");
  for (const char* path : {"file", "file/cache"}) {
    ::setenv("ADIT_CACHE", (root_ / path).c_str(), 1);
    expect_unused(path, root_ / "file");
  }
}

TEST_F(CacheTrust, a_kind_that_is_a_link_is_not_followed) {
  fs::create_directories(root_ / "outside");
  fs::rename(entry_, root_ / "outside" / "key.adit");
  fs::remove(cache_ / "objects");
  fs::create_directory_symlink(root_ / "outside", cache_ / "objects");
  const Child child = run_in_child([] {
    if (cache::load("objects", key)) ::_exit(1);
    cache::save("objects", "other", bytes_of("mine"));
    if (cache::clear() != 0 || !cache::usage().empty()) ::_exit(2);
  });
  EXPECT_EQ(child.status, 0) << child.text;
  EXPECT_EQ(child.said(warning), 1) << child.text;
  EXPECT_TRUE(fs::exists(root_ / "outside" / "key.adit"));
  EXPECT_FALSE(fs::exists(root_ / "outside" / "other.adit"));
}

TEST_F(CacheTrust, clear_removes_links_and_not_what_they_name) {
  write_file(root_ / "precious.adit", "not an entry");
  fs::create_symlink(root_ / "precious.adit", cache_ / "objects" / "link.adit");
  ASSERT_EQ(cache::usage().size(), 1u);
  EXPECT_EQ(cache::usage()[0].files, 1u) << "a link is no entry";
  EXPECT_EQ(cache::clear(), 2u);
  EXPECT_TRUE(fs::exists(root_ / "precious.adit"));
  EXPECT_TRUE(fs::is_empty(cache_ / "objects"));
}

// --- Entries ----------------------------------------------------------------------------------------------

// What stands in the entry's place is not read, is said in one line if `warns`, and the next save mends it.
void expect_mended(const std::string& what, bool warns) {
  const Child child = run_in_child([] {
    if (cache::load("objects", key)) ::_exit(1);
    if (cache::load("objects", key)) ::_exit(2);
    cache::save("objects", key, bytes_of("mine"));
    if (cache::load("objects", key) != bytes_of("mine")) ::_exit(3);
  });
  EXPECT_EQ(child.status, 0) << what << ": " << child.text;
  EXPECT_EQ(child.said(warning), warns ? 1 : 0) << what << ": " << child.text;
}

TEST_F(CacheTrust, an_entry_that_others_may_write_is_made_anew) {
  for (const unsigned mode : {0666u, 0620u, 0602u}) {
    set_mode(entry_, mode);
    expect_mended(fmt::format("mode {:o}", mode), true);
    EXPECT_EQ(mode_of(entry_), 0600u);
  }
  if (!is_root()) return;
  give_to_nobody(entry_);
  expect_mended("another's", true);
}

TEST_F(CacheTrust, an_entry_that_is_no_file_is_made_anew) {
  const std::string good = read_file(entry_);
  fs::remove(entry_);
  ASSERT_EQ(::mkfifo(entry_.c_str(), 0600), 0);
  expect_mended("a pipe", true);

  write_file(root_ / "elsewhere", good);
  set_mode(root_ / "elsewhere", 0600);
  fs::remove(entry_);
  fs::create_symlink(root_ / "elsewhere", entry_);
  expect_mended("a link", true);
  EXPECT_TRUE(fs::exists(root_ / "elsewhere"));

  fs::remove(entry_);
  fs::create_symlink("/dev/zero", entry_);
  expect_mended("a link to a device", true);

  fs::remove(entry_);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(entry_.string().size(), sizeof address.sun_path);
  std::strcpy(address.sun_path, entry_.c_str());
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(socket);
  expect_mended("a socket", true);
}

TEST_F(CacheTrust, a_device_as_an_entry_is_made_anew) {
  fs::remove(entry_);
  struct stat zero {};
  if (::stat("/dev/zero", &zero) != 0 || ::mknod(entry_.c_str(), S_IFCHR | 0600, zero.st_rdev) != 0)
    GTEST_SKIP() << "devices cannot be made here";
  expect_mended("a device", true);
}

TEST_F(CacheTrust, a_folder_as_an_entry_is_said_once) {
  fs::remove(entry_);
  fs::create_directory(entry_);
  const Child child = run_in_child([] {
    for (int i = 0; i < 3; ++i) {
      if (cache::load("objects", key)) ::_exit(1);
      cache::save("objects", key, bytes_of("mine"));
    }
    cache::save("objects", "other", bytes_of("mine"));
    if (cache::load("objects", "other") != bytes_of("mine")) ::_exit(2);
  });
  EXPECT_EQ(child.status, 0) << child.text;
  EXPECT_EQ(child.said(warning), 1) << child.text;
  EXPECT_EQ(std::distance(fs::directory_iterator(cache_ / "objects"), {}), 2) << "no temporary stays";
}

// The entry's header, with another length.
std::string header_with_length(const fs::path& entry, uint64_t length) {
  std::string header = read_file(entry).substr(0, 40);
  std::memcpy(header.data() + 16, &length, sizeof length);
  return header;
}

TEST_F(CacheTrust, a_giant_entry_is_not_read) {
  for (const uint64_t bytes : {cache::max_payload_bytes + 41, uint64_t{4} << 40}) {
    for (const uint64_t promised : {bytes - 40, uint64_t{10}, ~uint64_t{0}}) {
      write_file(entry_, header_with_length(entry_, promised));
      if (::truncate(entry_.c_str(), static_cast<off_t>(bytes)) != 0)
        continue;  // this disk has no such files
      EXPECT_EQ(run_in_child([] { (void)cache::load("objects", key); }).status, 0);
      EXPECT_FALSE(fs::exists(entry_)) << "refused for its size, before memory is asked for";
      cache::save("objects", key, bytes_of("mine"));
    }
  }
  write_file(entry_, header_with_length(entry_, uint64_t{1} << 40));
  expect_mended("a short one that promises much", false);
}

TEST_F(CacheTrust, an_entry_without_the_memory_for_it_is_absent) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the memory themselves";
#endif
  write_file(entry_, header_with_length(entry_, cache::max_payload_bytes));
  ASSERT_EQ(::truncate(entry_.c_str(), static_cast<off_t>(cache::max_payload_bytes + 40)), 0);
  const Child child = run_in_child([] {
    const rlimit little{uint64_t{128} << 20, uint64_t{128} << 20};
    ::setrlimit(RLIMIT_AS, &little);
    if (cache::load("objects", key)) ::_exit(1);
  });
  EXPECT_EQ(child.status, 0) << child.text;
}

TEST_F(CacheTrust, an_entry_that_grows_is_whole_or_absent) {
  const Child child = run_in_child([&] {
    std::atomic<bool> done{false};
    std::thread grower([&] {
      const std::string more(5000, 'x');
      while (!done) {
        const int file = ::open(entry_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
        for (int i = 0; i < 20 && file >= 0; ++i) (void)!::write(file, more.data(), more.size());
        ::close(file);
      }
    });
    for (int i = 0; i < 300; ++i) {
      cache::save("objects", key, bytes_of("mine"));
      const auto seen = cache::load("objects", key);
      if (seen && seen != bytes_of("mine")) ::_exit(1);
    }
    done = true;
    grower.join();
  });
  EXPECT_EQ(child.status, 0) << child.text;
}

// --- Disks ------------------------------------------------------------------------------------------------

TEST_F(CacheTrust, a_full_disk_is_said_once) {
  const Child child = run_in_child([] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{100, 100};  // bytes a file: as a disk that is full
    ::setrlimit(RLIMIT_FSIZE, &small);
    for (const char* kind : {"objects", "kernels", "objects"})
      cache::save(kind, key, bytes_of(std::string(1000, 'x')));
    if (cache::load("objects", key) != bytes_of("planted")) ::_exit(1);
  });
  EXPECT_EQ(child.status, 0) << child.text;
  EXPECT_EQ(child.said(warning), 1) << child.text;
  EXPECT_EQ(std::distance(fs::directory_iterator(cache_ / "objects"), {}), 1) << "no temporary stays";
}

}  // namespace
}  // namespace adit::test
