// The kernel language: C++ that writes kernels.
//
//   Builder k("axpy", Team::one());
//   auto x = k.buffer("x", Type::f32, Access::read);
//   auto y = k.buffer("y", Type::f32, Access::read_write);
//   Value a = k.scalar("a", Type::f32), i = k.team();
//   y[i] = fma(a, x[i], y[i]);
//   Program program = k.finish();
//
// A Value is a typed handle to one instruction's result. C++ control flow is metaprogramming (unrolling,
// tiles, types); if_, for_ and while_ are control flow in the kernel. A number beside a Value takes the
// Value's type.
#pragma once

#include <concepts>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <adit/kernel/program.hpp>

#pragma GCC visibility push(default)
namespace adit::kernel {

class Builder;

template <class T>
concept Number = std::is_arithmetic_v<T>;

class Value {
 public:
  Value() = default;
  Value(Builder* builder, Id id, Type type, uint8_t width = 1)
      : builder_(builder), id_(id), type_(type), width_(width) {}

  Type type() const { return type_; }
  int width() const { return width_; }
  Id id() const { return id_; }
  Builder& builder() const { return *builder_; }
  explicit operator bool() const = delete;  // a kernel value has no value while the kernel is written

  // A constant of this value's type.
  template <Number T>
  Value like(T number) const;
  // Scalar `which` of a 2- or 4-vector.
  Value operator[](int which) const;

 private:
  Builder* builder_ = nullptr;
  Id id_ = no_id;
  Type type_ = Type::none;
  uint8_t width_ = 1;
};

class Element;

// Indexed memory: a buffer, a private array or a shared array. An index of 32 bits reaches 2^31 elements;
// larger extents take one of 64 bits.
class Array {
 public:
  Array() = default;
  Array(Builder* builder, Id id, Type type) : builder_(builder), id_(id), type_(type) {}
  Type type() const { return type_; }
  Id id() const { return id_; }

  Element operator[](Value index) const;
  Element operator[](uint32_t index) const;
  Value load(Value index) const;
  // `width` consecutive elements from width * index on, in one access of width * size bytes, aligned so.
  // Buffers and shared arrays; a shared array whose accesses are all of one width is the fastest.
  Value load_vector(Value index, int width) const;
  void store(Value index,
             Value value) const;  // a vector value stores all its scalars, index counted in vectors

  // Each yields the old value.
  Value atomic_add(Value index, Value value) const;
  Value atomic_min(Value index, Value value) const;
  Value atomic_max(Value index, Value value) const;
  Value atomic_and(Value index, Value value) const;
  Value atomic_or(Value index, Value value) const;
  Value atomic_xor(Value index, Value value) const;
  Value atomic_exchange(Value index, Value value) const;
  Value atomic_compare_exchange(Value index, Value expected, Value value) const;

 private:
  Value atomic(Op op, Value index, Value value) const;
  Builder* builder_ = nullptr;
  Id id_ = no_id;
  Type type_ = Type::none;
};

// array[i]: reads as a Value, assigns as a store.
class Element {
 public:
  Element(Array array, Value index) : array_(array), index_(index) {}
  Value get() const { return array_.load(index_); }
  operator Value() const { return get(); }
  void operator=(Value value) const { array_.store(index_, value); }
  void operator=(const Element& other) const { array_.store(index_, other.get()); }
  template <Number T>
  void operator=(T number) const;

 private:
  Array array_;
  Value index_;
};

// One private cell that may change: the kernel's mutable variable.
class Variable {
 public:
  Variable(Builder* builder, Id id, Type type) : builder_(builder), id_(id), type_(type) {}
  Variable(const Variable&) = default;
  Value get() const;
  operator Value() const { return get(); }
  const Variable& operator=(Value value) const;
  const Variable& operator=(const Variable& other) const { return *this = other.get(); }
  template <Number T>
  const Variable& operator=(T number) const {
    return *this = get().like(number);
  }
  Id id() const { return id_; }
  Type type() const { return type_; }

