// The element types of tensors. Booleans are u8, 0 or 1.
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <adit/kernel/type.hpp>

#pragma GCC visibility push(default)
namespace adit {

enum class DType : uint8_t { u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64, c64, c128 };
inline constexpr int dtype_count = 14;

constexpr bool is_unsigned(DType t) { return t <= DType::u64; }
constexpr bool is_signed_integer(DType t) { return t >= DType::i8 && t <= DType::i64; }
constexpr bool is_integer(DType t) { return t <= DType::i64; }
constexpr bool is_float(DType t) { return t >= DType::f16 && t <= DType::f64; }
constexpr bool is_complex(DType t) { return t >= DType::c64; }

constexpr uint32_t size_of(DType t) {
  constexpr uint8_t sizes[dtype_count] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return sizes[static_cast<int>(t)];
}
constexpr std::string_view name_of(DType t) {
  constexpr std::string_view names[dtype_count] = {"u8",  "u16", "u32",  "u64", "i8",  "i16", "i32",
                                                   "i64", "f16", "bf16", "f32", "f64", "c64", "c128"};
  return names[static_cast<int>(t)];
}
// Throws not_found with the names there are.
DType dtype_named(std::string_view name);

// How an element lies in memory: a complex number is two of these.
constexpr kernel::Type storage_type(DType t) {
  using kernel::Type;
  constexpr Type types[dtype_count] = {Type::u8,  Type::u16, Type::u32, Type::u64, Type::i8,
                                       Type::i16, Type::i32, Type::i64, Type::f16, Type::bf16,
                                       Type::f32, Type::f64, Type::f32, Type::f64};
  return types[static_cast<int>(t)];
}
// What an element is computed in: halves in f32.
constexpr kernel::Type compute_type(DType t) {
  return t == DType::f16 || t == DType::bf16 ? kernel::Type::f32 : storage_type(t);
}
// The type of the parts of a complex number; any other is its own.
constexpr DType real_of(DType t) { return t == DType::c64 ? DType::f32 : t == DType::c128 ? DType::f64 : t; }
constexpr DType complex_of(DType t) { return t == DType::f64 || t == DType::c128 ? DType::c128 : DType::c64; }
// What an integer becomes where a function needs a float: f32.
constexpr DType float_of(DType t) { return is_integer(t) ? DType::f32 : t; }
// The type of both together, as Nx merges types: u8 and i8 give i16; complex, f, bf, integer win in this
// order.
DType promote(DType a, DType b);

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::u8;
  else if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return DType::c64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return DType::c128;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return sizeof(T) == 1   ? DType::i8
           : sizeof(T) == 2 ? DType::i16
           : sizeof(T) == 4 ? DType::i32
                            : DType::i64;
  else if constexpr (std::is_integral_v<T>)
    return sizeof(T) == 1   ? DType::u8
           : sizeof(T) == 2 ? DType::u16
           : sizeof(T) == 4 ? DType::u32
                            : DType::u64;
  else
    static_assert(sizeof(T) == 0, "no element type for this C++ type");
}

}  // namespace adit
#pragma GCC visibility pop
