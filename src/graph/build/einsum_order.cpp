#include "graph/build/einsum_order.hpp"

#include <algorithm>
#include <limits>

namespace adit::graph {

namespace orders {

using Order = std::vector<std::pair<size_t, size_t>>;

constexpr size_t most_searched = 6;

// Multiplications of a product whose operands have these labels together. In floating point: the number may
// be beyond integers.
double cost_of(Labels labels, std::span<const int64_t> extents) {
  double cost = 1;
  for (; labels != 0; labels &= labels - 1)
    cost *= static_cast<double>(extents[static_cast<size_t>(std::countr_zero(labels))]);
  return cost;
}

// The best way to each subset of the operands, from the best ways to its two halves.
class Search {
 public:
  Search(std::span<const Labels> operands, Labels result, std::span<const int64_t> extents)
      : count_(operands.size()), costs_(size_t{1} << count_), halves_(costs_.size()), labels_(costs_.size()) {
    const size_t whole = costs_.size() - 1;
    for (size_t set = 1; set <= whole; ++set) {
      Labels inside = 0, outside = result;
      for (size_t i = 0; i < count_; ++i) (set >> i & 1 ? inside : outside) |= operands[i];
      labels_[set] = inside & outside;
      if (std::has_single_bit(set)) {
        labels_[set] = inside;
        continue;
      }
      costs_[set] = std::numeric_limits<double>::infinity();
      for (size_t half = (set - 1) & set; half > (set ^ half); half = (half - 1) & set) {
        const size_t other = set ^ half;
        const double cost = costs_[half] + costs_[other] + cost_of(labels_[half] | labels_[other], extents);
        if (cost < costs_[set] || halves_[set] == 0) costs_[set] = cost, halves_[set] = half;
      }
    }
  }

  Order order() {
    std::vector<size_t> list;
    for (size_t i = 0; i < count_; ++i) list.push_back(size_t{1} << i);
    Order pairs;
    visit((size_t{1} << count_) - 1, list, pairs);
    return pairs;
  }

 private:
  void visit(size_t set, std::vector<size_t>& list, Order& pairs) {
    if (std::has_single_bit(set)) return;
    visit(halves_[set], list, pairs);
    visit(set ^ halves_[set], list, pairs);
    const auto place = [&](size_t part) {
      return static_cast<size_t>(std::find(list.begin(), list.end(), part) - list.begin());
    };
    const size_t one = place(halves_[set]), two = place(set ^ halves_[set]);
    const size_t low = std::min(one, two), high = std::max(one, two);
    pairs.emplace_back(low, high);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(high));
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(low));
    list.push_back(set);
  }

  size_t count_;
  std::vector<double> costs_;
  std::vector<size_t> halves_;
  std::vector<Labels> labels_;
};

// The cheapest pair first; of equal ones that with the smaller result.
Order greedy(std::vector<Labels> list, Labels result, std::span<const int64_t> extents) {
  Order pairs;
  while (list.size() > 1) {
    std::pair<size_t, size_t> best{0, 1};
    std::pair<double, double> least{std::numeric_limits<double>::infinity(), 0};
    Labels made = 0;
    for (size_t i = 0; i < list.size(); ++i)
      for (size_t j = i + 1; j < list.size(); ++j) {
        Labels outside = result;
        for (size_t k = 0; k < list.size(); ++k)
          if (k != i && k != j) outside |= list[k];
        const Labels both = list[i] | list[j], kept = both & outside;
        const std::pair<double, double> cost{cost_of(both, extents), cost_of(kept, extents)};
        if (cost < least || (i == 0 && j == 1)) least = cost, best = {i, j}, made = kept;
      }
    pairs.push_back(best);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(best.second));
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(best.first));
    list.push_back(made);
  }
  return pairs;
}

}  // namespace orders

std::vector<std::pair<size_t, size_t>> contraction_order(std::span<const Labels> operands, Labels result,
                                                         std::span<const int64_t> extents) {
  if (operands.size() < 2) return {};
  if (operands.size() <= orders::most_searched) return orders::Search(operands, result, extents).order();
  return orders::greedy({operands.begin(), operands.end()}, result, extents);
}

}  // namespace adit::graph
