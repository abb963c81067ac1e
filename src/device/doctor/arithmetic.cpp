// Are the numbers right? Halves, doubles and 64-bit integers against the host, subnormals, and whether fma
// rounds once.
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <limits>

#include <adit/kernel/builder.hpp>

#include "device/doctor/child.hpp"
#include "device/doctor/probes.hpp"
#include "support/hash.hpp"

namespace adit::doctor {
namespace {

using namespace kernel;
using Operation = std::function<Value(Value, Value)>;

constexpr uint32_t pairs = 256;

// out[i * operations + j] = operation j of a[i], b[i]
Program elementwise(const std::string& name, Type type, const std::vector<Operation>& operations) {
  Builder k(name, Team::one());
  const Array a = k.buffer("a", type, Access::read), b = k.buffer("b", type, Access::read);
  const Array out = k.buffer("out", type, Access::write);
  const Value i = k.team(), x = a[i], y = b[i];
  for (uint32_t j = 0; j < operations.size(); ++j)
    out[i * static_cast<uint32_t>(operations.size()) + j] = operations[j](x, y);
  return k.finish();
}

// Runs the operations on the device; the results in the order of elementwise().
template <class T>
std::vector<T> run_elementwise(Device& device, const Program& program, const std::vector<T>& a,
                               const std::vector<T>& b, size_t operations) {
  const auto kernel = device.compile(program);
  const Buffer out = device.allocate(a.size() * operations * sizeof(T));
  device.run(*kernel, a.size(), {upload(device, a), upload(device, b), out});
  return read_all<T>(device, out, a.size() * operations);
}

// Any well-mixed bits will do.
uint64_t mix(uint64_t x) { return hash64(x, 0); }

template <class T>
size_t count_wrong(const std::vector<T>& seen, const std::vector<T>& expected) {
  size_t wrong = 0;
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bit for bit is what is meant
  for (size_t i = 0; i < expected.size(); ++i) wrong += std::memcmp(&seen[i], &expected[i], sizeof(T)) != 0;
  return wrong;
}

Finding skipped(const std::string& probe, const std::string& why) {
  return {.probe = probe, .claimed = "no", .measured = "-", .verdict = Verdict::skipped, .note = why};
}

Finding judge(const std::string& probe, size_t wrong, size_t all, std::optional<bool>& profile) {
  profile = wrong == 0;
  return {.probe = probe,
          .claimed = "yes",
          .measured = wrong ? fmt::format("{} of {} results wrong", wrong, all)
                            : fmt::format("{} results right", all),
          .verdict = wrong ? Verdict::broken : Verdict::good};
}

double half_to_double(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const double size = exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
  return bits & 0x8000 ? -size : size;
}

const std::vector<Operation> plus_minus_times{[](Value x, Value y) { return x + y; },
                                              [](Value x, Value y) { return x - y; },
                                              [](Value x, Value y) { return x * y; }};

// Subnormals made, read and kept: half of the smallest normal number, a sum of two, a product that is normal
// again, through fma, and told apart by a comparison. Some drivers keep them in sums and products alone.
template <class T>
size_t lost_subnormals(Device& device, Type type, T smallest_normal, T smallest, T half, T large, T grown,
                       T twice, T halved) {
  const std::vector<Operation> operations{[](Value x, Value y) { return x * y; },
                                          [](Value x, Value) { return x + x; },
                                          [](Value x, Value) { return fma(x, x.like(1), x.like(0)); },
                                          [](Value x, Value) { return select(x < x + x, x, x.like(0)); }};
  const std::vector<T> a{smallest_normal, smallest}, b{half, large};
  const auto seen = run_elementwise(
      device, elementwise(fmt::format("doctor_subnormal_{}", kernel::name_of(type)), type, operations), a, b,
      operations.size());
  size_t lost = 0;
  lost += seen[0] != halved;  // smallest_normal / 2
  lost += seen[4] != grown;   // smallest * large
  lost += seen[5] != twice;   // smallest + smallest
  lost += seen[6] != smallest;
  lost += seen[7] != smallest;
  return lost;
}

Finding judge_subnormals(const std::string& probe, bool claimed, size_t lost) {
  return {.probe = probe,
          .claimed = claimed ? "kept" : "not promised",
          .measured = lost ? "flushed to zero" : "kept",
          .verdict = lost ? Verdict::limited : Verdict::good};
}

}  // namespace

Finding probe_float64(Device& device, Profile& profile) {
  if (!device.limits().float64) return skipped("f64 arithmetic", "the driver does not offer it");
  std::vector<double> a, b, expected;
  for (uint32_t i = 0; i < pairs; ++i) {
    const int scale = static_cast<int>(mix(i + 5000) % 200) - 100;
    a.push_back(std::ldexp(static_cast<double>(mix(i) >> 11), scale - 53));
    b.push_back(-std::ldexp(static_cast<double>(mix(i + 1000) >> 11), scale / 2 - 53));
    for (const double result : {a[i] + b[i], a[i] - b[i], a[i] * b[i]}) expected.push_back(result);
  }
  const auto program = elementwise("doctor_f64", Type::f64, plus_minus_times);
  const auto seen = run_elementwise(device, program, a, b, plus_minus_times.size());
  return judge("f64 arithmetic", count_wrong(seen, expected), expected.size(), profile.float64);
}

Finding probe_float16(Device& device, Profile& profile) {
  const Limits& limits = device.limits();
  if (!limits.float16 || !limits.storage16) return skipped("f16 arithmetic", "the driver does not offer it");
  std::vector<uint16_t> a, b, expected;
  const auto round = [](double x) { return static_cast<uint16_t>(bits_of_number(Type::f16, x)); };
  for (uint32_t i = 0; i < pairs; ++i) {
    // Exponents around one: sums round, products neither overflow nor become subnormal.
    a.push_back(static_cast<uint16_t>((mix(i) & 0x83ff) | ((12 + mix(i + 7000) % 7) << 10)));
    b.push_back(static_cast<uint16_t>((mix(i + 1000) & 0x83ff) | ((12 + mix(i + 9000) % 7) << 10)));
    const double x = half_to_double(a[i]), y = half_to_double(b[i]);
    for (const double result : {x + y, x - y, x * y}) expected.push_back(round(result));
  }
  const auto program = elementwise("doctor_f16", Type::f16, plus_minus_times);
  const auto seen = run_elementwise(device, program, a, b, plus_minus_times.size());
  return judge("f16 arithmetic", count_wrong(seen, expected), expected.size(), profile.float16);
}

Finding probe_int64(Device& device, Profile& profile) {
  if (!device.limits().int64) return skipped("i64 arithmetic", "the driver does not offer it");
  const std::vector<Operation> operations{[](Value x, Value y) { return x + y; },
                                          [](Value x, Value y) { return x - y; },
                                          [](Value x, Value y) { return x * y; },
                                          [](Value x, Value y) { return x / y; },
                                          [](Value x, Value y) { return x % y; },
                                          [](Value x, Value y) { return x >> (y & 63); },
                                          [](Value x, Value y) { return select(x < y, x, y); }};
  std::vector<uint64_t> a, b, expected;
  for (uint32_t i = 0; i < pairs; ++i) {
    a.push_back(mix(i));
    b.push_back((mix(i + 1000) >> (mix(i + 3000) % 60)) | 1);  // of every length, never zero
    const uint64_t x = a[i], y = b[i];
    for (const uint64_t result : {x + y, x - y, x * y, x / y, x % y, x >> (y & 63), x < y ? x : y})
      expected.push_back(result);
  }
  const auto seen =
      run_elementwise(device, elementwise("doctor_i64", Type::u64, operations), a, b, operations.size());
  return judge("i64 arithmetic", count_wrong(seen, expected), expected.size(), profile.int64);
}

Finding probe_denormals32(Device& device, Profile& profile) {
  using Limit = std::numeric_limits<float>;
  const size_t lost = lost_subnormals<float>(device, Type::f32, Limit::min(), Limit::denorm_min(), 0.5f,
                                             0x1p100f, 0x1p-49f, 0x1p-148f, 0x1p-127f);
  profile.keeps_denormals = lost == 0;
  return judge_subnormals("f32 subnormals", device.limits().keeps_denormals, lost);
}

Finding probe_denormals64(Device& device, Profile&) {
  if (!device.limits().float64) return skipped("f64 subnormals", "no f64");
  using Limit = std::numeric_limits<double>;
  const size_t lost = lost_subnormals<double>(device, Type::f64, Limit::min(), Limit::denorm_min(), 0.5,
                                              0x1p500, 0x1p-574, 0x1p-1073, 0x1p-1023);
  return judge_subnormals("f64 subnormals", false, lost);
}

Finding probe_denormals16(Device& device, Profile&) {
  const Limits& limits = device.limits();
  if (!limits.float16 || !limits.storage16) return skipped("f16 subnormals", "no f16");
  const auto half = [](double x) { return static_cast<uint16_t>(bits_of_number(Type::f16, x)); };
  const size_t lost = lost_subnormals<uint16_t>(device, Type::f16, half(0x1p-14), half(0x1p-24), half(0.5),
                                                half(0x1p12), half(0x1p-12), half(0x1p-23), half(0x1p-15));
  return judge_subnormals("f16 subnormals", false, lost);
}

// Where a device is not known to fuse, the code generator composes fma of exact pieces, and a probe in this
// process would admire those. So a child opens the device as if it fused and looks at what the device's own
// fma gives.
int measure_fused_fma(const std::string& device_id) {
  override_profiles({.fused_fma = true});
  const auto device = Device::open(device_id);
  const std::vector<Operation> fused{[](Value x, Value y) { return fma(x, x, y); }};
  std::vector<float> a, b, expected;
  for (uint32_t i = 0; i < pairs; ++i) {
    // The square of 1 + e has bits below the last place of its rounding; y takes the rest away.
    const float x = 1.0f + static_cast<float>(mix(i) % 4096 * 2 + 1) * 0x1p-14f;
    a.push_back(x);
    b.push_back(-(x * x));
    expected.push_back(std::fma(x, x, b[i]));
  }
  const auto seen = run_elementwise(*device, elementwise("doctor_fma", Type::f32, fused), a, b, fused.size());
  fmt::print("wrong {}\n", count_wrong(seen, expected));
  return 0;
}

Finding probe_fused_fma(Device& device, Profile& profile, const std::string& program) {
  const bool claimed = device.limits().fused_fma;
  Finding finding{.probe = "fused fma", .claimed = claimed ? "yes" : "not promised", .measured = "-"};
  const auto skip = [&](const char* why) {
    finding.verdict = Verdict::skipped;
    finding.note = why;
    return finding;
  };
  if (program.empty()) return skip("no program to run it in");
  const ChildResult child = run_child(program, {"probe", "fma", "--device", device.info().id}, 60);
  const size_t word = child.output.find("wrong ");
  if (child.exit_status != 0 || word == std::string::npos) return skip("its process did not end well");
  const bool fused = child.output.substr(word).starts_with("wrong 0\n");
  profile.fused_fma = fused;
  finding.measured = fused ? "rounds once" : "rounds twice";
  finding.verdict = fused ? Verdict::good : claimed ? Verdict::broken : Verdict::limited;
  if (!fused) finding.note = "fma is composed of exact pieces instead";
  return finding;
}

}  // namespace adit::doctor
