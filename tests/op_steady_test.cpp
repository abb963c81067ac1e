// Work runs on the device that was asked for, and what runs again compiles and allocates nothing.
#include <set>

#include <adit/transform.hpp>

#include "devices.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"
#include "ops/cases.hpp"

namespace adit::test {
namespace {

class SteadyOn : public OnDevice {
 protected:
  void SetUp() override {
    device_ = Device::open(GetParam());
    set_default_device(device_);
  }
  std::shared_ptr<Device> device_;
};
INSTANTIATE_TEST_SUITE_P(Devices, SteadyOn, testing::ValuesIn(device_ids()), test_name);

std::vector<float> numbers(size_t count) {
  std::vector<float> list(count);
  for (size_t i = 0; i < count; ++i) list[i] = static_cast<float>(i % 17) * 0.1f;
  return list;
}

// One small case of each operation: its kernels run there and nowhere else.
TEST_P(SteadyOn, WorkRunsWhereItWasAsked) {
  std::set<std::string> seen;
  for (const Case& c : all_cases()) {
    if (!c.everywhere() || c.input_types().empty() || seen.contains(c.op())) continue;
    if (c.expected().high.size() + c.expected().bytes.size() == 0) continue;
    Tensors operands;
    for (const Stored& input : c.inputs())
      operands.push_back(from_bytes(input.type, input.shape, input.bytes));
    const Tensor result = ops::call(c.op(), operands, c.attributes());
    if (result.is_evaluated())
      continue;  // the operand itself: the floor of integers, a transpose by no change
    seen.insert(c.op());
    std::map<std::string, uint64_t> before;
    for (const std::string& id : device_ids()) before[id] = device(id).statistics().kernels_run;
    result.to_bytes();
    for (const std::string& id : device_ids()) {
      const uint64_t run = device(id).statistics().kernels_run - before[id];
      // These are the same memory, or work of the host's own code: no kernel at all.
      const graph::Op op = graph::node_of(result).op;
      const bool is_transform =
          op == graph::Op::fft || op == graph::Op::ifft || op == graph::Op::rfft || op == graph::Op::irfft;
      const bool by_library = id == "cpu" && (op == graph::Op::item || is_transform);
      if (id != GetParam()) {
        EXPECT_EQ(run, 0u) << c.describe() << " ran on " << id;
      } else if (op != graph::Op::reshape && op != graph::Op::stop_gradient && !by_library) {
        EXPECT_GT(run, 0u) << c.describe();
      }
    }
    EXPECT_EQ(result.device()->info().id, GetParam());
  }
  EXPECT_GT(seen.size(), 80u);
}

TEST_P(SteadyOn, ARepeatedCompiledCallCompilesAndAllocatesNothing) {
  const auto step = jit([](Tensor w, Tensor x, Tensor y) {
    const auto loss = [&](Tensor v) { return mean(square(tanh(dot(x, v)) - y)); };
    return w - 0.1f * grad(loss)(w);
  });
  const Tensor x = tensor(numbers(64 * 8), {64, 8}), y = tensor(numbers(64), {64});
  Tensor w = tensor(numbers(8), {8});
  for (int i = 0; i < 5; ++i) w = step(w, x, y).eval();
  w.to_bytes();
  const Statistics before = device_->statistics();
  for (int i = 0; i < 20; ++i) w = step(w, x, y).eval();
  w.to_bytes();
  const Statistics after = device_->statistics();
  EXPECT_GT(after.kernels_run, before.kernels_run);
  EXPECT_EQ(after.kernels_compiled, before.kernels_compiled);
  EXPECT_EQ(after.kernels_loaded, before.kernels_loaded);
  EXPECT_EQ(after.blocks, before.blocks);
}

TEST_P(SteadyOn, ARepeatedExpressionCompilesAndAllocatesNothing) {
  const Tensor x = tensor(numbers(1000), {10, 100});
  auto expression = [&](float number) { return softmax(sin(x) * number + sum(x, {1}, true)).to_bytes(); };
  for (int i = 0; i < 5; ++i) expression(1.0f + static_cast<float>(i));
  const Statistics before = device_->statistics();
  for (int i = 0; i < 20; ++i) expression(0.25f * static_cast<float>(i));  // a new number needs no new kernel
  const Statistics after = device_->statistics();
  EXPECT_GT(after.kernels_run, before.kernels_run);
  EXPECT_EQ(after.kernels_compiled, before.kernels_compiled);
  EXPECT_EQ(after.kernels_loaded, before.kernels_loaded);
  EXPECT_EQ(after.blocks, before.blocks);
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
}

// A device that nobody holds is closed; opened again it has kernels of its own.
TEST(Steady, ADeviceIsOpenedAgain) {
  for (const std::string& id : device_ids()) {
    for (int i = 0; i < 3; ++i) {
      set_default_device(Device::open(id));
      const std::vector<float> got = (tensor({1.0f, 2.0f}) * 2.5f).to_vector<float>();
      EXPECT_EQ(got, (std::vector<float>{2.5f, 5.0f}));
      set_default_device(nullptr);
    }
  }
}

}  // namespace
}  // namespace adit::test
