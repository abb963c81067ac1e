// Convolutions with few results of many steps, on a GPU, as gradients of kernels in groups of one channel
// are: a team has all results of a group, and its lanes share the steps.
#include <limits>
#include <optional>

#include "ops/conv.hpp"
#include "ops/cumulative_numbers.hpp"

namespace adit::ops {

namespace conv_steps {

using kernel::Access;
using kernel::Array;
using kernel::Builder;
using kernel::Team;
using kernel::Type;
using kernel::Value;

constexpr uint32_t lanes = 256;

class Writer {
 public:
  Writer(const ConvShape& conv, Type type, int64_t splits)
      : conv_(conv), type_(type), splits_(splits), k_("conv_steps", Team::many(lanes)) {
    index_type_ = conv.x_count() > std::numeric_limits<int32_t>::max() ? Type::u64 : Type::u32;
  }

  kernel::Program run() {
    x_ = k_.buffer("x", stored_as(type_), Access::read);
    w_ = k_.buffer("w", stored_as(type_), Access::read);
    const Array to = k_.buffer("sums", splits_ == 1 ? stored_as(type_) : added_up_as(type_), Access::write);
    const Value team = k_.team(), group = team % conv_.groups, split = team / conv_.groups;
    const int64_t share = (conv_.steps() + splits_ - 1) / splits_, count = results();
    const Value first = split * share, left = k_.constant(Type::u32, conv_.steps()) - first;
    const std::vector<kernel::Reduction> adds(static_cast<size_t>(count), kernel::Reduction::add);
    const std::vector<Value> sums =
        k_.reduce(min(left, share), adds, [&](Value i) { return products(group, first + i); });
    k_.once([&] {
      for (int64_t i = 0; i < count; ++i) {
        const Value sum = sums[static_cast<size_t>(i)];
        if (splits_ == 1)
          to[place(group, i)] = narrowed(sum, type_);
        else
          to[split * (conv_.groups * count) + place(group, i)] = sum;
      }
    });
    return k_.finish();
  }

 private:
  int64_t results() const { return conv_.results() / conv_.groups; }

  // Of [batch, filters, outputs], in a group: where the result lies.
  Value place(Value group, int64_t number) const {
    const int64_t output = number % conv_.outputs(), plane = number / conv_.outputs();
    const int64_t filter = plane % conv_.filters, image = plane / conv_.filters;
    return (group * conv_.filters + (image * conv_.groups * conv_.filters + filter)) * conv_.outputs() +
           output;
  }

  // What a step adds to each result.
  std::vector<Value> products(Value group, Value step) {
    const Value channel = step / conv_.windows(), window = step % conv_.windows();
    std::array<Value, 3> k{};
    k[2] = window % conv_.axes[2].window;
    const Value line = window / conv_.axes[2].window;
    k[1] = line % conv_.axes[1].window;
    k[0] = line / conv_.axes[1].window;
    std::vector<Value> w, all;
    for (int64_t filter = 0; filter < conv_.filters; ++filter)
      w.push_back(widened(w_.load(convert(group * conv_.filters + filter, index_type_) * conv_.steps() +
                                  convert(step, index_type_)),
                          type_));
    for (int64_t image = 0; image < conv_.batch; ++image) {
      std::vector<Value> x;
      for (int64_t output = 0; output < conv_.outputs(); ++output)
        x.push_back(x_at(image, group, channel, k, output));
      for (int64_t filter = 0; filter < conv_.filters; ++filter)
        for (const Value& one : x) all.push_back(one * w[static_cast<size_t>(filter)]);
    }
    return all;
  }

  Value x_at(int64_t image, Value group, Value channel, const std::array<Value, 3>& k, int64_t output) {
    std::optional<Value> inside;
    Value index = convert(group * conv_.channels + channel, index_type_);
    if (image > 0) index = index + image * conv_.groups * conv_.channels;
    for (size_t i = 0; i < 3; ++i) {
      const ConvAxis& axis = conv_.axes[i];
      int64_t inner = 1;
      for (size_t j = i + 1; j < 3; ++j) inner *= conv_.axes[j].output;
      const int64_t offset = output / inner % axis.output * axis.stride - axis.low;
      Value at = k[i] * axis.dilation;
      at = offset >= 0 ? at + offset : at - -offset;  // before the first: larger than any other
      if (axis.leaves_x()) {
        const Value condition = at <= axis.last();
        inside = inside ? *inside && condition : condition;
        at = min(at, axis.last());
      }
      if (axis.spread != 1) {
        const Value condition = at % axis.spread == 0;
        inside = inside ? *inside && condition : condition;
        at = at / axis.spread;
      }
      index = index * axis.input + convert(at, index_type_);
    }
    const Value x = widened(x_.load(index), type_);
    return inside ? select(*inside, x, 0) : x;
  }

  const ConvShape& conv_;
  const Type type_;
  const int64_t splits_;
  Builder k_;
  Type index_type_{};
  Array x_, w_;
};

}  // namespace conv_steps

bool has_few_results(const ConvShape& conv) {
  constexpr int64_t few_results = 64, many_steps = 1024;
  return conv.results() / conv.groups <= few_results && conv.steps() >= many_steps;
}

int64_t conv_steps_splits(const ConvShape& conv, const Limits& limits) {
  constexpr int64_t teams_each = 8, steps_each = 4;  // teams of a multiprocessor, steps of a lane
  const int64_t wanted = (teams_each * limits.multiprocessors + conv.groups - 1) / conv.groups;
  const int64_t most = std::max<int64_t>(1, conv.steps() / (conv_steps::lanes * steps_each));
  const int64_t count = std::clamp<int64_t>(wanted, 1, std::min<int64_t>(most, 256));
  const int64_t share = (conv.steps() + count - 1) / count;
  return (conv.steps() + share - 1) / share;  // no split without work
}

kernel::Program conv_steps_program(const ConvShape& conv, kernel::Type type, int64_t splits) {
  return conv_steps::Writer(conv, type, splits).run();
}

kernel::Program conv_steps_sum_program(const ConvShape& conv, kernel::Type type, int64_t splits) {
  Builder k("conv_steps_sum", kernel::Team::one(128));
  const kernel::Array from = k.buffer("sums", added_up_as(type), kernel::Access::read),
                      to = k.buffer("result", stored_as(type), kernel::Access::write);
  const kernel::Value at = k.team();
  kernel::Variable sum = k.variable(from.load(at));
  k.for_(at.like(1), at.like(splits), at.like(1),
         [&](kernel::Value split) { sum = sum.get() + from.load(at + split * conv.results()); });
  to[at] = narrowed(sum.get(), type);
  return k.finish();
}

}  // namespace adit::ops
