// The order of a product of many tensors: none is cheaper up to six, and of more the pairs make sense.
#include "graph/build/einsum_order.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace adit::test {
namespace {

using graph::contraction_order;
using graph::Labels;
using Pairs = std::vector<std::pair<size_t, size_t>>;

struct Product {
  std::vector<Labels> operands;
  Labels result = 0;
  std::vector<int64_t> extents;
};

double size_of(Labels labels, const Product& product) {
  double size = 1;
  for (size_t label = 0; label < product.extents.size(); ++label)
    if (labels >> label & 1) size *= static_cast<double>(product.extents[label]);
  return size;
}

// Takes a pair out of the list and puts its product at the end; gives what that costs.
double step(std::vector<Labels>& list, size_t i, size_t j, const Product& product) {
  const Labels both = list[i] | list[j];
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(j));
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
  Labels outside = product.result;
  for (const Labels other : list) outside |= other;
  list.push_back(both & outside);
  return size_of(both, product);
}

double cost_of(const Product& product, const Pairs& pairs) {
  std::vector<Labels> list = product.operands;
  double cost = 0;
  for (const auto& [i, j] : pairs) {
    EXPECT_LT(i, j);
    EXPECT_LT(j, list.size());
    if (j >= list.size()) return -1;
    cost += step(list, i, j, product);
  }
  EXPECT_EQ(list.size(), 1u);
  if (!pairs.empty()) {
    EXPECT_EQ(list[0] & ~product.result, 0u);
  }
  return cost;
}

// Every order there is.
double least_cost(const std::vector<Labels>& list, const Product& product) {
  if (list.size() == 1) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < list.size(); ++i)
    for (size_t j = i + 1; j < list.size(); ++j) {
      std::vector<Labels> rest = list;
      const double cost = step(rest, i, j, product);
      least = std::min(least, cost + least_cost(rest, product));
    }
  return least;
}

Product random_product(size_t count, std::mt19937_64& generator) {
  const auto below = [&](uint64_t n) { return generator() % n; };
  Product product;
  const size_t labels = 3 + below(5);
  for (size_t label = 0; label < labels; ++label)
    product.extents.push_back(static_cast<int64_t>(below(8) == 0 ? below(2) : 1 + below(40)));
  Labels all = 0;
  for (size_t i = 0; i < count; ++i) {
    Labels own = 0;
    for (size_t k = below(4); k > 0; --k) own |= Labels{1} << below(labels);
    product.operands.push_back(own);
    all |= own;
  }
  product.result = all & generator();
  return product;
}

TEST(EinsumOrder, NoneIsCheaperUpToSix) {
  std::mt19937_64 generator(5);
  for (int round = 0; round < 200; ++round) {
    const Product product = random_product(1 + static_cast<size_t>(round) % 6, generator);
    const Pairs pairs = contraction_order(product.operands, product.result, product.extents);
    EXPECT_EQ(cost_of(product, pairs), least_cost(product.operands, product)) << round;
  }
}

TEST(EinsumOrder, ManyOperandsAreJoinedPairByPair) {
  std::mt19937_64 generator(6);
  for (int round = 0; round < 100; ++round) {
    const Product product = random_product(7 + static_cast<size_t>(round) % 10, generator);
    const Pairs pairs = contraction_order(product.operands, product.result, product.extents);
    EXPECT_GE(cost_of(product, pairs), 0) << round;
  }
}

// A chain of matrices that ends in a vector: from the vector on, each product is one of a matrix and a
// vector.
TEST(EinsumOrder, AChainBeginsAtItsVector) {
  for (const size_t count : {3, 6, 9}) {
    Product chain;
    chain.extents.assign(count, 100);
    for (size_t i = 0; i + 1 < count; ++i) chain.operands.push_back(Labels{3} << i);
    chain.operands.push_back(Labels{1} << (count - 1));
    chain.result = 1;
    const Pairs pairs = contraction_order(chain.operands, chain.result, chain.extents);
    EXPECT_EQ(cost_of(chain, pairs), 10000.0 * static_cast<double>(count - 1));
  }
}

}  // namespace
}  // namespace adit::test
