// What a program means, one lane after the other in plain C++: the reference both code generators are held
// to.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <adit/kernel/program.hpp>

namespace adit::test {

using namespace kernel;

class Interpreter {
 public:
  // `block` is the argument block; buffers in it are host addresses.
  Interpreter(const Program& program, const std::byte* block)
      : program_(program),
        block_(block),
        value_(program.instructions.size()),
        memory_(program.instructions.size()) {}

  void run(uint64_t teams) {
    for (team_ = 0; team_ < teams; ++team_) this->block(0, 0);
  }

 private:
  using Bits = std::array<uint64_t, 4>;

  template <class T>
  static T as(uint64_t bits) {
    T number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
  }
  template <class T>
  static uint64_t bits(T number) {
    uint64_t result = 0;
    std::memcpy(&result, &number, sizeof number);
    return result;
  }
  // Calls f with a value of the C++ type that stands for `type`.
  template <class F>
  static uint64_t with(Type type, F f) {
    switch (type) {
      case Type::boolean: return f(bool{});
      case Type::i8: return f(int8_t{});
      case Type::i16: return f(int16_t{});
      case Type::i32: return f(int32_t{});
      case Type::i64: return f(int64_t{});
      case Type::u8: return f(uint8_t{});
      case Type::u16:
      case Type::f16:
      case Type::bf16: return f(uint16_t{});
      case Type::u32: return f(uint32_t{});
      case Type::u64: return f(uint64_t{});
      case Type::f32: return f(float{});
      case Type::f64: return f(double{});
      case Type::none: break;
    }
    return 0;
  }

  uint64_t in(const Instruction& it, int k) const { return value_[it.operand[k]][0]; }

  void block(uint32_t number, uint64_t index) {
    for (Id id : program_.blocks[number]) {
      const Instruction& it = program_[id];
      if (it.op == Op::index)
        value_[id] = {index};
      else
        instruction(id, it);
    }
  }

  void instruction(Id id, const Instruction& it) {
    switch (it.op) {
      case Op::constant: value_[id] = {it.constant}; return;
      case Op::team: value_[id] = {team_}; return;
      case Op::argument: value_[id] = {argument(it)}; return;
      case Op::buffer:
      case Op::reduced:
      case Op::fence: return;
      case Op::variable: memory_[id].assign(1, 0); return;
      case Op::array:
      case Op::shared: memory_[id].assign(it.constant, 0); return;
      case Op::load:
        for (uint64_t k = 0; k < it.width; ++k) value_[id][k] = read(it, k);
        return;
      case Op::store:
        for (uint64_t k = 0; k < it.width; ++k) write(it, k, value_[it.operand[it.operand_count - 1]][k]);
        return;
      case Op::pack:
        for (int k = 0; k < it.width; ++k) value_[id][k] = in(it, k);
        return;
      case Op::extract: value_[id] = {value_[it.operand[0]][it.constant]}; return;
      case Op::if_:
        if (in(it, 0))
          block(it.block[0], 0);
        else if (it.block[1] != no_id)
          block(it.block[1], 0);
        return;
      case Op::for_: return for_(it);
      case Op::while_:
        for (;;) {
          const bool in_reduce = std::exchange(reducing_, false);  // this yield is the loop's own
          block(it.block[0], 0);
          reducing_ = in_reduce;
          if (!yielded_) return;
          block(it.block[1], 0);
        }
      case Op::each:
        for (uint64_t i = 0, n = in(it, 0); i < n; ++i) block(it.block[0], i);
        return;
      case Op::once: return block(it.block[0], 0);
      case Op::reduce: return reduce(id, it);
      case Op::yield: return yield(it);
      default: value_[id] = {is_atomic(it.op) ? atomic(it) : compute(it)};
    }
  }

  uint64_t argument(const Instruction& it) const {
    uint64_t result = 0;
    std::memcpy(&result, block_ + program_.parameters[it.constant].offset, size_of(it.type));
    return result;
  }

  std::byte* place(const Instruction& it, uint64_t k) const {
    const Instruction& object = program_[it.operand[0]];
    uint64_t address = 0;
    std::memcpy(&address, block_ + program_.parameters[object.constant].offset, 8);
    return reinterpret_cast<std::byte*>(address) + (index_of(it) * it.width + k) * size_of(object.type);
  }
  uint64_t index_of(const Instruction& it) const {
    const Type type = program_[it.operand[1]].type;
    return with(type, [&](auto t) {
      return static_cast<uint64_t>(static_cast<int64_t>(as<decltype(t)>(in(it, 1))));
    });
  }
  uint64_t read(const Instruction& it, uint64_t k) {
    const Instruction& object = program_[it.operand[0]];
    if (object.op == Op::variable) return memory_[it.operand[0]][0];
    if (object.op != Op::buffer) return memory_[it.operand[0]].at(index_of(it) * it.width + k);
    uint64_t result = 0;
    std::memcpy(&result, place(it, k), size_of(object.type));
    return result;
  }
  void write(const Instruction& it, uint64_t k, uint64_t v) {
    const Instruction& object = program_[it.operand[0]];
    if (object.op == Op::variable)
      memory_[it.operand[0]][0] = v;
    else if (object.op != Op::buffer)
      memory_[it.operand[0]].at(index_of(it) * it.width + k) = v;
    else
      std::memcpy(place(it, k), &v, size_of(object.type));
  }

