// Updates at places of a tensor: indexed_add and indexed_put.
//
// The caller copies x into the output first. `scatter` gives the programs that change it, to be run in order,
// and the scratch they need. Whatever the device does in between, a result repeats bit for bit:
//
// - put: of several updates to a place the last one, in row-major order of the updates, stays;
// - add of integers wraps, so its order does not matter;
// - add of floats on a GPU sums exactly in fixed point. Each element's unit comes from the largest exponent
// among
//   its own updates, so that an update loses at most 2^-(38 - b) of that largest one in f32 (and in halves,
//   which are summed as f32) and 2^-(74 - b) ... see fixed_point.hpp; b is the bit length of the number of
//   updates. The sum is rounded once and then added to x. NaN and infinities arrive as in any other sum.
// - add of floats in the methods that keep the order adds one update after the other.
#pragma once

#include <cstdint>
#include <vector>

#include <adit/device.hpp>
#include <adit/kernel/program.hpp>

namespace adit::ops {

enum class ScatterKind : uint8_t { add, put };

// An axis of the destination: extent and stride in elements.
struct ScatterAxis {
  uint64_t extent = 1, stride = 1;
};

struct ScatterPlan {
  ScatterKind kind = ScatterKind::add;
  kernel::Type type = kernel::Type::f32;  // of an element, or of the parts of a complex number
  bool complex = false;                   // parts lie side by side; strides still count whole elements
  kernel::Type index_type = kernel::Type::i64;
  uint64_t updates = 0;
  std::vector<ScatterAxis> indexed;  // one for each coordinate of an update, in their order
  std::vector<ScatterAxis> slice;    // the other axes of the destination, in row-major order
  // The destination counts as zeros, whatever it holds. A method that does not write all of it wants zeros
  // there.
  bool from_zero = false;
};

// Indices are [updates, coordinates] and updates [updates, slice...], both row-major without gaps. A
// coordinate outside of its axis is clamped to it.
enum class ScatterMethod : uint8_t {
  leader,   // few updates: the first update of a place gathers the others, in order
  ranges,   // a CPU: each team owns a range of places and walks all updates in order
  claim,    // put on a GPU: the last update claims the place, then writes
  atomics,  // add on a GPU
  buckets   // add of many f32 or halves to up to 4M places on a GPU: sorted by place first, summed in shared
            // memory
};

// What the programs are for.
struct ScatterTarget {
  bool cpu = false;
  uint32_t workers = 1;  // threads of a CPU
  bool int64_atomics = false;
  uint32_t shared_bytes = 0, max_lanes = 1;  // of a team
  bool lanes_by_hand = false;                // with arithmetic over subgroups
  bool int64 = false;
};
ScatterTarget scatter_target(const Device& device);
ScatterMethod choose_method(const ScatterPlan& plan, const ScatterTarget& target);

// What an argument of a pass is: a buffer of the caller, or a scratch buffer by number (scratch + i).
enum class ScatterBuffer : uint8_t { output, indices, updates, scratch };

struct ScatterPass {
  kernel::Program program;
  uint64_t teams = 0;
  std::vector<uint8_t>
      arguments;  // ScatterBuffer::output ... or ScatterBuffer::scratch + number of the scratch
};

struct Scratch {
  uint64_t bytes = 0;  // whole words
  bool zeroed = true;  // the caller fills it with zeros before the first pass
};

struct Scatter {
  std::vector<Scratch> scratch;
  std::vector<ScatterPass> passes;  // none where there is nothing to do
  bool writes_all = false;          // of the output, without reading it
};

Scatter scatter(const ScatterPlan& plan, const ScatterTarget& target);
Scatter scatter(const ScatterPlan& plan, const ScatterTarget& target, ScatterMethod method);

// Runs all passes on buffers; allocates the scratch.
void run_scatter(Device& device, const Scatter& work, const Buffer& output, const Buffer& indices,
                 const Buffer& updates);

}  // namespace adit::ops
