// The cache on disk: what is saved comes back, what is damaged does not, and processes do not disturb each
// other.
#include "support/cache.hpp"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <thread>
#include <unistd.h>

#include "children.hpp"
#include "own_folder.hpp"

namespace {

namespace fs = std::filesystem;
namespace cache = adit::cache;
using namespace adit::test;

// The level is read once a process, so it is set before anything runs.
const int log_is_on = ::setenv("ADIT_LOG", "debug", 1);

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

class CacheTest : public adit::test::InOwnFolder {
 protected:
  void SetUp() override {
    InOwnFolder::SetUp();
    ::setenv("ADIT_CACHE", root_.c_str(), 1);
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(root_))
      if (entry.is_regular_file()) found.push_back(entry.path());
    return found;
  }
  // A file that must be refused: absent to the reader, said, and gone.
  void expect_refused(const std::string& damaged, const std::string& what) const {
    const fs::path path = root_ / "kernels" / "key.adit";
    write_file(path, damaged);
    testing::internal::CaptureStderr();
    const bool loaded = cache::load("kernels", "key").has_value();
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_FALSE(loaded) << what;
    EXPECT_FALSE(fs::exists(path)) << what;
    EXPECT_NE(said.find("key.adit"), std::string::npos) << what << ": " << said;
  }
};

TEST_F(CacheTest, what_is_saved_comes_back) {
  EXPECT_FALSE(cache::load("kernels", "key"));
  for (const size_t size : {0, 1, 39, 40, 41, 100000}) {
    const auto payload = bytes_of(std::string(size, 'x'));
    cache::save("kernels", "key", payload);
    EXPECT_EQ(cache::load("kernels", "key"), payload);
  }
  EXPECT_FALSE(cache::load("objects", "key"));
}

TEST_F(CacheTest, any_key_has_a_file_inside_the_folder) {
  for (const std::string& key : {std::string("../../escape"), std::string(""), std::string(500, 'k'),
                                 std::string("a b\n/"), std::string(".hidden")}) {
    cache::save("profiles", key, bytes_of(key + "!"));
    EXPECT_EQ(cache::load("profiles", key), bytes_of(key + "!"));
  }
  for (const fs::path& file : files()) EXPECT_EQ(file.parent_path(), root_ / "profiles");
  EXPECT_EQ(files().size(), 5u);
}

TEST_F(CacheTest, a_truncated_file_is_rebuilt) {
  cache::save("kernels", "key", bytes_of(std::string(300, 'p')));
  const std::string whole = read_file(root_ / "kernels" / "key.adit");
  for (size_t length = 0; length < whole.size(); length += (length < 64 ? 1 : 37))
    expect_refused(whole.substr(0, length), "cut to " + std::to_string(length));
  expect_refused(whole + "x", "one byte too long");
  cache::save("kernels", "key", bytes_of("again"));
  EXPECT_EQ(cache::load("kernels", "key"), bytes_of("again"));
}

TEST_F(CacheTest, a_flipped_bit_is_seen_everywhere) {
  cache::save("kernels", "key", bytes_of(std::string(100, 'p')));
  const std::string whole = read_file(root_ / "kernels" / "key.adit");
  for (size_t bit = 0; bit < whole.size() * 8; bit += 3) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    expect_refused(damaged, "bit " + std::to_string(bit));
  }
}

TEST_F(CacheTest, a_foreign_file_is_refused) {
  fs::create_directories(root_ / "kernels");
  expect_refused(std::string("\177ELF") + std::string(1000, '\0'), "another program's file");
  // A good file, but of another entry.
  cache::save("kernels", "other", bytes_of("payload"));
  expect_refused(read_file(root_ / "kernels" / "other.adit"), "another entry's file");
}

TEST_F(CacheTest, an_empty_name_turns_it_off) {
  ::setenv("ADIT_CACHE", "", 1);
  EXPECT_FALSE(cache::directory());
  cache::save("kernels", "key", bytes_of("payload"));
  EXPECT_FALSE(cache::load("kernels", "key"));
  EXPECT_TRUE(cache::usage().empty());
  EXPECT_EQ(cache::clear(), 0u);
  EXPECT_TRUE(files().empty());
}

TEST_F(CacheTest, the_default_follows_the_xdg_rule) {
  ::unsetenv("ADIT_CACHE");
  const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(cache::directory(), fs::path("/somewhere/adit"));
  ::setenv("XDG_CACHE_HOME", "relative", 1);  // counts as unset
  ::setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(cache::directory(), fs::path("/home/someone/.cache/adit"));
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  EXPECT_FALSE(cache::directory());
  ::setenv("HOME", home.c_str(), 1);
}

