// The devices a test runs on, and runs of a program on a device beside the interpreter.
#pragma once

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <adit/device.hpp>

#include "interpreter.hpp"
#include "seeds.hpp"

namespace adit::test {

// Every device that can be used, or those that ADIT_TEST_DEVICES lists ("cpu,vulkan:0").
inline std::vector<std::string> device_ids() {
  std::vector<std::string> ids;
  const char* chosen = std::getenv("ADIT_TEST_DEVICES");
  for (const DeviceInfo& d : Device::list())
    if (chosen ? ("," + std::string(chosen) + ",").find("," + d.id + ",") != std::string::npos
               : d.reason.rfind("cannot be used", 0) != 0)
      ids.push_back(d.id);
  return ids;
}

// Opened once a process: opening costs more than most tests.
inline Device& device(const std::string& id) {
  static std::map<std::string, std::shared_ptr<Device>> open;
  auto& slot = open[id];
  if (!slot) slot = Device::open(id);
  return *slot;
}

inline std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::erase(name, ':');
  return name;
}

class OnDevice : public testing::TestWithParam<std::string> {
 protected:
  Device& on() { return device(GetParam()); }
};

// Bytes of each buffer argument, in order; scalars are given as Arguments.
struct Input {
  std::vector<std::byte> bytes;  // a buffer, or
  std::optional<Argument> scalar;

  template <class T>
  static Input buffer(const std::vector<T>& values) {
    Input input;
    input.bytes.resize(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(input.bytes.data(), values.data(), input.bytes.size());
    return input;
  }
  static Input number(Argument argument) {
    Input input;
    input.scalar = argument;
    return input;
  }
};

// The buffers after a run on the device.
inline std::vector<std::vector<std::byte>> run_on(Device& device, const Program& program, uint64_t teams,
                                                  const std::vector<Input>& inputs) {
  std::vector<Argument> arguments;
  for (const Input& input : inputs) {
    if (input.scalar) {
      arguments.push_back(*input.scalar);
      continue;
    }
    const Buffer buffer = device.allocate(input.bytes.size());
    device.write(buffer, input.bytes.data(), input.bytes.size());
    arguments.emplace_back(buffer);
  }
  device.run(*device.compile(program), teams, arguments);
  std::vector<std::vector<std::byte>> results;
  for (const Argument& a : arguments) {
    results.emplace_back(a.is_buffer() ? a.buffer().bytes() : 0);
    if (a.is_buffer()) device.read(a.buffer(), results.back().data(), results.back().size());
  }
  return results;
}

// The same through the interpreter.
inline std::vector<std::vector<std::byte>> run_reference(const Program& program, uint64_t teams,
                                                         const std::vector<Input>& inputs) {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<std::byte> block(program.argument_bytes());
  std::memcpy(block.data(), &teams, 8);
  for (size_t k = 0; k < inputs.size(); ++k) {
    buffers.push_back(inputs[k].bytes);
    const kernel::Parameter& p = program.parameters[k];
    const uint64_t bits =
        inputs[k].scalar ? inputs[k].scalar->bits() : reinterpret_cast<uint64_t>(buffers.back().data());
    std::memcpy(block.data() + p.offset, &bits, p.is_buffer ? 8 : size_of(p.type));
  }
  Interpreter(program, block.data()).run(teams);
  return buffers;
}

inline double number_of(Type type, const std::byte* at) {
  if (type == Type::f32) {
    float f;
    std::memcpy(&f, at, 4);
    return f;
  }
  if (type == Type::f64) {
    double d;
    std::memcpy(&d, at, 8);
    return d;
  }
  uint64_t bits = 0;
  std::memcpy(&bits, at, size_of(type));
  return static_cast<double>(bits);
}

// Bit for bit; floats may differ by `tolerance` (relative), NaN equals NaN, and numbers under `tiny` are
// zeros.
inline void expect_same(const Program& program, const std::vector<std::vector<std::byte>>& got,
                        const std::vector<std::vector<std::byte>>& want, double tolerance = 0,
                        double tiny = 0) {
  int shown = 0;
  for (size_t k = 0; k < got.size(); ++k) {
    const kernel::Parameter& p = program.parameters[k];
    if (!p.is_buffer) continue;
    const size_t size = size_of(p.type);
    for (size_t i = 0; i + size <= want[k].size(); i += size) {
      if (std::memcmp(&got[k][i], &want[k][i], size) == 0) continue;
      const double a = number_of(p.type, &got[k][i]), b = number_of(p.type, &want[k][i]);
      if (is_float(p.type)) {
        if (std::isnan(a) && std::isnan(b)) continue;
        if (std::fabs(a) <= tiny && std::fabs(b) <= tiny) continue;
        if (std::fabs(a - b) <= tolerance * std::fabs(b)) continue;
      }
      if (shown++ < 5)
        ADD_FAILURE() << program.name << ": " << p.name << "[" << i / size << "] is " << a << ", expected "
                      << b;
    }
  }
  if (shown > 0) ADD_FAILURE() << shown << " elements differ in\n" << dump(program).substr(0, 3000);
}

inline void check_program(Device& device, const Program& program, uint64_t teams,
                          const std::vector<Input>& inputs, double tolerance = 0, double tiny = 0) {
  expect_same(program, run_on(device, program, teams, inputs), run_reference(program, teams, inputs),
              tolerance, tiny);
}

// Whether a case is tried: a device in software, which takes long to compile, has one in `of` for each
// commit.
inline bool is_tried(const Device& on, uint64_t number, uint64_t of = 3) {
  return on.info().kind != DeviceKind::software || is_its_turn(number, of);
}
inline bool is_tried(const Device& on, std::string_view name, uint64_t of = 3) {
  return is_tried(on, std::hash<std::string_view>()(name), of);
}

// Of a whole test, which skips itself where it has no turn.
inline bool has_turn_on(const Device& on, uint64_t of) {
  return on.info().kind != DeviceKind::software || has_turn(of);
}

}  // namespace adit::test
