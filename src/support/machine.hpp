// What of the machine this process may use: less than all of it inside of a container, a service or a batch
// job, whose bounds the kernel keeps in control groups.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace adit::machine {

uint64_t memory_bytes();  // physical memory, or the bound of this process's control groups
unsigned processors();    // at least 1: what is allowed, and as many as the quota of time comes to

unsigned allowed_processors();  // by the system's mask, asked now

// Of version 1 or 2, of this process's group and those around it; nothing where there is no bound. `root`
// stands for "/", so that tests bring files of their own.
struct Bounds {
  std::optional<uint64_t> memory_bytes;
  std::optional<double> processors;
};
Bounds control_groups(const std::filesystem::path& root = "/");

}  // namespace adit::machine
