// Transformations of functions of tensors: grad, vjp, jvp, vmap, jit. They nest.
//
//   auto slope = grad([](Tensor x) { return sum(sin(x)); });
//   slope(x);                              // cos(x)
//   vmap(slope)(rows);                     // for each row
//   hessian([](Tensor x) { ... })(x);      // jvp of grad, over all directions
//
// Functions take one to six Tensors, or a list of them, and give a Tensor or a list. They are called while
// the transformation is applied; tensors that they capture are constants to it.
#pragma once

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <adit/control.hpp>
#include <adit/explain.hpp>
#include <adit/tensor.hpp>

#pragma GCC visibility push(default)
namespace adit {

using Function = std::function<Tensors(const Tensors&)>;

namespace detail {

template <class F, size_t... I>
auto call_with(const F& f, const Tensors& x, std::index_sequence<I...>) {
  return f(x[I]...);
}
inline Tensors as_list(Tensor t) { return {std::move(t)}; }
inline Tensors as_list(Tensors t) { return t; }
// How many Tensors a callable takes; -1 for one list of them.
template <class F>
constexpr int arity_of() {
  if constexpr (std::is_invocable_v<F, const Tensors&>)
    return -1;
  else if constexpr (std::is_invocable_v<F, Tensor>)
    return 1;
  else if constexpr (std::is_invocable_v<F, Tensor, Tensor>)
    return 2;
  else if constexpr (std::is_invocable_v<F, Tensor, Tensor, Tensor>)
    return 3;
  else if constexpr (std::is_invocable_v<F, Tensor, Tensor, Tensor, Tensor>)
    return 4;
  else if constexpr (std::is_invocable_v<F, Tensor, Tensor, Tensor, Tensor, Tensor>)
    return 5;
  else if constexpr (std::is_invocable_v<F, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>)
    return 6;
  else
    static_assert(sizeof(F) == 0, "expected a function of one to six Tensors, or of a list of them");
}
// A null pointer or an empty std::function.
template <class F>
bool is_none(const F& f) {
  if constexpr (std::is_pointer_v<F>)
    return f == nullptr;
  else if constexpr (requires { f.operator bool(); })
    return !f;
  else
    return false;
}
// Both throw, naming the transformation.
void expect_function(const char* op, bool is_there);
void check_arguments(const char* op, size_t expected, size_t got);
// Any callable as a function from a list to a list, for the transformation `op`.
template <class F>
Function as_function(const char* op, F f) {
  expect_function(op, !is_none(f));
  constexpr int arity = arity_of<F>();
  if constexpr (arity == -1)
    return [f](const Tensors& x) { return as_list(f(x)); };
  else
    return [op, f](const Tensors& x) {
      check_arguments(op, static_cast<size_t>(arity), x.size());
      return as_list(call_with(f, x, std::make_index_sequence<static_cast<size_t>(arity)>{}));
    };
}
// Whether a callable gives one Tensor (else a list).
template <class F, size_t... I>
constexpr bool gives_tensor(std::index_sequence<I...>) {
  return std::is_same_v<std::invoke_result_t<F, decltype(I, std::declval<Tensor>())...>, Tensor>;
}
template <class F>
constexpr bool gives_tensor() {
  constexpr int arity = arity_of<F>();
  if constexpr (arity == -1)
    return std::is_same_v<std::invoke_result_t<F, const Tensors&>, Tensor>;
  else
    return gives_tensor<F>(std::make_index_sequence<static_cast<size_t>(arity)>{});
}
inline std::vector<int> first_numbers(size_t count) {
  std::vector<int> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<int>(i);
  return numbers;
}

}  // namespace detail

// Gradients of the scalar f(x) with respect to the named arguments.
struct ValueAndGrad {
  Tensor value;
  Tensors grads;
};
ValueAndGrad value_and_grad_of(const Function& f, const Tensors& x, const std::vector<int>& arguments);
// The results of f at x, and the product of cotangents with its Jacobian, for every argument. An empty
// cotangent is zero.
std::pair<Tensors, Tensors> vjp(const Function& f, const Tensors& x, const Tensors& cotangents);
// The results of f at x, and the product of its Jacobian with tangents. An empty tangent is zero.
std::pair<Tensors, Tensors> jvp(const Function& f, const Tensors& x, const Tensors& tangents);
// f over axis `in_axes[i]` of argument i (-1: the argument is the same for all); results stack along axis 0.
Tensors vmap_of(const Function& f, const Tensors& x, const std::vector<int>& in_axes);
// d f / d x[argument] of a function with one result, of the result's shape followed by the argument's.
Tensor jacobian_of(const Function& f, const Tensors& x, int argument);
// The second derivative of a scalar function, of the argument's shape twice.
Tensor hessian_of(const Function& f, const Tensors& x, int argument);

// The same for functions of Tensors.
template <class F>
requires(!std::is_convertible_v<F, Function>) std::pair<Tensors, Tensors> vjp(F f, const Tensors& x,
                                                                              const Tensors& cotangents) {
  return vjp(detail::as_function("vjp", std::move(f)), x, cotangents);
}
template <class F>
requires(!std::is_convertible_v<F, Function>) std::pair<Tensors, Tensors> jvp(F f, const Tensors& x,
                                                                              const Tensors& tangents) {
  return jvp(detail::as_function("jvp", std::move(f)), x, tangents);
}

// Called with the same types and shapes again, runs what was compiled the first time. `f` must be a pure
// function of its arguments: it is called once for each set of shapes.
class Jit {
 public:
  explicit Jit(Function f);
  Tensors operator()(const Tensors& x) const;
  // What is run for arguments like these (explain.hpp).
  std::string explain(const Tensors& x, const ExplainOptions& options = {}) const;

