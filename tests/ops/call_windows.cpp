// Windows and convolutions by name.
#include <fmt/format.h>

#include <adit/windows.hpp>

#include "ops/call.hpp"

namespace adit::ops {

namespace call_windows {

using Operands = std::vector<Tensor>;

const Tensor& operand(const Operands& x, size_t i) {
  if (i >= x.size())
    throw Error(ErrorKind::bad_argument,
                fmt::format("[call] operands: expected at least {}, got {}", i + 1, x.size()));
  return x[i];
}

Dims numbers(const Json& a, const char* name) {
  return a.contains(name) ? Dims(a.at(name).get<std::vector<int64_t>>()) : Dims();
}

// [[low, high], ...]; a third number is what stands between elements.
std::vector<Padding> padding(const Json& a) {
  std::vector<Padding> all;
  if (!a.contains("padding")) return all;
  for (const Json& one : a.at("padding"))
    all.push_back(
        {one.at(0).get<int64_t>(), one.at(1).get<int64_t>(), one.size() > 2 ? one.at(2).get<int64_t>() : 0});
  return all;
}

WindowOptions options(const Json& a) {
  return {numbers(a, "strides"), padding(a), numbers(a, "dilations"), a.value("same", false)};
}

template <Tensor (*f)(const Tensor&, const Dims&, const WindowOptions&)>
Tensor over(const Operands& x, const Json& a) {
  return f(operand(x, 0), numbers(a, "window"), options(a));
}

template <Tensor (*f)(const Tensor&, const Tensor&, const Tensor&, const Dims&, const WindowOptions&)>
Tensor scatter(const Operands& x, const Json& a) {
  return f(operand(x, 0), operand(x, 1), operand(x, 2), numbers(a, "window"), options(a));
}

Tensor show(const Operands& x, const Json& a) {
  return windows(operand(x, 0), operand(x, 1), numbers(a, "window"), options(a));
}

Tensor average(const Operands& x, const Json& a) {
  return average_pool(operand(x, 0), numbers(a, "window"), options(a), a.value("count_padding", true));
}

Tensor fold(const Operands& x, const Json& a) {
  const bool adds = a.value("combine", "horner") == "add";
  const auto combine = [adds](Tensor s, Tensor e) { return adds ? s + e : s * 3 - e; };
  return window_reduce(operand(x, 0), operand(x, 1), numbers(a, "window"), combine, options(a));
}

Tensor convolve(const Operands& x, const Json& a) {
  ConvOptions o;
  o.strides = numbers(a, "strides");
  o.padding = padding(a);
  o.same = a.value("same", false);
  o.input_dilation = numbers(a, "input_dilation");
  o.kernel_dilation = numbers(a, "kernel_dilation");
  o.feature_groups = a.value("feature_groups", int64_t{1});
  o.batch_groups = a.value("batch_groups", int64_t{1});
  o.input_permutation = numbers(a, "input_permutation");
  o.kernel_permutation = numbers(a, "kernel_permutation");
  o.output_permutation = numbers(a, "output_permutation");
  return conv(operand(x, 0), operand(x, 1), o);
}

}  // namespace call_windows

std::map<std::string, Caller, std::less<>> window_callers() {
  using namespace call_windows;
  return {{"windows", show},
          {"window_sum", over<window_sum>},
          {"window_product", over<window_product>},
          {"window_max", over<window_max>},
          {"window_min", over<window_min>},
          {"window_mean", over<window_mean>},
          {"window_reduce", fold},
          {"window_scatter_max", scatter<window_scatter_max>},
          {"window_scatter_min", scatter<window_scatter_min>},
          {"max_pool", over<max_pool>},
          {"average_pool", average},
          {"conv", convolve}};
}

}  // namespace adit::ops
