// Executables on disk, by structure: a process that meets a graph an earlier one has compiled writes no
// kernels.
//
// - The key: the graph's structure, everything the compiler knows of the device, and a hash of the sources
// that
//   decide what is made (src/graph, src/compile, src/ops, src/kernel).
// - The entry: steps with the programs of their kernels, places, sizes. Machine code and SPIR-V are found by
// the
//   programs' content, as ever.
// - Control flow is not stored: its steps are functions of the host.
// - Small graphs are not stored: they are lowered in the time that a file takes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <adit/kernel/program.hpp>

#include "compile/executable.hpp"
#include "compile/structure.hpp"

namespace adit::compile {

inline constexpr size_t least_stored_nodes = 32;

// `key` must not depend on the process.
std::string stored_name(const Device& device, const Key& key);
// None where there is no entry, or where it is not one for this many inputs and numbers.
std::shared_ptr<const Executable> load_stored(Device& device, const std::string& name, size_t inputs,
                                              size_t numbers);
// `programs`: one a step, empty where the step has no kernel.
void save_stored(const std::string& name, const Executable& executable,
                 const std::vector<kernel::Program>& programs, size_t inputs, size_t numbers);

}  // namespace adit::compile
