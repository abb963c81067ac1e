// Convolutions without a matrix product: where a group has few channels and filters there is nothing to
// share.
#include <limits>
#include <optional>

#include "ops/conv.hpp"
#include "ops/cumulative_numbers.hpp"
#include "ops/number.hpp"

namespace adit::ops {

namespace conv_direct {

using kernel::Access;
using kernel::Array;
using kernel::Builder;
using kernel::Team;
using kernel::Type;
using kernel::Value;
using kernel::Variable;

constexpr int64_t most_unrolled = 32;

class Direct {
 public:
  Direct(const ConvShape& conv, DType type, bool rows)
      : conv_(conv),
        complex_(is_complex(type)),
        rows_(rows),
        type_(storage_type(type)),
        k_("conv_direct", rows ? Team::many(1) : Team::one(128)) {
    const int64_t numbers = std::max(conv.x_count(), conv.results()) * (complex_ ? 2 : 1);
    index_type_ = numbers > std::numeric_limits<int32_t>::max() ? Type::u64 : Type::u32;
  }

  kernel::Program run() {
    x_ = k_.buffer("x", stored_as(type_), Access::read);
    w_ = k_.buffer("w", stored_as(type_), Access::read);
    result_ = k_.buffer("result", stored_as(type_), Access::write);
    const int64_t columns = conv_.axes[2].output;
    const Value number = k_.team(index_type_);
    const int64_t lines = conv_.axes[0].output * conv_.axes[1].output;
    if (rows_ && is_flat())
      flat(number);
    else if (rows_)
      k_.for_(number.like(0), number.like(lines), number.like(1), [&](Value line) {
        k_.each(k_.constant(Type::u32, columns),
                [&](Value column) { one(number, line, convert(column, index_type_)); });
      });
    else
      one(number / (columns * lines), number / columns % lines, number % columns);
    return k_.finish();
  }

 private:
  // Where windows touch, and x is as long as they reach, the places of results in x follow each other but for
  // the ends of lines: lanes go through them all side by side, and leave out what lies there.
  bool is_flat() const {
    const ConvAxis &lines = conv_.axes[1], &columns = conv_.axes[2];
    return lines.stride == 1 && columns.stride == 1 && columns.input < 4 * columns.output &&
           !columns.leaves_x() && !lines.leaves_x() && columns.spread == 1 && lines.spread == 1;
  }

  void flat(Value planes) {
    const ConvAxis &lines = conv_.axes[1], &columns = conv_.axes[2];
    const int64_t places = (lines.output - 1) * columns.input + columns.output;
    k_.for_(planes.like(0), planes.like(conv_.axes[0].output), planes.like(1), [&](Value depth) {
      k_.each(k_.constant(Type::u32, places), [&](Value place) {
        const Value at = convert(place, index_type_), column = at % columns.input, line = at / columns.input;
        const Number sum = sum_at(planes, {depth, planes.like(0), at});
        const auto store = [&] {
          const Value row = (planes * conv_.axes[0].output + depth) * lines.output + line;
          store_number(result_, row * columns.output + column, sum, complex_);
        };
        if (columns.input == columns.output)
          store();
        else
          k_.if_(column < column.like(columns.output), store);
      });
    });
  }

  // The result at a plane (image, group, filter), a line (places along the first two axes) and a column.
  void one(Value planes, Value line, Value column) {
    const auto [at0, at1] = parted(line, conv_.axes[1].output);
    const Number sum = sum_at(planes, {at0, at1, column});
    const int64_t lines = conv_.axes[0].output * conv_.axes[1].output;
    store_number(result_, (planes * lines + line) * conv_.axes[2].output + column, sum, complex_);
  }

  static std::pair<Value, Value> parted(Value number, int64_t extent) {
    return extent == 1 ? std::pair(number, number.like(0)) : std::pair(number / extent, number % extent);
  }