 private:
  Builder* builder_;
  Id id_;
  Type type_;
};

class Builder {
 public:
  Builder(std::string name, Team team);
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // Parameters, in the order of the argument block. Where buffers overlap, a lane may meet its own elements.
  Array buffer(const std::string& name, Type type, Access access);
  Value scalar(const std::string& name, Type type);

  // The number of this team: for Team::one the invocation's own number.
  Value team() { return team(Type::u32); }
  Value team(Type type);  // u32 or u64

  // Throws where a number does not fit; negative unsigned ones wrap, fractions are cut off, floats rounded.
  template <Number T>
  Value constant(Type type, T number);
  // Throws where there are more bits than the type has.
  Value constant_bits(Type type, uint64_t bits);

  Variable variable(Value initial);
  template <Number T>
  Variable variable(Type type, T initial) {
    return variable(constant(type, initial));
  }
  Array array(Type type, uint32_t length);   // private to the invocation (or, at team level, to the team)
  Array shared(Type type, uint32_t length);  // shared by the team's lanes

  // Control flow in the kernel.
  void if_(Value condition, const std::function<void()>& then, const std::function<void()>& otherwise = {});
  void for_(Value begin, Value end, Value step, const std::function<void(Value)>& body);
  void for_(Value end, const std::function<void(Value)>& body) { for_(end.like(0), end, end.like(1), body); }
  void while_(const std::function<Value()>& condition, const std::function<void()>& body);

  // Team loops (Team::many): the lanes share the indices; what one writes the next may read. Counts to 2^31.
  void each(Value count, const std::function<void(Value)>& body);
  Value reduce(Value count, Reduction op, const std::function<Value(Value)>& body);
  std::vector<Value> reduce(Value count, const std::vector<Reduction>& ops,
                            const std::function<std::vector<Value>(Value)>& body);
  void once(const std::function<void()>& body);

  // Lanes by hand (Team::many, GPU only): what they write, others may read after `barrier` alone.
  Value lane();
  void barrier();

  // Orders this invocation's accesses to buffers before it and after it, for every team of the device.
  // Between teams it is worth something only where Limits::ordered_between_teams was measured.
  void fence();

  // Over the lanes that run together. On a CPU these are SIMD lanes.
  Value subgroup_size();
  Value subgroup_lane();
  Value subgroup_number();  // of this lane's subgroup in its team (Team::many, GPU only)
  Value subgroup_reduce(Reduction op, Value value);
  Value subgroup_inclusive(Reduction op, Value value);
  Value subgroup_exclusive(Reduction op, Value value);
  Value subgroup_any(Value condition);
  Value subgroup_all(Value condition);
  Value subgroup_ballot(Value condition, uint32_t word = 0);  // bit i: of lane 32 * word + i
  Value subgroup_first(Value value);
  Value subgroup_shuffle(Value value, Value lane);
  Value subgroup_shuffle_xor(Value value, Value mask);

  Value pack(std::initializer_list<Value> scalars);

  // row * length + column, with column < length, as one whole number whose quotient and remainder by `length`
  // (or by a multiple of it) need no division: loops over rows of lanes stay loops over lanes side by side.
  Value joined(Value row, int64_t length, Value column);
  struct Parts {
    int64_t length = 0;
    Value row, column;
  };
  const Parts* parts_of(Value number) const;

  // Adds one instruction to the current block, checked as verify() checks it; equal pure instructions are
  // shared.
  Value emit(Op op, Type type, std::initializer_list<Id> operands, uint64_t constant = 0, uint8_t width = 1);

  bool is_loose() const { return is_loose_; }
  // The functions of math.hpp have their loose forms too, inside of each other as well.
  bool has_loose_functions() const { return has_loose_functions_; }
  // The kernel is for a device whose division and roots round as IEEE 754 has it, as a CPU's do: divide and
  // sqrt of math.hpp are its own then.
  void set_rounds_exactly(bool yes) { rounds_exactly_ = yes; }
  bool rounds_exactly() const { return rounds_exactly_; }
  const Program& program() const { return program_; }
  // Verifies and hands the program over; the builder is spent.
  Program finish();

