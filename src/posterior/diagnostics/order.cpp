#include "posterior/diagnostics/order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <adit/error.hpp>

#include "posterior/diagnostics/chains.hpp"

namespace adit::diagnostics {
namespace {

struct Item {
  uint64_t key;
  uint32_t place;
};
constexpr uint64_t sign_bit = uint64_t{1} << 63;
constexpr int digit_bits = 11, digits = 3;

// Doubles as integers of the same order (-0 comes before 0; they count as equal all the same).
uint64_t key_of(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  return bits & sign_bit ? ~bits : bits | sign_bit;
}
double value_of(uint64_t key) { return std::bit_cast<double>(key & sign_bit ? key ^ sign_bit : ~key); }

// One stable pass by the digit that starts at `shift`.
void distribute(const std::vector<Item>& from, std::vector<Item>& to, uint64_t least, int shift) {
  std::array<uint32_t, 1 << digit_bits> starts{};
  const auto digit = [&](const Item& item) {
    return static_cast<size_t>(((item.key - least) >> shift) & ((1 << digit_bits) - 1));
  };
  for (const Item& item : from) ++starts[digit(item)];
  uint32_t start = 0;
  for (uint32_t& entry : starts) {
    const uint32_t size = entry;
    entry = start;
    start += size;
  }
  for (const Item& item : from) to[starts[digit(item)]++] = item;
}

// The leading 33 bits of the range are sorted; what they cannot tell apart is sorted by comparison.
void sort_runs(std::vector<Item>& items, uint64_t least, int shift) {
  if (shift == 0) return;
  const auto prefix = [&](const Item& item) { return (item.key - least) >> shift; };
  for (size_t first = 0; first < items.size();) {
    size_t last = first + 1;
    bool sorted = true;
    for (const uint64_t run = prefix(items[first]); last < items.size() && prefix(items[last]) == run; ++last)
      sorted = sorted && items[last - 1].key <= items[last].key;
    if (!sorted)
      std::sort(items.begin() + first, items.begin() + last,
                [](const Item& a, const Item& b) { return a.key < b.key; });
    first = last;
  }
}

void sort_items(std::vector<Item>& items) {
  const auto by_key = [](const Item& a, const Item& b) { return a.key < b.key; };
  if (items.size() < 1500) return std::sort(items.begin(), items.end(), by_key);
  const auto [least, most] = std::minmax_element(items.begin(), items.end(), by_key);
  const uint64_t base = least->key;
  // The leading bits of the range that occurs, not of all doubles: a large offset costs nothing.
  const int shift = std::max(0, static_cast<int>(std::bit_width(most->key - base)) - digit_bits * digits);
  std::vector<Item> other(items.size());
  for (int digit = 0; digit < digits; ++digit) {
    distribute(items, other, base, shift + digit * digit_bits);
    items.swap(other);
  }
  sort_runs(items, base, shift);
}

}  // namespace

Ordered order(std::span<const double> values) {
  if (values.size() > 0xFFFFFFFFu)
    throw Error(ErrorKind::bad_argument,
                "[diagnostics] x: expected fewer than 2^32 draws of one number, got " +
                    std::to_string(values.size()));
  std::vector<Item> items(values.size());
  for (size_t i = 0; i < values.size(); ++i) items[i] = {key_of(values[i]), static_cast<uint32_t>(i)};
  sort_items(items);
  Ordered sorted{std::vector<double>(values.size()), std::vector<uint32_t>(values.size())};
  for (size_t i = 0; i < items.size(); ++i) {
    sorted.values[i] = value_of(items[i].key);
    sorted.places[i] = items[i].place;
  }
  return sorted;
}

Ordered fold(const Ordered& sorted, double centre) {
  const size_t count = sorted.values.size();
  Ordered folded{std::vector<double>(count), std::vector<uint32_t>(count)};
  auto above = static_cast<size_t>(std::lower_bound(sorted.values.begin(), sorted.values.end(), centre) -
                                   sorted.values.begin());
  size_t below = above;  // one past the next one of the lower side
  for (size_t i = 0; i < count; ++i) {
    const double up = above < count ? sorted.values[above] - centre : HUGE_VAL;
    const double down = below > 0 ? centre - sorted.values[below - 1] : HUGE_VAL;
    const bool take_upper = below == 0 || (above < count && up <= down);
    folded.values[i] = take_upper ? up : down;
    folded.places[i] = sorted.places[take_upper ? above++ : --below];
  }
  return folded;
}

Ordered without_middles(const Ordered& sorted, int64_t length) {
  if (length % 2 == 0) return sorted;
  Ordered rest;
  rest.values.reserve(sorted.values.size());
  rest.places.reserve(sorted.values.size());
  for (size_t i = 0; i < sorted.values.size(); ++i) {
    if (sorted.places[i] % length == length / 2) continue;
    rest.values.push_back(sorted.values[i]);
    rest.places.push_back(sorted.places[i]);
  }
  return rest;
}

double sorted_quantile(std::span<const double> sorted, double p) {
  if (sorted.empty()) return not_a_number;
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = std::min(static_cast<size_t>(at), sorted.size() - 1);
  const double share = at - static_cast<double>(below);
  // Not above + (..): infinite neighbours that are the same stay what they are.
  if (share == 0 || sorted[below] == sorted[below + 1]) return sorted[below];
  return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

}  // namespace adit::diagnostics
