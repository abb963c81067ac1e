// Executables on disk: what is read runs as what was written, and what is damaged is made anew.
#include "compile/stored.hpp"

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <unistd.h>

#include <adit/adit.hpp>

#include "compile/compile.hpp"
#include "devices.hpp"
#include "support/cache.hpp"
#include "tensor/evaluate.hpp"
#include "tensor/executables.hpp"

namespace adit::test {
namespace {

namespace fs = std::filesystem;

class StoredOn : public OnDevice {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("adit-stored-" + std::to_string(::getpid()) + "-" + test_name({GetParam(), 0}));
    fs::remove_all(folder_);
    ::setenv("ADIT_CACHE", folder_.c_str(), 1);
    device_ = Device::open(GetParam());
    set_default_device(device_);
    forget();
  }
  void TearDown() override { fs::remove_all(folder_); }

  // As a new process would: no executable is known.
  static void forget() {
    const size_t most = executables().most();
    executables().set_most(0);
    executables().set_most(most);
  }
  uint64_t files() const {
    uint64_t count = 0;
    if (fs::exists(folder_ / "executables"))
      for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_ / "executables")) ++count;
    return count;
  }
  std::string name_of(const Tensors& roots) const {
    const std::lock_guard lock(graph::graph_lock());
    return compile::stored_name(*device_, compile::describe(roots, 0).key);
  }
  std::shared_ptr<const compile::Executable> load(const Tensors& roots) const {
    const std::string name = name_of(roots);
    const std::lock_guard lock(graph::graph_lock());
    const auto structure = compile::describe(roots, 0);
    return compile::load_stored(*device_, name, structure.inputs.size(), structure.numbers.size());
  }

  fs::path folder_;
  std::shared_ptr<Device> device_;
};
INSTANTIATE_TEST_SUITE_P(Devices, StoredOn, testing::ValuesIn(device_ids()), test_name);

Tensor values(const Shape& shape, float scale) {
  std::vector<float> list(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < list.size(); ++i) list[i] = static_cast<float>(i % 19) * scale - 0.4f;
  return tensor(list, shape);
}

// Loops, rows, products large and small, updates, numbers and constants: every kind of step.
Tensors graph_of_all_kinds(float number) {
  const Tensor x = values({80, 64}, 0.05f), w = values({64, 72}, 0.03f), b = values({72}, 0.1f);
  const Tensor h = tanh(dot(x, w) + b);
  const Tensor p = softmax(h) * number;
  const Tensor where = tensor(std::vector<int64_t>{3, 1, 3, 0}, {4, 1});
  const Tensor table = indexed_add(p, where, slice(h, {0, 0}, {4, 72}));
  const Tensor zeros = indexed_add(full({80, 72}, 0.0), where, slice(h, {4, 0}, {4, 72}));
  return {sum(table * table), transpose(p, {1, 0}), reduce_max(zeros, {0}), reshape(x, {64, 80})};
}

TEST_P(StoredOn, WhatIsReadRunsAsWhatWasWritten) {
  const Tensors first = graph_of_all_kinds(2.5f);
  eval(first);
  EXPECT_EQ(files(), 1u);
  forget();
  const Tensors second = graph_of_all_kinds(2.5f);
  const auto executable = load(second);
  ASSERT_TRUE(executable);
  std::vector<Buffer> inputs;
  std::vector<graph::Literal> numbers;
  {
    const std::lock_guard lock(graph::graph_lock());
    const auto structure = compile::describe(second, 0);
    for (const Tensor& x : structure.inputs) inputs.push_back(x.buffer());
    numbers = number_values(structure.numbers);
  }
  const std::vector<Buffer> results = executable->run(*device_, inputs, numbers);
  for (size_t i = 0; i < first.size(); ++i)
    EXPECT_EQ(from_buffer(first[i].dtype(), first[i].shape(), results[i], device_).to_bytes(),
              first[i].to_bytes())
        << i;
}

TEST_P(StoredOn, AnotherNumberFindsTheSameEntry) {
  eval(graph_of_all_kinds(2.0f));
  forget();
  const Tensors again = graph_of_all_kinds(4.0f);
  EXPECT_TRUE(load(again));
  const uint64_t compiled = device_->statistics().kernels_compiled;
  eval(again);
  EXPECT_EQ(device_->statistics().kernels_compiled, compiled);
  EXPECT_EQ(files(), 1u);
  forget();
  ::setenv("ADIT_CACHE", "", 1);  // made without the disk
  const Tensors fresh = graph_of_all_kinds(4.0f);
  for (size_t i = 0; i < fresh.size(); ++i) EXPECT_EQ(again[i].to_bytes(), fresh[i].to_bytes()) << i;
}

