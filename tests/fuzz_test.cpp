// Random programs on every device against the interpreter.
#include <random>

#include <adit/kernel/builder.hpp>

#include "devices.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

class Fuzz : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Fuzz, testing::ValuesIn(device_ids()), test_name);

// Writes a random program: values of several types are made, kept in variables and arrays, mixed under random
// control flow, and stored at the end.
class Writer {
 public:
  Writer(uint64_t seed, bool wide) : random_(seed), k_("fuzz_" + std::to_string(seed), Team::one(32)) {
    types_ = {Type::i32, Type::u32, Type::f32, Type::u8, Type::i16};
    if (wide)
      for (const Type t : {Type::i64, Type::u64, Type::f64}) types_.push_back(t);
  }

  Program write() {
    for (Type t : types_) {
      in_.push_back(k_.buffer("in_" + std::string(name_of(t)), t, Access::read));
      out_.push_back(k_.buffer("out_" + std::string(name_of(t)), t, Access::write));
    }
    const Value i = k_.team();
    for (size_t t = 0; t < types_.size(); ++t) {
      pool_.push_back({in_[t][i]});
      pool_[t].push_back(in_[t][(i * 7 + 3) % count]);
      cells_.push_back(k_.variable(pool_[t][0]));
      arrays_.push_back(k_.array(types_[t], 4));
      for (uint32_t j = 0; j < 4; ++j) arrays_[t][j] = pool_[t][j % 2];
    }
    statements(12, 0);
    for (size_t t = 0; t < types_.size(); ++t) out_[t][i] = mix(t, cells_[t], arrays_[t][pick(4)]);
    return k_.finish();
  }

  static constexpr uint32_t count = 97;
  const std::vector<Type>& types() const { return types_; }

 private:
  uint32_t pick(size_t n) { return static_cast<uint32_t>(random_() % n); }

  // Numbers below 0 are the largest of a type that has none.
  Value constant(Type type, int number) {
    if (!is_unsigned(type)) return k_.constant(type, number);
    return k_.constant_bits(type, static_cast<uint64_t>(number) & ~uint64_t{0} >> (64 - bits_of(type)));
  }

  Value value(size_t t) {
    if (pick(6) == 0) return constant(types_[t], static_cast<int>(pick(200)) - 100);
    if (pick(4) == 0) return cells_[t];
    return pool_[t][pick(pool_[t].size())];
  }
  Value condition() {
    const size_t t = pick(types_.size());
    const Value a = value(t), b = value(t);
    switch (pick(4)) {
      case 0: return a < b;
      case 1: return a <= b;
      case 2: return a == b;
      default: return (a != b) || (k_.team() % 3 == pick(3));
    }
  }
  Value mix(size_t t, Value a, Value b) {
    const Type type = types_[t];
    switch (pick(is_float(type) ? 8 : 12)) {
      case 0: return a + b;
      case 1: return a - b;
      case 2: return a * b;
      case 3: return select(condition(), a, b);
      case 4: return min(a, b);
      case 5: return is_float(type) ? fma(a, b, value(t)) : a % b;
      case 6: return is_float(type) ? floor(a) + round_even(b) : -a;
      case 7: return abs(a);
      case 8: return a / b;
      case 9: return (a & b) ^ ~value(t);
      case 10: return a << b;
      default: return (a >> b) | count_ones(a);
    }
  }
  Value fresh(size_t t) {
    if (pick(3) == 0) {
      const size_t from = pick(types_.size());
      return convert(value(from), types_[t]);
    }
    return mix(t, value(t), value(t));
  }

  void statement(int depth) {
    const size_t t = pick(types_.size());
    switch (pick(depth < 3 ? 9 : 4)) {
      case 0: cells_[t] = fresh(t); return;
      case 1: arrays_[t][convert(value(1), Type::u32) & 3] = fresh(t); return;
      case 2: pool_[t].push_back(arrays_[t][convert(value(1), Type::u32) & 3]); return;
      case 3: pool_[t].push_back(fresh(t)); return;
      case 4:
        return scoped([&] {
          k_.if_(
              condition(), [&] { scoped([&] { statements(4, depth + 1); }); },
              [&] { scoped([&] { statements(3, depth + 1); }); });
        });
      case 5: return scoped([&] { k_.if_(condition(), [&] { scoped([&] { statements(3, depth + 1); }); }); });
      case 6:
        return scoped([&] {
          k_.for_(k_.constant(Type::u32, pick(4)), [&](Value) { scoped([&] { statements(3, depth + 1); }); });
        });
      case 7:
        return scoped(
            [&] { k_.for_(value(1) & 3, [&](Value) { scoped([&] { statements(3, depth + 1); }); }); });
      default: {
        const Variable trips = k_.variable(value(1) & 7);
        return scoped([&] {
          k_.while_([&] { return Value(trips) != 0; },
                    [&] {
                      trips = Value(trips) - 1;
                      scoped([&] { statements(3, depth + 1); });
                    });
        });
      }
    }
  }
  void statements(int n, int depth) {
    for (int j = 0; j < n; ++j) statement(depth);
  }
  // Values made inside a block are forgotten after it.
  void scoped(const std::function<void()>& body) {
    const auto before = pool_;
    body();
    pool_ = before;
  }

  std::mt19937_64 random_;
  Builder k_;
  std::vector<Type> types_;
  std::vector<Array> in_, out_, arrays_;
  std::vector<Variable> cells_;
  std::vector<std::vector<Value>> pool_;
};

std::vector<Input> random_inputs(const std::vector<Type>& types, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Input> inputs;
  for (Type t : types) {
    std::vector<std::byte> bytes(Writer::count * size_of(t));
    for (uint32_t j = 0; j < Writer::count; ++j) {
      uint64_t bits = random() >> (random() % 64);
      if (is_float(t))
        bits = bits_of_number(t, static_cast<double>(static_cast<int64_t>(random() % 2001) - 1000) / 8);
      std::memcpy(&bytes[j * size_of(t)], &bits, size_of(t));
    }
    Input in, out;
    in.bytes = bytes;
    out.bytes.resize(bytes.size());
    inputs.push_back(in);
    inputs.push_back(out);
  }
  return inputs;
}

TEST_P(Fuzz, RandomPrograms) {
  const bool wide = on().limits().float64 && on().limits().int64;
  each_seed(20, [&](uint64_t seed) {
    Writer writer(seed, wide);
    const Program program = writer.write();
    check_program(on(), program, Writer::count, random_inputs(writer.types(), seed), 0,
                  on().limits().keeps_denormals ? 0 : 1e-37);
  });
}

}  // namespace
}  // namespace adit::test
