// The scalar types a kernel computes with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)
namespace adit::kernel {

enum class Type : uint8_t {
  none,  // what a store or a loop yields
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64
};

constexpr bool is_float(Type t) { return t >= Type::f16; }
constexpr bool is_signed_integer(Type t) { return t >= Type::i8 && t <= Type::i64; }
constexpr bool is_unsigned(Type t) { return t >= Type::u8 && t <= Type::u64; }
constexpr bool is_integer(Type t) { return t >= Type::i8 && t <= Type::u64; }

// Bytes of one element in memory; a boolean is stored as one byte, 0 or 1.
constexpr uint32_t size_of(Type t) {
  switch (t) {
    case Type::none: return 0;
    case Type::boolean:
    case Type::i8:
    case Type::u8: return 1;
    case Type::i16:
    case Type::u16:
    case Type::f16:
    case Type::bf16: return 2;
    case Type::i32:
    case Type::u32:
    case Type::f32: return 4;
    case Type::i64:
    case Type::u64:
    case Type::f64: return 8;
  }
  return 0;
}
constexpr uint32_t bits_of(Type t) { return t == Type::boolean ? 1 : size_of(t) * 8; }

// The integer type that has the width of t, for looking at its bits.
constexpr Type unsigned_like(Type t) {
  switch (size_of(t)) {
    case 1: return Type::u8;
    case 2: return Type::u16;
    case 4: return Type::u32;
    default: return Type::u64;
  }
}
constexpr Type signed_like(Type t) {
  switch (size_of(t)) {
    case 1: return Type::i8;
    case 2: return Type::i16;
    case 4: return Type::i32;
    default: return Type::i64;
  }
}

constexpr std::string_view name_of(Type t) {
  constexpr std::string_view names[] = {"none", "bool", "i8",  "i16", "i32",  "i64", "u8",
                                        "u16",  "u32",  "u64", "f16", "bf16", "f32", "f64"};
  return t <= Type::f64 ? names[static_cast<int>(t)] : "unknown";
}

// The kernel type of a C++ type.
template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, bool>)
    return Type::boolean;
  else if constexpr (std::is_same_v<T, float>)
    return Type::f32;
  else if constexpr (std::is_same_v<T, double>)
    return Type::f64;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return sizeof(T) == 1 ? Type::i8 : sizeof(T) == 2 ? Type::i16 : sizeof(T) == 4 ? Type::i32 : Type::i64;
  else if constexpr (std::is_integral_v<T>)
    return sizeof(T) == 1 ? Type::u8 : sizeof(T) == 2 ? Type::u16 : sizeof(T) == 4 ? Type::u32 : Type::u64;
  else
    static_assert(sizeof(T) == 0, "no kernel type for this C++ type");
}

}  // namespace adit::kernel
#pragma GCC visibility pop