TEST_P(StoredOn, DamagedEntriesAreMadeAnew) {
  const Tensors good = graph_of_all_kinds(3.0f);
  const std::string name = name_of(good);
  eval(good);
  const auto payload = cache::load("executables", name);
  ASSERT_TRUE(payload);
  const auto expect_survival = [&](const std::vector<std::byte>& bytes, bool must_fail) {
    cache::save("executables", name, bytes);  // with a header that says it is whole
    forget();
    const Tensors again = graph_of_all_kinds(3.0f);
    if (must_fail) {
      EXPECT_FALSE(load(again));
      eval(again);
      EXPECT_EQ(again[0].item<float>(), good[0].item<float>());
      EXPECT_TRUE(cache::load("executables", name) == payload) << "the entry was not written again";
    } else {
      load(again);  // whatever it says, it says it without harm
    }
  };
  for (const size_t length :
       {size_t{0}, size_t{7}, size_t{8}, size_t{100}, payload->size() / 2, payload->size() - 1})
    expect_survival({payload->begin(), payload->begin() + static_cast<long>(length)}, true);
  std::vector<std::byte> longer = *payload;
  longer.push_back(std::byte{0});
  expect_survival(longer, true);
  for (size_t i = 0; i < 48; ++i) {  // counts, places and names of the beginning, bit by bit
    std::vector<std::byte> changed = *payload;
    changed[i] ^= std::byte{0x80};
    expect_survival(changed, false);
  }
  for (size_t i = 1; i < 40; ++i) {  // and some of everything else
    std::vector<std::byte> changed = *payload;
    changed[i * (payload->size() - 1) / 40] ^= std::byte{0xff};
    expect_survival(changed, false);
  }
}

TEST_P(StoredOn, AnEntryForOtherInputsIsNotTaken) {
  const Tensors roots = graph_of_all_kinds(3.0f);
  const std::string name = name_of(roots);
  eval(roots);
  EXPECT_FALSE(compile::load_stored(*device_, name, 1, 0));
  EXPECT_FALSE(compile::load_stored(*device_, name + "x", 6, 1));
}

TEST_P(StoredOn, SmallGraphsAndWhatTheHostConductsAreNotStored) {
  (values({5}, 1) * 2.0f + 1.0f).eval();
  EXPECT_EQ(files(), 0u);
  const Tensor x = values({5}, 1);
  const Tensors chosen = cond(
      any(x > 0.0f), [](const Tensors& c) { return Tensors{c[0] * 0.5f}; },
      [](const Tensors& c) { return c; }, {x});
  Tensor y = chosen[0];
  for (int i = 0; i < 40; ++i) y = y * 1.5f - x;
  y.eval();
  EXPECT_EQ(files(), 0u);
}

TEST_P(StoredOn, LoopsThatAreKernelsAreStored) {
  const auto make = [] {
    const Tensor x = values({5}, 1);
    const auto [carry, outputs] = scan(
        [](const Tensors& c, const Tensors& slice) {
          return Step{{c[0] * 0.5f + slice[0]}, {}};
        },
        {x}, {values({4, 5}, 2)});
    Tensor y = carry[0];
    for (int i = 0; i < 40; ++i) y = y * 0.9f - x;
    return y;
  };
  const auto before = make().to_vector<float>();
  EXPECT_EQ(files(), 1u);
  forget();
  const Tensor again = make();
  EXPECT_TRUE(load({again}));
  const uint64_t compiled = device_->statistics().kernels_compiled;
  EXPECT_EQ(again.to_vector<float>(), before);
  EXPECT_EQ(device_->statistics().kernels_compiled, compiled);
}

TEST(Stored, DevicesHaveNamesOfTheirOwn) {
  std::vector<std::string> names;
  for (const std::string& id : device_ids()) names.push_back(compile::stored_name(device(id), {1, 2}));
  for (size_t i = 0; i < names.size(); ++i)
    for (size_t j = 0; j < i; ++j) EXPECT_NE(names[i], names[j]);
  EXPECT_NE(compile::stored_name(device(device_ids()[0]), {1, 2}),
            compile::stored_name(device(device_ids()[0]), {1, 3}));
}

}  // namespace
}  // namespace adit::test