  Number sum_at(Value planes, const std::array<Value, 3>& at) {
    const auto [groups, filter] = parted(planes, conv_.filters);
    const auto [image, group] = parted(groups, conv_.groups);
    for (size_t i = 0; i < 3; ++i) {
      const ConvAxis& axis = conv_.axes[i];
      Value first = axis.stride == 1 ? at[i] : at[i] * axis.stride;
      first_[i] = axis.low >= 0 ? first - axis.low : first + -axis.low;
    }
    const Value plane = (image * conv_.groups + group) * conv_.channels,
                weights = (group * conv_.filters + filter) * conv_.steps();
    const Type added = added_up_as(type_);
    const Value zero = k_.constant(added, 0);
    Number sum{zero, zero};
    if (conv_.channels == 1 && conv_.windows() <= most_unrolled) {
      sum = over_window(plane, weights, sum);
    } else {
      const Variable re = k_.variable(zero), im = complex_ ? k_.variable(zero) : re;
      const auto add = [&](const std::function<Number(Number)>& more) {
        const Number now = more({re.get(), im.get()});
        re = now.re;
        if (complex_) im = now.im;
      };
      k_.for_(plane.like(0), plane.like(conv_.channels), plane.like(1), [&](Value channel) {
        const Value own = weights + channel * conv_.windows();
        if (conv_.windows() <= most_unrolled) {
          add([&](Number s) { return over_window(plane + channel, own, s); });
          return;
        }
        k_.for_(plane.like(0), plane.like(conv_.windows()), plane.like(1), [&](Value window) {
          add([&](Number s) { return with(plane + channel, own + window, places(window), s); });
        });
      });
      sum = {re.get(), im.get()};
    }
    if (!complex_) sum.re = narrowed(sum.re, type_);
    return sum;
  }

  Number over_window(Value plane, Value weights, Number sum) {
    for (int64_t window = 0; window < conv_.windows(); ++window)
      sum = with(plane, weights + window, places(plane.like(window)), sum);
    return sum;
  }

  std::array<Value, 3> places(Value window) const {
    std::array<Value, 3> k{};
    k[2] = window % conv_.axes[2].window;
    const Value left = window / conv_.axes[2].window;
    k[1] = left % conv_.axes[1].window;
    k[0] = left / conv_.axes[1].window;
    for (size_t i = 0; i < 3; ++i) k[i] = first_[i] + k[i] * conv_.axes[i].dilation;
    return k;
  }

  Number with(Value plane, Value weight, const std::array<Value, 3>& at, Number sum) {
    std::optional<Value> inside;
    const auto require = [&](Value condition) { inside = inside ? *inside && condition : condition; };
    Value index = plane;
    for (size_t i = 0; i < 3; ++i) {
      const ConvAxis& axis = conv_.axes[i];
      Value place = at[i];
      if (axis.leaves_x()) {
        require(place <= axis.last());
        place = min(place, axis.last());
      }
      if (axis.spread != 1) {
        require(place % axis.spread == 0);
        place = place / axis.spread;
      }
      if (axis.input == 1) continue;
      index = index * axis.input + place;
    }
    Number x = load_number(x_, index, complex_), w = load_number(w_, weight, complex_);
    if (!complex_) x.re = widened(x.re, type_), w.re = widened(w.re, type_);
    if (inside) {
      x.re = select(*inside, x.re, 0);
      if (complex_) x.im = select(*inside, x.im, 0);
    }
    const auto add = [](Value a, Value b, Value c) {
      return kernel::is_float(a.type()) ? fma(a, b, c) : a * b + c;
    };
    if (!complex_) return {add(x.re, w.re, sum.re), sum.im};
    return {add(-x.im, w.im, add(x.re, w.re, sum.re)), add(x.im, w.re, add(x.re, w.im, sum.im))};
  }

  const ConvShape& conv_;
  const bool complex_, rows_;
  const Type type_;
  Builder k_;
  Type index_type_{};
  Array x_, w_, result_;
  std::array<Value, 3> first_{};
};

}  // namespace conv_direct

kernel::Program direct_conv_program(const ConvShape& conv, DType type, bool rows) {
  return conv_direct::Direct(conv, type, rows).run();
}

}  // namespace adit::ops
