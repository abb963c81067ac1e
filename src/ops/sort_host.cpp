#include "ops/sort_host.hpp"

#include <algorithm>
#include <type_traits>

#include "ops/sort_host_columns.hpp"
#include "ops/sort_host_keys.hpp"
#include "ops/sort_host_radix.hpp"
#include "ops/sort_host_row.hpp"
#include "ops/sort_host_vectors.hpp"
#include "support/threads.hpp"

namespace adit::ops {

namespace sorting_on_host {
namespace {

// Rows from here on are shared by threads. Measured once, on two x86-64 cores (bench/RESULTS.md).
constexpr uint64_t long_row = 1 << 15;

// Row by row. Sorter(row) sorts one that is not in order yet; it takes less time than to ask for that up to
// rows of Sorter::unasked.
template <class Sorter, class K, class... More>
void sort_rows(const HostSort& plan, const Keys& keys, const K* x, K* values, int64_t* places, More... more) {
  const Loops<K> loops = loops_for<K>(plan.vectors);
  const uint64_t rows = plan.outer * plan.inner, threads = thread_count();
  const uint64_t parts = plan.length >= long_row && rows < 4 * threads ? threads : 1;
  const uint64_t chunk = std::max<uint64_t>(1, std::min(rows / (4 * threads), 65536 / plan.length + 1));
  parallel(static_cast<unsigned>(threads), rows, chunk, [&](uint64_t begin, uint64_t end) {
    typename Sorter::Space space(plan.length);
    for (uint64_t i = begin; i < end; ++i) {
      const uint64_t first = i / plan.inner * plan.length * plan.inner + i % plan.inner;
      const Row<K> row{keys,
                       loops,
                       plan.length,
                       plan.inner,
                       x + first,
                       values ? values + first : nullptr,
                       places ? places + first : nullptr};
      const Order order = plan.length <= Sorter::unasked ? Order{false, false} : row.find_order(parts);
      if (order.rises)
        row.keep(parts);
      else if (order.falls)
        row.reverse(order.sinks, parts);
      else
        Sorter(row, more...).sort(space, parts);
    }
  });
}

// Whether keys of so many bytes are sorted by vectors rather than by digits, or by ranks where they are few.
// Measured once, on a Neoverse V1, whose registers hold two numbers of 64 bits, or four of 32.
bool goes_by_vectors(const HostSort& plan, size_t bytes, bool has_places) {
  constexpr uint64_t few = 16, many = 1 << 16;
  if (plan.vectors == VectorKind::none) return false;
  if (bytes == 8) return !has_places || plan.length > few;
  if (plan.vectors != VectorKind::neon) return true;
  const uint64_t few_digits = bytes < 4 ? 128 : 600;  // whose tables are not worth their clearing
  return plan.length <= (has_places ? few_digits : many);
}

template <class K>
void sort_words(const HostSort& plan, const Keys& keys, const void* x, void* values, int64_t* places) {
  const auto* from = static_cast<const K*>(x);
  auto* to = static_cast<K*>(values);
  using Both = uint64_t;
  if (!places && Columns<K, K>::serve(plan)) return Columns<K, K>(plan, keys, from, to, places).run();
  if constexpr (sizeof(K) < sizeof(Both))
    if (places && Columns<K, Both>::serve(plan)) return Columns<K, Both>(plan, keys, from, to, places).run();
  if (goes_by_vectors(plan, sizeof(K), places != nullptr)) {
    using Packed = std::conditional_t<(sizeof(K) < 4), uint32_t, uint64_t>;
    if constexpr (sizeof(K) >= 4)
      if (!places) return sort_rows<ValuesRow<K>>(plan, keys, from, to, places, plan.vectors);
    if (places && PlacesRow<K, Packed>::serve(plan.length))
      return sort_rows<PlacesRow<K, Packed>>(plan, keys, from, to, places, plan.vectors);
  }
  if constexpr (sizeof(K) <= 2)
    if (places && plan.length >> place_bits == 0)
      return sort_rows<RadixRow<K, UpperDigit>>(plan, keys, from, to, places);
  if (!places)
    sort_rows<RadixRow<K, K>>(plan, keys, from, to, places);
  else if (plan.length <= uint64_t{1} << 32)
    sort_rows<RadixRow<K, Entry<K, uint32_t>>>(plan, keys, from, to, places);
  else
    sort_rows<RadixRow<K, Entry<K, uint64_t>>>(plan, keys, from, to, places);
}

}  // namespace
}  // namespace sorting_on_host

void sort_on_host(const HostSort& plan, const void* x, void* values, int64_t* places) {
  using namespace sorting_on_host;
  if (plan.outer * plan.length * plan.inner == 0 || (!values && !places)) return;
  Keys keys{.is_float = is_float(plan.type),
            .is_signed = is_signed_integer(plan.type),
            .descending = plan.descending,
            .same_zeros = places != nullptr};
  switch (plan.type) {
    case DType::f16: keys.infinity = 0x7c00; break;
    case DType::bf16: keys.infinity = 0x7f80; break;
    case DType::f32: keys.infinity = 0x7f800000; break;
    case DType::f64: keys.infinity = 0x7ff0000000000000; break;
    default: break;
  }
  switch (size_of(plan.type)) {
    case 1: return sort_words<uint8_t>(plan, keys, x, values, places);
    case 2: return sort_words<uint16_t>(plan, keys, x, values, places);
    case 4: return sort_words<uint32_t>(plan, keys, x, values, places);
    default: return sort_words<uint64_t>(plan, keys, x, values, places);
  }
}

}  // namespace adit::ops
