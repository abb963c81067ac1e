// How a chain lies on a device, so that the sampler is written once: alone in a lane (of a GPU's subgroup, or
// of a CPU's vector), or spread over the lanes of a team.
#pragma once

#include <functional>
#include <vector>

#include <adit/kernel/builder.hpp>

namespace adit::sampling {

using kernel::Array;
using kernel::Builder;
using kernel::Type;
using kernel::Value;
using kernel::Variable;

class Chain {
 public:
  // Loops up to `written_out` steps are written out where a chain is alone in its lane: numbers then stay in
  // a GPU's registers. A CPU has few, and code that is short compiles sooner.
  // `lanes`: of a team whose loops are shared out by hand, which saves the barriers between them; 0: not by
  // hand.
  // `in_vectors`: chains lie in the lanes of a CPU's vectors.
  Chain(Builder& k, bool by_team, Type real, int64_t written_out, bool in_vectors, uint32_t lanes = 0)
      : k_(k),
        by_team_(by_team),
        real_(real),
        written_out_(written_out),
        in_vectors_(in_vectors),
        lanes_(lanes) {}
  Builder& builder() { return k_; }
  bool by_team() const { return by_team_; }
  Type real() const { return real_; }
  Value number(double value) { return k_.constant(real_, value); }
  Value index(int64_t value) { return k_.constant(Type::u32, value); }
  // The last of so many; where there is none, and nobody asks, 0.
  Value last_of(int64_t count) { return index(count > 0 ? count - 1 : 0); }

  // f(i) for i < n: written out, a loop, or shared by the lanes. A later loop may read at i what this one
  // wrote at i; what it wrote elsewhere may be read after `sync`.
  void each(int64_t n, const std::function<void(Value)>& f);
  void sync();
  // Sums over i < n of the `count` numbers that f yields, in a fixed order; then what `after` does, as `each`
  // does it. Both are one loop where a chain is alone.
  std::vector<Value> sums(int64_t n, size_t count, const std::function<std::vector<Value>(Value)>& f,
                          const std::function<void(Value)>& after = {});
  Value sum(int64_t n, const std::function<Value(Value)>& f) {
    return sums(n, 1, [&](Value i) { return std::vector{f(i)}; })[0];
  }
  // f(step) for steps from `first` on while `goes(step)`, then `rest` of the first that does not, which comes
  // before `end` where it matters. Lanes of a vector take steps together, so that what they reach for lies
  // side by side.
  void climb(Value first, int64_t end, const std::function<Value(Value)>& goes,
             const std::function<void(Value)>& f, const std::function<void(Value)>& rest);
  // One lane of a team does it; what it writes the others may read afterwards.
  void once(const std::function<void()>& f);

  int64_t written_out() const { return written_out_; }

 private:
  Builder& k_;
  const bool by_team_;
  const Type real_;
  const int64_t written_out_;
  const bool in_vectors_;
  const uint32_t lanes_;
};

// Numbers of a chain: in registers (places known while the kernel is written), or in memory from `base` on.
// In memory of f32 numbers may be f64 (`wide`): the lower halves of their bits first, then the upper ones, so
// that lanes side by side read side by side.
class Vector {
 public:
  Vector() = default;
  explicit Vector(std::vector<Variable> cells) : cells_(std::move(cells)) {}
  Vector(Array array, Value base) : array_(array), base_(base) {}
  Value get(Value i) const;
  void set(Value i, Value value) const;
  bool in_registers() const { return !cells_.empty(); }
  // The numbers from `offset` on; memory only.
  Vector from(Value offset) const;
  Vector from(int64_t offset) const { return from(base_.like(offset)); }
  // The same memory as `count` numbers of f64, in twice as many of f32.
  Vector wide(int64_t count) const;

 private:
  std::vector<Variable> cells_;
  Array array_;
  Value base_;
  int64_t halves_ = 0;  // wide: how far apart they lie
};

}  // namespace adit::sampling
