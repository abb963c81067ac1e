#include "support/machine.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
#if defined(__linux__)
#include <sched.h>
#endif

namespace adit::machine {

namespace fs = std::filesystem;

namespace {

// Where the files of some controllers lie: "" stands for those of version 2.
struct Mount {
  std::vector<std::string> controllers;
  std::string root;  // the group that the mount point shows
  fs::path point;
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  return parts;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Lines of /proc/self/mountinfo: id, parent, device, root, mount point, options, and more until a "-"; then
// the kind of file system, its source, and its own options, which name the controllers of version 1.
std::vector<Mount> mounts(const fs::path& root) {
  std::vector<Mount> found;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 5 || words.end() - dash < 4) continue;
    Mount mount{{}, words[3], root / fs::path(words[4]).relative_path()};
    if (dash[1] == "cgroup2")
      mount.controllers = {""};
    else if (dash[1] == "cgroup")
      mount.controllers = split(dash[3], ',');
    if (!mount.controllers.empty()) found.push_back(std::move(mount));
  }
  return found;
}

// The folders of this process's group and of those around it, as far as they are to be seen here.
std::vector<fs::path> folders_of(const fs::path& root, const std::string& controller) {
  std::vector<fs::path> folders;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::vector<std::string> names = split(line.substr(first + 1, second - first - 1), ',');
    if (!(controller.empty() ? names.empty() : contains(names, controller))) continue;
    const std::string group = line.substr(second + 1);
    for (const Mount& mount : mounts(root)) {
      if (!contains(mount.controllers, controller)) continue;
      const bool is_inside = mount.root == "/" || group == mount.root || group.starts_with(mount.root + "/");
      fs::path inner = !is_inside          ? fs::path()
                       : mount.root == "/" ? fs::path(group).relative_path()
                                           : fs::path(group.substr(mount.root.size())).relative_path();
      for (;; inner = inner.parent_path()) {
        folders.push_back(mount.point / inner);
        if (inner.empty()) break;
      }
    }
  }
  return folders;
}

// The first words of a file that are numbers; "max" and the like are none.
std::vector<double> numbers_of(const fs::path& path) {
  std::vector<double> numbers;
  std::ifstream file(path);
  for (double number = 0; file >> number;) numbers.push_back(number);
  return numbers;
}

template <class T>
void lower(std::optional<T>& bound, T to) {
  bound = bound ? std::min(*bound, to) : to;
}

void lower_memory(Bounds& bounds, const fs::path& path) {
  constexpr double no_bound = 0x1p62;  // what version 1 says where there is none is near 2^63
  const std::vector<double> numbers = numbers_of(path);
  if (!numbers.empty() && numbers[0] > 0 && numbers[0] < no_bound)
    lower(bounds.memory_bytes, static_cast<uint64_t>(numbers[0]));
}

void lower_processors(Bounds& bounds, const std::vector<double>& quota_and_period) {
  if (quota_and_period.size() == 2 && quota_and_period[0] > 0 && quota_and_period[1] > 0)
    lower(bounds.processors, quota_and_period[0] / quota_and_period[1]);
}

}  // namespace

Bounds control_groups(const fs::path& root) {
  Bounds bounds;
  for (const fs::path& folder : folders_of(root, "")) {
    lower_memory(bounds, folder / "memory.max");
    lower_processors(bounds, numbers_of(folder / "cpu.max"));
  }
  for (const fs::path& folder : folders_of(root, "memory"))
    lower_memory(bounds, folder / "memory.limit_in_bytes");
  for (const fs::path& folder : folders_of(root, "cpu")) {
    std::vector<double> numbers = numbers_of(folder / "cpu.cfs_quota_us");
    for (const double period : numbers_of(folder / "cpu.cfs_period_us")) numbers.push_back(period);
    lower_processors(bounds, numbers);
  }
  return bounds;
}

unsigned allowed_processors() {
  unsigned count = std::max(1u, std::thread::hardware_concurrency());
#if defined(__linux__)
  for (size_t most = 1024; most <= size_t{1} << 20; most *= 4) {
    cpu_set_t* set = CPU_ALLOC(most);
    if (set == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(most);
    const bool is_told = ::sched_getaffinity(0, bytes, set) == 0;
    if (is_told) count = std::min(count, static_cast<unsigned>(std::max(1, CPU_COUNT_S(bytes, set))));
    CPU_FREE(set);
    if (is_told) break;
  }
#endif
  return count;
}

uint64_t memory_bytes() {
  static const uint64_t bytes = [] {
    const uint64_t all =
        static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    return std::min(all, control_groups().memory_bytes.value_or(all));
  }();
  return bytes;
}

unsigned processors() {
  static const unsigned count = [] {
    const unsigned allowed = allowed_processors();
    const double quota = control_groups().processors.value_or(allowed);
    return std::max(1u, static_cast<unsigned>(std::min<double>(allowed, std::ceil(quota - 1e-9))));
  }();
  return count;
}

}  // namespace adit::machine
