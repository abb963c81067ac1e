// One call by name: its tensors and its attributes, read by name and checked.
#pragma once

#include <complex>
#include <functional>
#include <span>

#include "door/handles.hpp"

namespace adit::door {

class Call {
 public:
  Call(std::string_view name, Tensors tensors, std::span<const adit_attribute> attributes);

  std::string_view name() const { return name_; }
  const Tensors& tensors() const { return tensors_; }
  const Tensor& operator[](size_t i) const { return tensors_[i]; }
  Tensors from(size_t first) const {
    return {tensors_.begin() + static_cast<int64_t>(std::min(first, tensors_.size())), tensors_.end()};
  }
  Tensor optional(size_t i) const { return i < tensors_.size() ? tensors_[i] : Tensor(); }

  // Without a value to fall back on the attribute must be there.
  bool has(const char* attribute) const;
  int64_t integer(const char* attribute) const;
  int64_t integer(const char* attribute, int64_t otherwise) const;
  int axis(const char* attribute, int otherwise) const;
  int small(const char* attribute, int otherwise) const;  // of 32 bits
  bool flag(const char* attribute, bool otherwise) const;
  double real(const char* attribute) const;
  double real(const char* attribute, double otherwise) const;
  Dims dims(const char* attribute) const;
  Dims dims(const char* attribute, const Dims& otherwise) const;
  DType dtype(const char* attribute) const;
  DType dtype(const char* attribute, DType otherwise) const;
  std::string text(const char* attribute, const char* otherwise) const;
  const adit_function& function(const char* attribute) const;
  const adit_attribute* find(const char* attribute) const;

  // Throws for an attribute that nobody asked for: `known` lists those there are.
  void expect_all_used(std::string_view known) const;

 private:
  const adit_attribute* expected(const char* attribute) const;
  [[noreturn]] void wrong(const adit_attribute& it, std::string_view what) const;

  std::string_view name_;
  Tensors tensors_;
  std::span<const adit_attribute> attributes_;
  mutable uint64_t used_ = 0;  // by place
};

struct Operation {
  adit_operation description;
  int least = 0, most = 0;  // tensors; most -1: any number
  std::function<Tensors(const Call&)> make;
};

using Unary = Tensor (*)(const Tensor&);
using Binary = Tensor (*)(const Tensor&, const Tensor&);
inline Operation unary(const char* name, Unary f) {
  return {{name, "x", ""}, 1, 1, [f](const Call& c) -> Tensors { return {f(c[0])}; }};
}
inline Operation binary(const char* name, Binary f) {
  return {{name, "a, b", ""}, 2, 2, [f](const Call& c) -> Tensors { return {f(c[0], c[1])}; }};
}

// The parts of the table, by theme.
std::vector<Operation> elementwise_operations();
std::vector<Operation> shape_operations();
std::vector<Operation> reduction_operations();
std::vector<Operation> linear_operations();
std::vector<Operation> window_operations();
std::vector<Operation> random_operations();
std::vector<Operation> function_operations();

}  // namespace adit::door
