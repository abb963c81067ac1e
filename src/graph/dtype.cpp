#include <fmt/format.h>

#include <adit/dtype.hpp>
#include <adit/error.hpp>

namespace adit {

DType dtype_named(std::string_view name) {
  std::string all;
  for (int i = 0; i < dtype_count; ++i) {
    const auto type = static_cast<DType>(i);
    if (name_of(type) == name) return type;
    all += fmt::format("{}{}", i ? " " : "", name_of(type));
  }
  throw Error(ErrorKind::not_found, fmt::format("[dtype] name: expected one of {}, got \"{}\"", all, name));
}

namespace {

// u, s, bf, f, c: the later wins.
int precedence(DType t) {
  if (is_unsigned(t)) return 0;
  if (is_signed_integer(t)) return 1;
  if (t == DType::bf16) return 2;
  return is_float(t) ? 3 : 4;
}

DType signed_of_size(uint32_t bytes) {
  return bytes <= 1 ? DType::i8 : bytes == 2 ? DType::i16 : bytes == 4 ? DType::i32 : DType::i64;
}

}  // namespace

DType promote(DType a, DType b) {
  if (precedence(a) > precedence(b)) std::swap(a, b);
  if (precedence(a) == precedence(b)) return size_of(a) >= size_of(b) ? a : b;
  if (is_unsigned(a) && is_signed_integer(b)) return signed_of_size(std::max(size_of(a) * 2, size_of(b)));
  if (a == DType::f64 && is_complex(b)) return DType::c128;
  return b;
}

}  // namespace adit