 private:
  struct State;
  State& expected(const Tensors& x) const;  // throws where it was moved away, or an argument is empty
  std::shared_ptr<State> state_;
};

// A function of Tensors whose i-th argument is differentiated: grad(f)(w, x) is df/dw.
template <class F>
auto grad(F f, int argument = 0) {
  return [f = detail::as_function("grad", std::move(f)), argument]<class... T>(const T&... x) {
    return value_and_grad_of(f, Tensors{x...}, {argument}).grads[0];
  };
}
// Over a list of arguments: returns the list of gradients.
template <class F>
auto grad(F f, std::vector<int> arguments) {
  return [f = detail::as_function("grad", std::move(f)), arguments]<class... T>(const T&... x) {
    return value_and_grad_of(f, Tensors{x...}, arguments).grads;
  };
}
// None named: the first argument, or every tensor of a function of a list.
template <class F>
auto value_and_grad(F f, std::vector<int> arguments = {}) {
  constexpr bool of_list = detail::arity_of<F>() == -1;
  return [f = detail::as_function("grad", std::move(f)), arguments]<class... T>(const T&... x) {
    const Tensors list{x...};
    if (!arguments.empty()) return value_and_grad_of(f, list, arguments);
    return value_and_grad_of(f, list, detail::first_numbers(of_list ? list.size() : 1));
  };
}
// vmap(f)(x): f for each slice of x along axis 0. in_axes: one an argument; -1: not mapped. A Tensor out
// where f gives one, else a list.
template <class F>
auto vmap(F f, std::vector<int> in_axes = {}) {
  return [f = detail::as_function("vmap", f), in_axes]<class... T>(const T&... x) {
    const Tensors list{x...};
    const auto results = vmap_of(f, list, in_axes.empty() ? std::vector<int>(list.size(), 0) : in_axes);
    if constexpr (detail::gives_tensor<F>())
      return results[0];
    else
      return results;
  };
}
template <class F>
auto jacobian(F f, int argument = 0) {
  return [f = detail::as_function("jacobian", std::move(f)), argument]<class... T>(const T&... x) {
    return jacobian_of(f, Tensors{x...}, argument);
  };
}
template <class F>
auto hessian(F f, int argument = 0) {
  return [f = detail::as_function("hessian", std::move(f)), argument]<class... T>(const T&... x) {
    return hessian_of(f, Tensors{x...}, argument);
  };
}
// What jit(f) gives: Tensors or a list of them in, a Tensor out where f gives one, else a list.
template <class F>
class JitFunction {
 public:
  explicit JitFunction(F f) : compiled_(detail::as_function("jit", std::move(f))) {}

  auto operator()(const Tensors& x) const {
    Tensors results = compiled_(x);
    if constexpr (detail::gives_tensor<F>())
      return Tensor(results[0]);
    else
      return results;
  }
  template <class... T>
  requires(std::is_same_v<T, Tensor>&&...) auto operator()(const T&... x) const {
    return (*this)(Tensors{x...});
  }

  // What is run for arguments like these (explain.hpp).
  std::string explain(const Tensors& x, const ExplainOptions& options = {}) const {
    return compiled_.explain(x, options);
  }

 private:
  Jit compiled_;
};
template <class F>
JitFunction<F> jit(F f) {
  return JitFunction<F>(std::move(f));
}

}  // namespace adit
#pragma GCC visibility pop
