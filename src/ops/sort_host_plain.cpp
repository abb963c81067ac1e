// The loops over keys by registers that every processor of its family has, and which loops serve which.
#include "ops/sort_host_loops.hpp"

namespace adit::ops::sorting_on_host {

AllLoops plain_loops() { return all_loops(); }

namespace {

AllLoops loops_of_kind([[maybe_unused]] VectorKind kind) {
#if defined(__x86_64__)
  if (kind == VectorKind::avx512) return avx512_loops();
  if (kind == VectorKind::avx2) return avx2_loops();
#endif
  return plain_loops();
}

}  // namespace

template <>
Loops<uint8_t> loops_for(VectorKind kind) {
  return loops_of_kind(kind).of_8;
}
template <>
Loops<uint16_t> loops_for(VectorKind kind) {
  return loops_of_kind(kind).of_16;
}
template <>
Loops<uint32_t> loops_for(VectorKind kind) {
  return loops_of_kind(kind).of_32;
}
template <>
Loops<uint64_t> loops_for(VectorKind kind) {
  return loops_of_kind(kind).of_64;
}

}  // namespace adit::ops::sorting_on_host
