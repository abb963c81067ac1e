#include "ops/trailing.hpp"

#include <vector>

#include "ops/factor_writer.hpp"

namespace adit::ops {

using namespace kernel;

namespace trailing {
namespace {

constexpr uint32_t tile = 4;  // an invocation holds so many rows and columns in registers

class Update {
 public:
  explicit Update(const TrailingPlan& plan) : plan_(plan), k_("trailing", Team::one()) {
    const Array memory = k_.buffer("a", plan.type, Access::read_write);
    end_ = k_.scalar("end", Type::u32);
    const Value left = k_.constant(Type::u32, plan.n) - end_, tiles = (left + (tile - 1)) / tile;
    const Value team = k_.team(Type::u64), wide = convert(tiles, Type::u64), in_matrix = wide * wide;
    const Value which = team / in_matrix, place = team % in_matrix;
    row_ = end_ + convert(place / wide, Type::u32) * tile;
    column_ = end_ + convert(place % wide, Type::u32) * tile;
    a_ = {memory, which * (uint64_t{plan.n} * plan.n), plan.n, plan.complex};
  }

  Program build() {
    if (plan_.hermitian)
      k_.if_(column_ < row_ + tile, [&] { write(); });
    else
      write();
    return k_.finish();
  }

 private:
  Value last() { return k_.constant(Type::u32, plan_.n - 1); }
  Value inside(Value first, uint32_t i) { return min(first + i, last()); }

  // What reaches beyond the matrix computes again what is there, and does not store it.
  void write() {
    std::vector<NumberSum> sums;
    for (uint32_t i = 0; i < tile; ++i)
      for (uint32_t j = 0; j < tile; ++j)
        sums.emplace_back(k_, a_.get(inside(row_, i), inside(column_, j)), plan_.complex);
    const Value start = end_ - plan_.columns;
    k_.for_(start, end_, end_.like(1), [&](Value p) {
      std::vector<Number> l, u;
      for (uint32_t i = 0; i < tile; ++i) l.push_back(a_.get(inside(row_, i), p));
      for (uint32_t j = 0; j < tile; ++j)
        u.push_back(plan_.hermitian ? conjugated(a_.get(inside(column_, j), p), plan_.complex)
                                    : a_.get(p, inside(column_, j)));
      for (uint32_t i = 0; i < tile; ++i)
        for (uint32_t j = 0; j < tile; ++j) sums[i * tile + j].subtract(l[i], u[j]);
    });
    for (uint32_t i = 0; i < tile; ++i)
      for (uint32_t j = 0; j < tile; ++j)
        k_.if_(row_ + i <= last() && column_ + j <= last(),
               [&] { a_.put(row_ + i, column_ + j, sums[i * tile + j].get()); });
  }

  const TrailingPlan& plan_;
  Builder k_;
  Value end_, row_, column_;
  MatrixView a_;
};

}  // namespace
}  // namespace trailing

Program trailing_program(const TrailingPlan& plan) { return trailing::Update(plan).build(); }

uint64_t trailing_teams(uint32_t left, uint64_t batch) {
  const uint64_t tiles = (left + trailing::tile - 1) / trailing::tile;
  return batch * tiles * tiles;
}

}  // namespace adit::ops