  uint64_t atomic(const Instruction& it) {
    Instruction access = it;
    access.width = 1;
    const uint64_t old = read(access, 0);
    if (it.op == Op::atomic_compare_exchange) {
      if (old == in(it, 2)) write(access, 0, in(it, 3));
      return old;
    }
    if (it.op == Op::atomic_exchange) {
      write(access, 0, in(it, 2));
      return old;
    }
    static const std::map<Op, Reduction> meaning{
        {Op::atomic_add, Reduction::add},   {Op::atomic_min, Reduction::min},
        {Op::atomic_max, Reduction::max},   {Op::atomic_and, Reduction::bit_and},
        {Op::atomic_or, Reduction::bit_or}, {Op::atomic_xor, Reduction::bit_xor}};
    write(access, 0, combine(meaning.at(it.op), it.type, old, in(it, 2)));
    return old;
  }

  static uint64_t combine(Reduction op, Type type, uint64_t x, uint64_t y) {
    return with(type, [&](auto t) -> uint64_t {
      using T = decltype(t);
      const T a = as<T>(x), b = as<T>(y);
      if constexpr (std::is_floating_point_v<T>) {
        switch (op) {
          case Reduction::add: return bits<T>(a + b);
          case Reduction::mul: return bits<T>(a * b);
          case Reduction::min: return bits<T>(b < a ? b : a);
          case Reduction::min_or_nan: return bits<T>(b != b || b < a ? b : a);
          case Reduction::max_or_nan: return bits<T>(b != b || a < b ? b : a);
          default: return bits<T>(a < b ? b : a);
        }
      } else {
        switch (op) {
          case Reduction::add: return bits(static_cast<T>(x + y));
          case Reduction::mul: return bits(static_cast<T>(x * y));
          case Reduction::min: return bits(b < a ? b : a);
          case Reduction::max: return bits(a < b ? b : a);
          case Reduction::bit_and: return bits(static_cast<T>(x & y));
          case Reduction::bit_or: return bits(static_cast<T>(x | y));
          case Reduction::bit_xor: return bits(static_cast<T>(x ^ y));
          default: break;  // of floats
        }
      }
      return 0;
    });
  }

  void for_(const Instruction& it) {
    const Type type = program_[it.operand[0]].type;
    with(type, [&](auto t) -> uint64_t {
      using T = decltype(t);
      const T end = as<T>(in(it, 1)), step = as<T>(in(it, 2));
      for (T i = as<T>(in(it, 0)); i < end; i = static_cast<T>(i + step)) block(it.block[0], bits(i));
      return 0;
    });
  }

  void reduce(Id id, const Instruction& it) {
    partial_.clear();
    for (Id member : program_.blocks[it.block[0]])
      if (program_[member].op == Op::yield)
        partial_.push_back(identity_of(static_cast<Reduction>(program_[member].constant),
                                       program_[program_[member].operand[0]].type));
    for (uint64_t i = 0, n = in(it, 0); i < n; ++i) {
      yields_ = 0;
      reducing_ = true;
      block(it.block[0], i);
      reducing_ = false;
    }
    for (Id reader = 0; reader < program_.instructions.size(); ++reader)
      if (program_[reader].op == Op::reduced && program_[reader].operand[0] == id)
        value_[reader] = {partial_[program_[reader].constant]};
  }
  void yield(const Instruction& it) {
    if (!reducing_) {
      yielded_ = in(it, 0) != 0;
      return;
    }
    uint64_t& partial = partial_[yields_++];
    partial = combine(static_cast<Reduction>(it.constant), program_[it.operand[0]].type, partial, in(it, 0));
  }

  uint64_t compute(const Instruction& it) const;
  template <class T>
  uint64_t compute_integer(const Instruction& it) const;
  template <class T>
  uint64_t compute_float(const Instruction& it) const;
  uint64_t convert(const Instruction& it) const;

