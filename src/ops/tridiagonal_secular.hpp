// The roots of 1 + sum z_i^2 / (d_i - x), one after each d, and the vectors of d + z z^T that belong to them:
// what a group of lanes has to do with one of them. Numbers are of 64 bits. A d whose z is zero takes no
// part: it is its own root.
#pragma once

#include <functional>

#include <adit/kernel/builder.hpp>
#include <adit/kernel/math.hpp>

namespace adit::ops::tridiagonal {

class Secular {
 public:
  // Which of `count` numbers this group's is, and which of the group's lanes this is; a group is a subgroup
  // or a part of one. `at`: where number i is, in all arrays; `type`: what the vectors will be.
  Secular(kernel::Builder& k, kernel::Type type, kernel::Value count, uint32_t group, uint32_t subgroup,
          kernel::Value mine, kernel::Value inside, std::function<kernel::Value(kernel::Value)> at);

  kernel::Value count() const { return count_; }
  // f(i) for each of the numbers, of which every lane takes some.
  void all(const std::function<void(kernel::Value)>& f) const;
  kernel::Value over_group(kernel::Reduction op, kernel::Value x) const;

  // d in order, and apart where they take part, z in that order, and the next d that takes part, if there is
  // one.
  kernel::Array poles, weights, after;
  // The root after this group's d: the d that is nearer to it, how far it is from that, and itself.
  struct Root {
    kernel::Value near, offset, value;
  };
  Root root();

  kernel::Array near, offsets;  // of all roots
  // The z, in place of this group's, of which the roots are the roots.
  kernel::Value exact() const;

  kernel::Array exacts;
  // The vector of this group's root: what number i of it is multiplied by to be of length 1, and that number.
  struct Vector {
    kernel::Value by;
    std::function<kernel::Value(kernel::Value)> part;
  };
  Vector vector() const;

 private:
  kernel::Value word(uint32_t number) const { return k_.constant(kernel::Type::u32, number); }
  kernel::Value real(double number) const { return k_.constant(kernel::Type::f64, number); }
  kernel::Value sum(kernel::Value x) const { return over_group(kernel::Reduction::add, x); }
  void measure(kernel::Value offset);
  kernel::Value search(kernel::Value most, kernel::Value measured);
  kernel::Value correction(kernel::Value offset) const;

  kernel::Builder& k_;
  double enough_;
  uint32_t group_, subgroup_;
  kernel::Value count_, mine_, inside_;
  std::function<kernel::Value(kernel::Value)> at_;
  kernel::Value takes_part_, is_last_, origin_, sign_, left_, right_, value_, noise_, low_slope_, high_slope_;
};

}  // namespace adit::ops::tridiagonal
