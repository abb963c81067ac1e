// A function that is built from placeholders, or was.
#pragma once

#include <atomic>
#include <mutex>

#include "door/handles.hpp"
#include "graph/trace.hpp"

struct adit_function {
  adit::Tensors parameters;
  uint64_t first = 0;  // nodes with smaller numbers are older than the function
  std::mutex mutex;    // of `results`, until it is finished
  std::atomic<bool> finished{false};
  adit::Tensors results;
};

namespace adit::door {

// Throws unless it is finished, and its parameters look like the arguments.
void expect_arguments(std::string_view op, std::string_view name, const adit_function& f,
                      const Tensors& arguments);
// The function over placeholders of its own, so that it may be used any number of times.
graph::Trace traced(std::string_view op, std::string_view name, const adit_function& f,
                    const Tensors& arguments);
// Its results for arguments, as nodes of the caller's graph.
Tensors applied(const adit_function& f, const Tensors& arguments);
// A finished function of the same kind of parameters.
std::unique_ptr<adit_function> function_of(graph::Trace trace);

}  // namespace adit::door