  const Program& program_;
  const std::byte* block_;
  std::vector<Bits> value_;
  std::vector<std::vector<uint64_t>> memory_;
  std::vector<uint64_t> partial_;
  size_t yields_ = 0;
  bool reducing_ = false, yielded_ = false;
  uint64_t team_ = 0;
};

template <class T>
uint64_t Interpreter::compute_integer(const Instruction& it) const {
  using U = std::make_unsigned_t<T>;
  constexpr int width = sizeof(T) * 8;
  const T a = as<T>(in(it, 0)), b = it.operand_count > 1 ? as<T>(in(it, 1)) : T{};
  const U ua = static_cast<U>(a), ub = static_cast<U>(b);
  const bool overflow = std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1);
  switch (it.op) {
    case Op::add: return bits<U>(static_cast<U>(ua + ub));
    case Op::sub: return bits<U>(static_cast<U>(ua - ub));
    case Op::mul: return bits<U>(static_cast<U>(uint64_t{ua} * uint64_t{ub}));
    case Op::div: return bits<T>(b == 0 ? static_cast<T>(~U{0}) : overflow ? a : static_cast<T>(a / b));
    case Op::rem: return bits<T>(b == 0 ? a : overflow ? T{0} : static_cast<T>(a % b));
    case Op::neg: return bits<U>(static_cast<U>(U{0} - ua));
    case Op::abs: return bits<U>(a < 0 ? static_cast<U>(U{0} - ua) : ua);
    case Op::mul_high: return bits<U>(static_cast<U>((static_cast<unsigned __int128>(ua) * ub) >> width));
    case Op::bit_and: return bits<U>(ua & ub);
    case Op::bit_or: return bits<U>(ua | ub);
    case Op::bit_xor: return bits<U>(ua ^ ub);
    case Op::bit_not: return bits<U>(static_cast<U>(~ua));
    case Op::shift_left: return bits<U>(static_cast<U>(uint64_t{ua} << ub));
    case Op::shift_right: return bits<T>(static_cast<T>(a >> b));
    case Op::count_ones: return static_cast<uint64_t>(std::popcount(ua));
    case Op::leading_zeros: return static_cast<uint64_t>(std::countl_zero(ua));
    case Op::trailing_zeros: return static_cast<uint64_t>(std::countr_zero(ua));
    case Op::equal: return a == b;
    case Op::not_equal: return a != b;
    case Op::less: return a < b;
    case Op::less_equal: return a <= b;
    default: return 0;
  }
}

template <class T>
uint64_t Interpreter::compute_float(const Instruction& it) const {
  const T a = as<T>(in(it, 0)), b = it.operand_count > 1 ? as<T>(in(it, 1)) : T{},
          c = it.operand_count > 2 ? as<T>(in(it, 2)) : T{};
  switch (it.op) {
    case Op::add: return bits<T>(a + b);
    case Op::sub: return bits<T>(a - b);
    case Op::mul: return bits<T>(a * b);
    case Op::div: return bits<T>(a / b);
    case Op::neg: return bits<T>(-a);
    case Op::abs: return bits<T>(std::fabs(a));
    case Op::fma: return bits<T>(std::fma(a, b, c));
    case Op::sqrt: return bits<T>(std::sqrt(a));
    case Op::floor: return bits<T>(std::floor(a));
    case Op::ceil: return bits<T>(std::ceil(a));
    case Op::trunc: return bits<T>(std::trunc(a));
    case Op::round_even: return bits<T>(std::nearbyint(a));
    case Op::equal: return a == b;
    case Op::not_equal: return a != b;
    case Op::less: return a < b;
    case Op::less_equal: return a <= b;
    default: return 0;
  }
}

inline uint64_t Interpreter::compute(const Instruction& it) const {
  const Type type = program_[it.operand[0]].type;
  switch (it.op) {
    case Op::select: return in(it, 0) ? in(it, 1) : in(it, 2);
    case Op::bitcast: return in(it, 0);
    case Op::convert:
    case Op::convert_in_range: return convert(it);
    default: break;
  }
  if (type == Type::f32) return compute_float<float>(it);
  if (type == Type::f64) return compute_float<double>(it);
  if (type == Type::boolean) {
    const bool a = in(it, 0), b = it.operand_count > 1 && in(it, 1);
    switch (it.op) {
      case Op::bit_and: return a && b;
      case Op::bit_or: return a || b;
      case Op::bit_xor:
      case Op::not_equal: return a != b;
      case Op::equal: return a == b;
      default: return !a;
    }
  }
  return with(type, [&](auto t) -> uint64_t {
    using T = decltype(t);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return compute_integer<T>(it);
    else
      return 0;
  });
}

inline uint64_t Interpreter::convert(const Instruction& it) const {
  return with(program_[it.operand[0]].type, [&](auto f) -> uint64_t {
    using From = decltype(f);
    const From a = as<From>(in(it, 0));
    return with(it.type, [&](auto t) -> uint64_t {
      using To = decltype(t);
      if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
        if (std::isnan(a)) return 0;
        if (a <= static_cast<From>(std::numeric_limits<To>::min()))
          return bits(std::numeric_limits<To>::min());
        if (a >= static_cast<From>(std::numeric_limits<To>::max()))
          return bits(std::numeric_limits<To>::max());
      }
      if constexpr (std::is_same_v<To, bool>)
        return a != 0;
      else
        return bits(static_cast<To>(a));
    });
  });
}

}  // namespace adit::test