 private:
  friend class Array;
  friend class Loose;
  uint32_t open_block();
  void close_block();
  Id append(Instruction instruction);
  Id find_known(const Instruction& instruction, uint64_t hash) const;
  Value open_loop(Instruction loop, Type index_type);
  Value whole_constant(Type type, bool is_negative, uint64_t bits);
  Value real_constant(Type type, double number);

  Program program_;
  std::vector<uint32_t> open_;  // blocks being written, innermost last
  std::vector<std::unordered_multimap<uint64_t, Id>>
      known_;  // pure instructions by hash, for each open block
  bool is_loose_ = false;
  bool has_loose_functions_ = false;
  bool rounds_exactly_ = false;
  std::unordered_map<Id, Parts> parts_;  // of numbers that `joined` made
};

// While one lives, arithmetic on scalars of f32 and f64 is written for speed where only its last bits suffer:
// sums of products become fma, constants are joined. In f64 some functions of math.hpp are shorter and a
// little less sharp, and what is smaller than 2^-1021 counts as 0 in them: src/kernel/math/f64/loose.hpp has
// the list and docs/numerics.md the bounds. The others keep theirs. For devices that fuse
// (Limits::fused_fma). Inside, Loose(builder, false) is plain arithmetic for a while.
class Loose {
 public:
  explicit Loose(Builder& builder, bool is_loose = true)
      : builder_(builder), before_(builder.is_loose_), had_functions_(builder.has_loose_functions_) {
    builder.is_loose_ = is_loose;
    builder.has_loose_functions_ |= is_loose;
  }
  ~Loose() {
    builder_.is_loose_ = before_;
    builder_.has_loose_functions_ = had_functions_;
  }
  Loose(const Loose&) = delete;
  Loose& operator=(const Loose&) = delete;

