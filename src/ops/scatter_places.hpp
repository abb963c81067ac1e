// Where updates go: arithmetic on places, written into a kernel. Shared by the methods of scatter.
#pragma once

#include <adit/kernel/builder.hpp>

#include "ops/scatter.hpp"

namespace adit::ops {

// A coordinate as an index inside an axis.
kernel::Value clamped(kernel::Value coordinate, uint64_t extent, kernel::Type to);

// A plan made simple: complex numbers are a last axis of two, axes that lie side by side are one.
struct Places {
  ScatterKind kind{};
  kernel::Type type{}, index_type{};
  kernel::Type memory_type{};  // as kernels see elements: put moves bits, and an f16 is taken apart by hand
  uint64_t updates = 0, bases = 1, slice_size = 1;  // bases: places along the indexed axes
  std::vector<ScatterAxis> indexed;                 // as the coordinates name them
  std::vector<ScatterAxis> base_axes, slice_axes;   // merged, row-major
  bool wide = false;                                // numbers need 64 bits
  bool from_zero = false;

  explicit Places(const ScatterPlan& plan);

  kernel::Type number_type() const { return wide ? kernel::Type::u64 : kernel::Type::u32; }
  kernel::Value number(kernel::Builder& k, uint64_t value) const {
    return k.constant_bits(number_type(), value);
  }
  // The place along an only indexed axis.
  kernel::Value base_at(kernel::Value coordinate) const;
  // The row-major number, over the indexed axes, of where an update goes.
  kernel::Value base_of(const kernel::Array& indices, kernel::Value update) const;
  // The offset in the destination of a base, and of an element of a slice from there.
  kernel::Value base_offset(kernel::Value base) const { return offset_of(base, base_axes); }
  kernel::Value slice_offset(kernel::Value element) const { return offset_of(element, slice_axes); }
  // An offset in the updates, or in scratch with a slice for each number.
  kernel::Value row_offset(kernel::Value row, kernel::Value element) const;
  // What an element in memory is added in (halves in f32, others as they are), and back.
  kernel::Value as_term(kernel::Value element) const;
  kernel::Value as_element(kernel::Value term) const;
  // team = row * slice_size + element
  struct Split {
    kernel::Value row, element;
  };
  Split split(kernel::Value team) const;

 private:
  static kernel::Value offset_of(kernel::Value number, const std::vector<ScatterAxis>& axes);
};

// The methods; scatter() chooses.
Scatter scatter_by_leader(const Places& places);
Scatter scatter_by_ranges(const Places& places, uint32_t workers);
Scatter put_by_claim(const Places& places);
Scatter add_by_atomics(const Places& places, bool int64_atomics);
// How the passes of add_by_buckets share the work: lanes of a team, and updates that each of them takes.
struct BucketTuning {
  uint32_t count_lanes = 1024, count_each = 32;
  uint32_t sort_lanes = 1024, sort_each = 16;
  uint32_t sum_lanes = 1024, sum_each = 5;
  bool words64 = true;
};
Scatter add_by_buckets(const Places& places, const ScatterTarget& target, const BucketTuning& tuning = {});
// Whether the type and the number of places allow it.
bool fits_buckets(const Places& places, const ScatterTarget& target);

// Pass 1 of several methods: claims[base] = the number of the last update to it, from 1 on; 0 where there is
// none.
ScatterPass claim_pass(const Places& places, uint8_t claims);

inline constexpr uint8_t output_buffer = static_cast<uint8_t>(ScatterBuffer::output);
inline constexpr uint8_t indices_buffer = static_cast<uint8_t>(ScatterBuffer::indices);
inline constexpr uint8_t updates_buffer = static_cast<uint8_t>(ScatterBuffer::updates);
constexpr uint8_t scratch_buffer(int number) {
  return static_cast<uint8_t>(static_cast<int>(ScatterBuffer::scratch) + number);
}

}  // namespace adit::ops
