// Index maps read inside their operands only, also where a select throws the element away: no value shows
// that, so here each read is judged by the kernel that makes it.
#include <adit/ops.hpp>

#include "devices.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::test {
namespace {

using graph::Index;
using graph::Node;
using graph::Op;
using graph::Scalar;
using kernel::Value;

// Reads tensors of i32 from buffers, and counts the reads that are outside.
class JudgingReader final : public graph::Reader {
 public:
  explicit JudgingReader(kernel::Builder& builder)
      : builder_(builder),
        outside_(builder.buffer("outside", kernel::Type::u32, kernel::Access::read_write)) {}

  kernel::Builder& builder() override { return builder_; }
  Scalar read(const Tensor& operand, const Index& at) override {
    const Node& node = graph::node_of(operand);
    if (node.op == Op::constant)
      return {builder_.constant(kernel::Type::i32, node.as<graph::Literal>().integer), {}, false};
    for (int axis = 0; axis < node.shape.size(); ++axis) require(at.coordinate(axis) < node.shape[axis]);
    if (const auto view = graph::row_of(node.op).view) return view(*this, node, at);
    const kernel::Array array =
        builder_.buffer("in" + std::to_string(inputs.size()), kernel::Type::i32, kernel::Access::read);
    inputs.push_back(operand);
    return {array[min(at.linear(), operand.size() - 1)], {}, false};
  }

  std::vector<Tensor> inputs;  // in the order of the kernel's parameters

 private:
  void require(Value good) {
    builder_.if_(!good, [&] {
      outside_.atomic_add(builder_.constant(kernel::Type::u32, 0), builder_.constant(kernel::Type::u32, 1));
    });
  }
  kernel::Builder& builder_;
  kernel::Array outside_;
};

class ViewBounds : public OnDevice {
 protected:
  void SetUp() override { set_default_device(on().shared_from_this()); }
  void TearDown() override { set_default_device(nullptr); }

  uint32_t reads_outside(const Tensor& view) {
    kernel::Builder k("judge", kernel::Team::one());
    JudgingReader reader(k);
    const Array out = k.buffer("out", kernel::Type::i32, kernel::Access::write);
    const Value place = k.team();
    out[place] = reader.read(view, Index(k, view.shape(), place)).re;
    const Program program = k.finish();
    std::vector<Input> inputs{Input::buffer(std::vector<uint32_t>{0}),
                              Input::buffer(std::vector<int32_t>(static_cast<size_t>(view.size())))};
    for (const Tensor& x : reader.inputs) inputs.push_back(Input::buffer(x.to_vector<int32_t>()));
    uint32_t outside = 0;
    const auto bytes = run_on(on(), program, static_cast<uint64_t>(view.size()), inputs);
    std::memcpy(&outside, bytes[0].data(), 4);
    return outside;
  }
  using Array = kernel::Array;
};
INSTANTIATE_TEST_SUITE_P(All, ViewBounds, testing::ValuesIn(device_ids()), test_name);

Tensor numbers(const Shape& shape) {
  std::vector<int32_t> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i);
  return tensor(values, shape);
}

TEST_P(ViewBounds, EveryReadIsInside) {
  const Tensor x = numbers({5, 7}), wild = tensor({-9, 0, 3, 4, 5, 6, 7, 99}), zero = numbers({});
  const Tensor low = tensor(std::vector{-4}, {}), high = tensor(std::vector{40}, {});
  const auto inside = [&](const Tensor& view) {
    EXPECT_EQ(reads_outside(view), 0u) << name_of(graph::node_of(view).op);
  };
  inside(reshape(x, {7, 5}));
  inside(transpose(x));
  inside(broadcast_to(numbers({5, 1}), {3, 5, 7}));
  inside(slice(x, {1, 2}, {4, 5}, {3, 2}));
  inside(reverse(x));
  for (const Tensor& start : {low, zero, high}) {
    inside(dynamic_slice(x, {start, start}, {2, 7}));
    inside(put_slice(x, numbers({2, 3}), {start, start}));
    inside(put_slice(x, numbers({1, 1}), {start, start}));
  }
  for (const Padding p :
       {Padding{1, 2, 0}, {-1, 2, 1}, {3, -2, 2}, {-6, 9, 0}, {9, -6, 1}, {-20, 30, 1}, {30, -20, 1}})
    inside(pad(x, zero, std::vector<Padding>{p, {p.high, p.low, p.interior}}));
  inside(concatenate({x, numbers({5, 0}), numbers({5, 1}), x}, 1));
  inside(take(x, wild, 1));
  inside(gather(x, reshape(wild, {4, 2})));
  inside(take_along_axis(x, broadcast_to(slice(wild, {0}, {7}), {3, 7}), 0));
}

// The judge itself: a slice whose attributes lie is caught.
TEST_P(ViewBounds, TheJudgeSeesAReadOutside) {
  const Tensor x = numbers({5, 7});
  const Tensor wrong =
      graph::make_node(Op::slice, DType::i32, {5, 7}, {x}, graph::SliceAttributes{{1, 0}, {1, 1}});
  EXPECT_EQ(reads_outside(wrong), 7u);
}

}  // namespace
}  // namespace adit::test