 private:
  Builder& builder_;
  const bool before_, had_functions_;
};

// Arithmetic. Both operands have one type; integers wrap; x / 0 is all ones and x % 0 is x for integers.
Value operator+(Value a, Value b);
Value operator-(Value a, Value b);
Value operator*(Value a, Value b);
Value operator/(Value a, Value b);  // f32 on a GPU: 2.5 ULP
Value operator%(Value a, Value b);  // integers; the sign of a
Value operator-(Value a);
Value operator&(Value a, Value b);
Value operator|(Value a, Value b);
Value operator^(Value a, Value b);
Value operator~(Value a);
Value operator!(Value a);            // booleans
Value operator&&(Value a, Value b);  // booleans; both sides are computed
Value operator||(Value a, Value b);
Value operator<<(Value a, Value bits);  // the amount is taken modulo the width
Value operator>>(Value a, Value bits);  // arithmetic for signed types
Value operator==(Value a, Value b);
Value operator!=(Value a, Value b);  // true with NaN
Value operator<(Value a, Value b);
Value operator<=(Value a, Value b);
inline Value operator>(Value a, Value b) { return b < a; }
inline Value operator>=(Value a, Value b) { return b <= a; }

Value select(Value condition, Value if_true, Value if_false);
Value fma(Value a, Value b, Value c);  // fused where the device fuses: see Limits::fused_fma
Value abs(Value a);
Value sqrt_device(Value a);  // the device's own root, 2.5 ULP in f32 on a GPU; math.hpp has sqrt
Value floor(Value a);
Value ceil(Value a);
Value trunc(Value a);
Value round_even(Value a);
Value mul_high(Value a, Value b);  // the upper half of the product, u32 and u64
Value count_ones(Value a);
Value leading_zeros(Value a);
Value trailing_zeros(Value a);
Value min(Value a, Value b);         // b < a ? b : a
Value max(Value a, Value b);         // a < b ? b : a
Value min_or_nan(Value a, Value b);  // of floats: the smaller one, NaN where either is; of two zeros any
Value max_or_nan(Value a, Value b);
Value is_nan(Value a);              // looks at the bits, so no fast arithmetic of a driver can fool it
Value convert(Value a, Type type);  // to integers: saturates, NaN gives 0
Value convert_in_range(Value a, Type type);  // to integers: the caller knows that it fits
Value bitcast(Value a, Type type);

// A number beside a Value takes its type.
template <Number T>
Value operator+(Value a, T b) {
  return a + a.like(b);
}
template <Number T>
Value operator+(T a, Value b) {
  return b.like(a) + b;
}
template <Number T>
Value operator-(Value a, T b) {
  return a - a.like(b);
}
template <Number T>
Value operator-(T a, Value b) {
  return b.like(a) - b;
}
template <Number T>
Value operator*(Value a, T b) {
  return a * a.like(b);
}
template <Number T>
Value operator*(T a, Value b) {
  return b.like(a) * b;
}
template <Number T>
Value operator/(Value a, T b) {
  return a / a.like(b);
}
template <Number T>
Value operator/(T a, Value b) {
  return b.like(a) / b;
}
template <Number T>
Value operator%(Value a, T b) {
  return a % a.like(b);
}
template <Number T>
Value operator&(Value a, T b) {
  return a & a.like(b);
}
template <Number T>
Value operator|(Value a, T b) {
  return a | a.like(b);
}
template <Number T>
Value operator^(Value a, T b) {
  return a ^ a.like(b);
}
template <Number T>
Value operator<<(Value a, T b) {
  return a << a.like(b);
}
template <Number T>
Value operator>>(Value a, T b) {
  return a >> a.like(b);
}
template <Number T>
Value operator==(Value a, T b) {
  return a == a.like(b);
}
template <Number T>
Value operator!=(Value a, T b) {
  return a != a.like(b);
}
template <Number T>
Value operator<(Value a, T b) {
  return a < a.like(b);
}
template <Number T>
Value operator<(T a, Value b) {
  return b.like(a) < b;
}
template <Number T>
Value operator<=(Value a, T b) {
  return a <= a.like(b);
}
template <Number T>
Value operator<=(T a, Value b) {
  return b.like(a) <= b;
}
template <Number T>
Value operator>(Value a, T b) {
  return a > a.like(b);
}
template <Number T>
Value operator>=(Value a, T b) {
  return a >= a.like(b);
}
template <Number T>
Value select(Value c, Value a, T b) {
  return select(c, a, a.like(b));
}
template <Number T>
Value select(Value c, T a, Value b) {
  return select(c, b.like(a), b);
}
template <Number T>
Value min(Value a, T b) {
  return min(a, a.like(b));
}
template <Number T>
Value max(Value a, T b) {
  return max(a, a.like(b));
}
template <Number T>
Value fma(Value a, Value b, T c) {
  return fma(a, b, a.like(c));
}
template <Number T>
Value fma(Value a, T b, Value c) {
  return fma(a, a.like(b), c);
}
template <Number T, Number U>
Value fma(Value a, T b, U c) {
  return fma(a, a.like(b), a.like(c));
}

// The bits of a number in a type; halves and bfloats are rounded to nearest even. Of an integer type it must
// fit.
uint64_t bits_of_number(Type type, double number);
// The bits of a type's width: what is left of a whole number that wraps around.
uint64_t wrapped(Type type, uint64_t bits);

template <Number T>
Value Builder::constant(Type type, T number) {
  if constexpr (std::is_integral_v<T>)
    if (is_integer(type)) return whole_constant(type, number < T{}, static_cast<uint64_t>(number));
  return real_constant(type, static_cast<double>(number));
}
template <Number T>
Value Value::like(T number) const {
  return builder_->constant(type_, number);
}
template <Number T>
void Element::operator=(T number) const {
  *this = index_.builder().constant(array_.type(), number);
}

}  // namespace adit::kernel
#pragma GCC visibility pop