TEST_F(CacheTest, a_read_only_directory_still_serves) {
  cache::save("kernels", "key", bytes_of("payload"));
  for (const fs::path& path : {root_, root_ / "kernels", root_ / "kernels" / "key.adit"}) {
    fs::permissions(path, fs::perms(0555));
    if (is_root()) {
      ASSERT_EQ(::chown(path.c_str(), nobody, nobody), 0);
    }
  }
  const Child child = run_in_child([] {
    become_nobody();  // root may write anywhere
    for (int i = 0; i < 3; ++i) cache::save("kernels", "key", bytes_of("other"));
    if (cache::load("kernels", "key") != bytes_of("payload")) ::_exit(1);
    cache::save("objects", "key", bytes_of("other"));
    if (cache::load("objects", "key")) ::_exit(2);
  });
  EXPECT_EQ(child.status, 0);
  EXPECT_EQ(child.said("adit: [cache] "), 1) << child.text;
  EXPECT_NE(child.text.find("kernels: expected to write there, got: "), std::string::npos) << child.text;
  for (const fs::path& path : {root_, root_ / "kernels"}) fs::permissions(path, fs::perms(0755));
}

TEST_F(CacheTest, usage_counts_and_clear_removes_only_entries) {
  cache::save("kernels", "a", bytes_of(std::string(60, 'a')));
  cache::save("kernels", "b", bytes_of(std::string(60, 'b')));
  cache::save("objects", "a", bytes_of(""));
  write_file(root_ / "kernels" / "notes.txt", "a person's own file");
  const auto usage = cache::usage();
  ASSERT_EQ(usage.size(), 2u);
  EXPECT_EQ(usage[0].kind, "kernels");
  EXPECT_EQ(usage[0].files, 2u);
  EXPECT_EQ(usage[0].bytes, 200u);
  EXPECT_EQ(usage[1].bytes, 40u);
  EXPECT_EQ(cache::clear(), 3u);
  EXPECT_EQ(files(), std::vector<fs::path>{root_ / "kernels" / "notes.txt"});
}

TEST_F(CacheTest, clear_takes_old_temporaries_and_leaves_young_ones) {
  fs::create_directories(root_ / "kernels");
  const fs::path old = root_ / "kernels" / ".writing-1-1", young = root_ / "kernels" / ".writing-1-2";
  write_file(old, "half");
  write_file(young, "half");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  EXPECT_EQ(cache::clear(), 1u);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
  // Saving does the same now and then.
  fs::last_write_time(young, fs::file_time_type::clock::now() - std::chrono::hours(2));
  for (int i = 0; i < 64; ++i) cache::save("kernels", "key", bytes_of("payload"));
  EXPECT_FALSE(fs::exists(young));
}

// Writers of one entry and readers of it: every read gives one writer's whole payload. 0 when all is well.
int write_and_read(int writer, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    cache::save("objects", "shared",
                bytes_of(std::string(1000 + 777 * writer, static_cast<char>('a' + writer))));
    const auto seen = cache::load("objects", "shared");
    if (!seen || seen->empty()) return 1;  // it was saved once, so it is always there
    const int other = static_cast<int>((*seen)[0]) - 'a';
    if (seen->size() != static_cast<size_t>(1000 + 777 * other)) return 2;
  }
  return 0;
}

TEST_F(CacheTest, processes_share_one_directory) {
  std::vector<pid_t> children;
  for (int writer = 0; writer < 6; ++writer)
    children.push_back(in_child([=] { ::_exit(write_and_read(writer, 200)); }));
  for (const pid_t child : children) EXPECT_EQ(status_of(child), 0);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(CacheTest, threads_share_one_directory) {
  std::vector<int> results(6, -1);
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 6; ++writer)
    threads.emplace_back([=, &results] { results[writer] = write_and_read(writer, 100); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(results, std::vector<int>(6, 0));
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(CacheTest, a_process_killed_while_it_writes_leaves_no_partial_entry) {
  const std::string payload(4 << 20, 'p');
  int caught_writing = 0;
  for (int round = 0; round < 40; ++round) {
    const pid_t child = in_child([&] {
      for (int i = 0;; ++i) cache::save("objects", "big" + std::to_string(i % 3), bytes_of(payload));
    });
    ::usleep(static_cast<useconds_t>(3000 + 700 * round));
    ::kill(child, SIGKILL);
    status_of(child);
    for (const fs::path& file : files()) {
      if (file.filename().string().starts_with(".writing-")) {
        ++caught_writing;
        fs::remove(file);
        continue;
      }
      EXPECT_EQ(fs::file_size(file), payload.size() + 40) << file;
      EXPECT_EQ(cache::load("objects", file.stem().string()), bytes_of(payload));
    }
  }
  EXPECT_GT(caught_writing, 0) << "no kill came in mid-write: the test proves nothing";
}

}  // namespace
