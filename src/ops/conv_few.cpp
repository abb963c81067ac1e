// Convolutions with few filters a group, on a GPU: an invocation has all filters of its group at some
// neighbouring results, so that what it reads of x serves several products. Tiles of a matrix product would
// be empty for the most part.
#include <limits>
#include <map>

#include "ops/conv.hpp"
#include "ops/cumulative_numbers.hpp"

namespace adit::ops {

namespace conv_few {

using kernel::Access;
using kernel::Array;
using kernel::Builder;
using kernel::Team;
using kernel::Type;
using kernel::Value;
using kernel::Variable;

constexpr int64_t most_unrolled = 16;  // elements of a window's line that are written out

class Writer {
 public:
  Writer(const ConvShape& conv, Type type, int64_t together)
      : conv_(conv), type_(type), together_(together), k_("conv_few", Team::one(128)) {
    const int64_t numbers = std::max({conv.x_count(), conv.results(), few_conv_teams(conv, together)});
    index_type_ = numbers > std::numeric_limits<int32_t>::max() ? Type::u64 : Type::u32;
  }

  kernel::Program run() {
    x_ = k_.buffer("x", stored_as(type_), Access::read);
    w_ = k_.buffer("w", stored_as(type_), Access::read);
    result_ = k_.buffer("result", stored_as(type_), Access::write);
    find_place();
    for (int64_t i = 0; i < conv_.filters * together_; ++i)
      sums_.push_back(k_.variable(k_.constant(added_up_as(type_), 0)));
    add_up();
    store();
    return k_.finish();
  }

 private:
  const ConvAxis& line() const { return conv_.axes[2]; }

  void find_place() {
    const int64_t pieces = (line().output + together_ - 1) / together_;
    Value number = k_.team(index_type_);
    column_ = number % pieces * together_;
    number = number / pieces;
    at_[1] = number % conv_.axes[1].output;
    number = number / conv_.axes[1].output;
    at_[0] = number % conv_.axes[0].output;
    number = number / conv_.axes[0].output;
    group_ = number % conv_.groups;
    image_ = number / conv_.groups;
  }

  // Places count from zero on: those before the first wrap, and are larger than any other.
  static Value moved_back(Value place, int64_t low) { return low >= 0 ? place - low : place + -low; }

  void add_up() {
    const Value plane = (image_ * conv_.groups + group_) * conv_.channels;
    const Value weights = group_ * (conv_.filters * conv_.steps());
    const Value zero = plane.like(0), one = plane.like(1);
    k_.for_(zero, plane.like(conv_.channels), one,
            [&](Value channel) { over_window(0, plane + channel, weights + channel * conv_.windows()); });
  }

  // Axis by axis; the last is written out where it is short.
  void over_window(size_t axis, Value lines, Value weights) {
    const ConvAxis& a = conv_.axes[axis];
    if (axis == 2) {
      if (a.window <= most_unrolled)
        add_line(lines, weights, lines.like(0), a.window);
      else
        k_.for_(lines.like(0), lines.like(a.window), lines.like(1),
                [&](Value k) { add_line(lines, weights + k, k * a.dilation, 1); });
      return;
    }
    const Value first = moved_back(at_[axis] * a.stride, a.low);
    const auto body = [&](Value k) {
      const Value place = first + k * a.dilation;
      const auto inside = [&] {
        over_window(axis + 1, lines * a.input + place, weights + k * inner_windows(axis));
      };
      if (a.leaves_x())
        k_.if_(place <= a.last(), inside);
      else
        inside();
    };
    if (a.window == 1)
      body(lines.like(0));
    else
      k_.for_(lines.like(0), lines.like(a.window), lines.like(1), body);
  }

  int64_t inner_windows(size_t axis) const {
    int64_t count = 1;
    for (size_t i = axis + 1; i < 3; ++i) count *= conv_.axes[i].window;
    return count;
  }

  // `count` elements of a window's line, from `moved` on.
  void add_line(Value line_of_x, Value weights, Value moved, int64_t count) {
    const Value start = line_of_x * line().input,
                first = moved_back(column_ * line().stride, line().low) + moved;
    std::map<int64_t, Value> known;
    const auto x_at = [&](int64_t offset) {
      const auto found = known.find(offset);
      if (found != known.end()) return found->second;
      Value place = first + offset;
      const bool guarded = line().leaves_x() || line().output % together_ != 0;
      const Value inside = place <= line().last();
      if (guarded) place = min(place, line().last());
      Value x = widened(x_.load(start + place), type_);
      if (guarded) x = select(inside, x, 0);
      return known.emplace(offset, x).first->second;
    };
    std::vector<Value> sums;
    for (const Variable& sum : sums_) sums.push_back(sum.get());
    for (int64_t k = 0; k < count; ++k)
      for (int64_t filter = 0; filter < conv_.filters; ++filter) {
        const Value w = widened(w_.load(weights + (filter * conv_.steps() + k)), type_);
        for (int64_t i = 0; i < together_; ++i) {
          Value& sum = sums[static_cast<size_t>(filter * together_ + i)];
          const Value x = x_at(i * line().stride + k * line().dilation);
          sum = kernel::is_float(sum.type()) ? fma(x, w, sum) : x * w + sum;
        }
      }
    for (size_t i = 0; i < sums.size(); ++i) sums_[i] = sums[i];
  }

  void store() {
    const int64_t lines = conv_.axes[0].output * conv_.axes[1].output;
    for (int64_t filter = 0; filter < conv_.filters; ++filter) {
      const Value plane = (image_ * conv_.groups + group_) * conv_.filters + filter;
      const Value start = (plane * lines + at_[0] * conv_.axes[1].output + at_[1]) * line().output + column_;
      for (int64_t i = 0; i < together_; ++i) {
        const auto put = [&] {
          result_[start + i] = narrowed(sums_[static_cast<size_t>(filter * together_ + i)].get(), type_);
        };
        if (line().output % together_ == 0)
          put();
        else
          k_.if_(column_ + i < line().output, put);
      }
    }
  }

  const ConvShape& conv_;
  const Type type_;
  const int64_t together_;  // results side by side that an invocation has
  Builder k_;
  Type index_type_{};
  Array x_, w_, result_;
  Value image_, group_, column_;
  std::array<Value, 2> at_{};
  std::vector<Variable> sums_;
};

}  // namespace conv_few

int64_t few_conv_teams(const ConvShape& conv, int64_t together) {
  const ConvAxis& line = conv.axes[2];
  return conv.batch * conv.groups * conv.axes[0].output * conv.axes[1].output *
         ((line.output + together - 1) / together);
}

kernel::Program few_conv_program(const ConvShape& conv, kernel::Type type, int64_t together) {
  return conv_few::Writer(conv, type, together).run();
}

}  // namespace adit::ops
