// The pieces of code of docs/tensors.md, docs/sampling.md and README.md, compiled and run; and a check that
// what the pages show is what stands here or in the examples.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>
#include <sstream>
#include <thread>
#include <unistd.h>

#include <adit/adit.hpp>
#include <adit/dlpack.hpp>
#include <adit/explain.hpp>
#include <adit/io.hpp>

#include "devices.hpp"

namespace adit::test {
namespace {

using Floats = std::vector<float>;
namespace fs = std::filesystem;

class Guide : public OnDevice {
 protected:
  void SetUp() override {
    device(GetParam());
    set_default_device(Device::open(GetParam()));
  }
};

TEST_P(Guide, MakingTensors) {
  Tensor a = tensor({{1.0f, 2.0f}, {3.0f, 4.0f}});             // f32 [2, 2]
  Tensor b = tensor(std::vector<double>{1, 2, 3, 4}, {2, 2});  // f64 [2, 2]
  Tensor c = zeros({2, 2}), d = full({2}, 0.5), e = arange(4), f = linspace(0, 1, 5), g = eye(3);
  Tensor z = random::normal(random::key(42), {2, 2});  // the same numbers on every device
  std::cout << a << "\n";                              // tensor([[1., 2.],
                                                       //         [3., 4.]], f32)
  EXPECT_EQ(a.to_string(), "tensor([[1., 2.],\n        [3., 4.]], f32)");
  EXPECT_EQ(b.dtype(), DType::f64);
  EXPECT_EQ(e.to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ((f + sum(c) + sum(d) + sum(g)).to_vector<float>(), (Floats{4, 4.25f, 4.5f, 4.75f, 5}));
  EXPECT_EQ(z.shape(), (Shape{2, 2}));
}

TEST_P(Guide, Laziness) {
  Tensor x = tensor({1.0f, 2.0f, 3.0f});
  Tensor y = sum(x * x);      // no work yet
  float v = y.item<float>();  // one kernel; waits for it
  Floats w = x.to_vector<float>();

  Tensor p = exp(x), q = log(x);
  eval({p, q});  // both together: one kernel, queued and not waited for
  EXPECT_EQ(v, 14);
  EXPECT_EQ(w, (Floats{1, 2, 3}));
  EXPECT_TRUE(p.is_evaluated() && q.is_evaluated());
}

TEST_P(Guide, KernelCounts) {
  Tensor x = tensor({1.0f, 2.0f, 3.0f});
  const auto kernels = [&] { return x.device()->statistics().kernels_run; };
  x.device()->wait();
  uint64_t before = kernels();
  sum(x * x).item<float>();
  EXPECT_EQ(kernels() - before, 1u);
  before = kernels();
  Tensor p = exp(x), q = log(x);
  eval({p, q});
  p.to_vector<float>();
  EXPECT_EQ(kernels() - before, 1u);
}

TEST_P(Guide, Types) {
  Tensor i = tensor({1, 2, 3});              // i32
  Tensor h = i / 2;                          // f32: division of integers gives fractions
  Tensor k = i * 2 + 1;                      // i32: a whole number takes the tensor's type
  Tensor m = i + 0.5;                        // f32
  Tensor n = tensor({1.0, 2.0, 3.0}) * 0.1;  // f64: the number is as exact as the tensor
  Tensor o = i > 1;                          // u8, 0 or 1
  Tensor s = sum(i);                         // i32; sums of 8 and 16 bits are 32 wide
  Tensor t = as_type(i, DType::f16);
  EXPECT_EQ(h.to_vector<float>(), (Floats{0.5f, 1, 1.5f}));
  EXPECT_EQ(k.to_vector<int>(), (std::vector<int>{3, 5, 7}));
  EXPECT_EQ(m.dtype(), DType::f32);
  EXPECT_EQ(n.to_vector<double>(), (std::vector<double>{0.1, 0.2, 3.0 * 0.1}));
  EXPECT_EQ(o.to_vector<bool>(), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(s.item<int>(), 6);
  EXPECT_EQ(t.dtype(), DType::f16);
}

TEST_P(Guide, Comparisons) {
  Tensor x = tensor({0.5f, 2.0f, -1.0f});
  Tensor inside = logical_and(-1 < x, x < 1);
  Tensor clamped = select(x > 0, x, 0);
  if (any(is_nan(x)).item<bool>()) std::cout << "not a number\n";
  EXPECT_EQ(inside.to_vector<uint8_t>(), (std::vector<uint8_t>{1, 0, 0}));
  EXPECT_EQ(clamped.to_vector<float>(), (Floats{0.5f, 2, 0}));
}

TEST_P(Guide, Derivatives) {
  const auto energy = [](Tensor x) { return sum(square(sin(x))); };
  Tensor x = tensor({0.0f, 0.5f, 1.0f});
  Tensor slope = grad(energy)(x);                       // 2 sin(x) cos(x)
  Tensor curvature = hessian(energy)(x);                // [3, 3]
  auto [value, grads] = value_and_grad(energy)(x);      // grads[0] is the slope
  Tensor each = vmap(grad(energy))(stack({x, 2 * x}));  // for each row
  EXPECT_LT(reduce_max(abs(slope - 2 * sin(x) * cos(x))).item<float>(), 1e-6f);
  EXPECT_LT(reduce_max(abs(curvature - eye(3) * (2 * cos(2 * x)))).item<float>(), 1e-5f);
  EXPECT_LT(reduce_max(abs(value - sum(square(sin(x))))).item<float>(), 1e-6f);
  EXPECT_LT(reduce_max(abs(grads[0] - slope)).item<float>(), 1e-6f);
  EXPECT_LT(reduce_max(abs(each - stack({slope, sin(4 * x)}))).item<float>(), 1e-6f);
}

TEST_P(Guide, JitCompilesOnce) {
  const auto step = jit([](Tensor w, Tensor x, Tensor y) {
    return w - 0.1 * grad([&](Tensor v) { return mean(square(matmul(x, v) - y)); })(w);
  });
  Tensor x = random::normal(random::key(1), {20, 3}), y = matmul(x, tensor({1.0f, 2.0f, 3.0f}));
  Tensor w = zeros({3});
  for (int i = 0; i < 100; ++i) w = step(w, x, y);  // compiled at the first call
  EXPECT_LT(reduce_max(abs(w - tensor({1.0f, 2.0f, 3.0f}))).item<float>(), 1e-2f);
  const auto made = [&] {
    const Statistics s = x.device()->statistics();
    return s.kernels_compiled + s.kernels_loaded;
  };
  const uint64_t before = made();
  w = step(w, x, y);
  w.eval();
  EXPECT_EQ(made(), before);
}

TEST_P(Guide, NumbersOfAJitStay) {
  double rate = 0.5;
  const auto scaled = jit([&](Tensor x) { return x * rate; });
  const auto scaled_by = jit([](Tensor x, Tensor r) { return x * r; });
  Tensor x = tensor({2.0f});
  scaled(x);  // x * 0.5
  rate = 2;
  scaled(x);                   // still x * 0.5: the function was called once
  scaled_by(x, tensor(2.0f));  // what changes is an argument
  EXPECT_EQ(scaled(x).item<float>(), 1);
  EXPECT_EQ(scaled_by(x, tensor(2.0f)).item<float>(), 4);
}

// Without jit: the graph is built each time, and found by its structure.
TEST_P(Guide, NewNumbersCompileNothing) {
  Tensor x = tensor({1.0f, 2.0f, 3.0f});
  const auto made = [&] {
    const Statistics s = x.device()->statistics();
    return s.kernels_compiled + s.kernels_loaded;
  };
  const auto run = [&](double number) { return sum(x * number + 0.25).item<float>(); };
  run(2.5);
  const uint64_t before = made();
  EXPECT_EQ(run(3), 18.75f);
  EXPECT_EQ(made(), before);
}

TEST_P(Guide, Explain) {
  Tensor x = ones({64, 64}).eval();
  Tensor y = softmax(x * 2);
  std::cout << explain(y);  // the graph, its kernels, what they move and how long they take
  EXPECT_NE(explain(y, {.times = false}).find("reduce_max"), std::string::npos);
  EXPECT_FALSE(y.is_evaluated());
}

TEST_P(Guide, ControlFlow) {
  Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f});
  // Running sums: the carry goes from slice to slice, outputs are stacked.
  auto [carry, outputs] = scan(
      [](const Tensors& total, const Tensors& slices) {
        Tensor next = total[0] + slices[0];
        return Step{{next}, {next}};
      },
      {zeros({})}, {x});
  // Halved until it is small.
  Tensors small = while_loop([](const Tensors& s) { return s[0] > 0.1; },
                             [](const Tensors& s) { return Tensors{s[0] / 2}; }, {sum(x)});
  Tensors one = cond(
      sum(x) > 5, [](const Tensors& t) { return Tensors{exp(t[0])}; },
      [](const Tensors& t) { return Tensors{t[0]}; }, {x});
  EXPECT_EQ(carry[0].item<float>(), 10);
  EXPECT_EQ(outputs[0].to_vector<float>(), (Floats{1, 3, 6, 10}));
  EXPECT_EQ(small[0].item<float>(), 10.0f / 128);
  EXPECT_NEAR(one[0].to_vector<float>()[1], 7.389056f, 1e-5f);
}

TEST_P(Guide, Files) {
  std::string folder = (fs::temp_directory_path() / "adit-guide-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  Tensor weights = ones({2, 3}), offsets = zeros({3});
  {
    fs::current_path(folder);
    save_npz("fit.npz", {{"weights", weights}, {"offsets", offsets}});
    Tensor w = load_npz("fit.npz").at("weights");
    save_safetensors("fit.safetensors", {{"weights", w}});
    EXPECT_EQ(w.to_vector<float>(), Floats(6, 1));
    EXPECT_EQ(load_safetensors("fit.safetensors").at("weights").shape(), (Shape{2, 3}));
    fs::current_path(fs::temp_directory_path());
  }
  fs::remove_all(folder);
}

TEST_P(Guide, Tables) {
  std::string folder = (fs::temp_directory_path() / "adit-guide-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  {
    fs::current_path(folder);
    std::ofstream("radon.csv") << "county,floor,uranium,log_radon\nLake,0,0.25,1.5\nAnoka,1,2,-0.5\n";
    Table radon = load_csv("radon.csv");
    Tensor y = radon["log_radon"];                       // f64 [rows]
    Tensor inputs = radon.matrix({"floor", "uranium"});  // f64 [rows, 2]
    Tensor county = radon["county"];                     // i64 [rows]: codes of words
    Model model("radon");
    Plate place = model.plate("county", radon.words("county"));  // draws carry the names of the counties
    EXPECT_EQ(y.to_vector<double>(), (std::vector<double>{1.5, -0.5}));
    EXPECT_EQ(inputs.to_vector<double>(), (std::vector<double>{0, 0.25, 1, 2}));
    EXPECT_EQ(county.to_vector<int64_t>(), (std::vector<int64_t>{1, 0}));
    EXPECT_EQ(place.coordinates, (std::vector<std::string>{"Anoka", "Lake"}));
    fs::current_path(fs::temp_directory_path());
  }
  fs::remove_all(folder);
}

TEST_P(Guide, DLPack) {
  Tensor x = tensor({1.0f, 2.0f});
  dlpack::DLManagedTensor* lent = to_dlpack(x);  // whoever takes it calls its deleter
  Tensor y = from_dlpack(lent);                  // copies, and calls it
  EXPECT_EQ(y.to_vector<float>(), (Floats{1, 2}));
}

TEST_P(Guide, Threads) {
  Tensor x = ones({1000});
  std::vector<std::thread> threads;
  std::vector<float> sums(4);
  for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { sums[i] = sum(x * i).item<float>(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums, (Floats{0, 1000, 2000, 3000}));
}

TEST_P(Guide, Devices) {
  if (device_ids().size() < 2 || device_ids().back() != "cpu")
    GTEST_SKIP() << "needs the cpu and another device";
  auto cpu = Device::open("cpu");
  Tensor on_cpu = tensor(std::vector<float>{1, 2}, {2}, cpu);
  Tensor here = to_device(on_cpu, default_device());
  EXPECT_EQ(here.to_vector<float>(), (Floats{1, 2}));
  if (default_device() == cpu) return;
  try {
    on_cpu + here;
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_EQ(std::string(error.what()),
              "[add] device: expected operands of one device, got cpu and " + GetParam());
  }
}

TEST_P(Guide, Errors) {
  try {
    Tensor y = ones({2, 3}) + ones({4});
    FAIL();
  } catch (const Error& error) {
    std::cout << error.what() << "\n";
    EXPECT_EQ(std::string(error.what()), "[add] b: expected a shape that broadcasts with [2, 3], got [4]");
  }
}

TEST_P(Guide, Assignment) {
  Tensor x = tensor({1.0f, 2.0f});
  Tensor old = x;
  x += 1;
  x *= x;
  x -= old;
  x /= 2;
  EXPECT_EQ(x.to_vector<float>(), (Floats{1.5f, 3.5f}));
  EXPECT_EQ(old.to_vector<float>(), (Floats{1, 2}));
}

TEST_P(Guide, NumbersOnTheLeft) {
  Tensor x = tensor({1.0f, 2.0f, 3.0f});
  const auto flags = [](const Tensor& t) { return t.to_vector<bool>(); };
  EXPECT_EQ(flags(2 == x), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(flags(2 != x), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(flags(2 < x), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(flags(2 <= x), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(flags(2 > x), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(flags(2 >= x), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(pow(2, x).to_vector<float>(), (Floats{2, 4, 8}));
  EXPECT_EQ(remainder(tensor({7, 8, 9}), 4).to_vector<int>(), (std::vector<int>{3, 0, 1}));
  EXPECT_EQ(quotient(tensor({7, 8, 9}), 4).to_vector<int>(), (std::vector<int>{1, 2, 2}));
  EXPECT_EQ(tensor(2.5f).rank(), 0);
  EXPECT_EQ(tensor(true).item<bool>(), true);
  EXPECT_EQ(flags(tensor(std::vector<bool>{true, false})), (std::vector<bool>{true, false}));
}

TEST_P(Guide, GradientsOfAList) {
  const auto product = [](const Tensors& p) { return sum(p[0] * p[1]); };
  const Tensors p{tensor({1.0f, 2.0f}), tensor({3.0f, 4.0f})};
  auto [value, grads] = value_and_grad(product)(p);
  ASSERT_EQ(grads.size(), 2u);
  EXPECT_EQ(value.item<float>(), 11);
  EXPECT_EQ(grads[0].to_vector<float>(), (Floats{3, 4}));
  EXPECT_EQ(grads[1].to_vector<float>(), (Floats{1, 2}));
}

// A handle without a tensor throws whatever it is asked.
TEST(GuideErrors, NoTensor) {
  const Tensor none;
  const std::function<void()> questions[] = {[&] { none.dtype(); },
                                             [&] { none.shape(); },
                                             [&] { none.size(); },
                                             [&] { none.device(); },
                                             [&] { none.is_evaluated(); },
                                             [&] { none.eval(); },
                                             [&] { none.buffer(); },

                                             [&] { none.item<float>(); },
                                             [&] { none.to_bytes(); },
                                             [&] { none.rank(); },
                                             [&] { none.dim(0); },
                                             [&] { eval({none}); },
                                             [&] { exp(none); },
                                             [&] { none + 1; },
                                             [&] { 1 < none; },
                                             [&] { to_device(none, Device::open("cpu")); },
                                             [&] { to_dlpack(none); },
                                             [&] { encode_npy(none); },
                                             [&] { grad([](Tensor x) { return sum(x); })(none); },
                                             [&] { vmap([](Tensor x) { return sum(x); })(none); },
                                             [&] { jit([](Tensor x) { return sum(x); })(none); },
                                             [&] { map([](const Tensor& x) { return x; }, none); },
                                             [&] { random::normal(none, {2}); },
                                             [&] {
                                               concatenate({none, none});
                                             },
                                             [&] { stack({none}); },
                                             [&] { explain(none); }};
  for (size_t i = 0; i < std::size(questions); ++i) try {
      questions[i]();
      ADD_FAILURE() << "question " << i << " was answered";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument) << i;
      EXPECT_NE(std::string(error.what()).find("expected a tensor"), std::string::npos)
          << i << ": " << error.what();
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, Guide, testing::ValuesIn(device_ids()), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Guide);

// `if (x < 1)` would ask whether there is a tensor.
static_assert(!std::is_constructible_v<bool, Tensor>);
static_assert(std::is_constructible_v<bool, const Tensor&>);

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string without_space(const std::string& text) {
  std::string dense;
  for (const char c : text)
    if (!std::isspace(static_cast<unsigned char>(c))) dense += c;
  return dense;
}

// What stands between ```cpp and ```.
std::vector<std::string> pieces_of(const std::string& page) {
  std::vector<std::string> pieces;
  for (size_t at = 0; (at = page.find("```cpp\n", at)) != std::string::npos;) {
    at += 7;
    const size_t end = page.find("```", at);
    pieces.push_back(page.substr(at, end - at));
    at = end + 3;
  }
  return pieces;
}

TEST(GuidePages, ShowWhatIsCompiled) {
  const fs::path root = ADIT_SOURCE_FOLDER;
  std::string compiled = without_space(content_of(root / "tests/guide_test.cpp"));
  for (const auto& entry : fs::directory_iterator(root / "examples"))
    if (entry.path().extension() == ".cpp") compiled += without_space(content_of(entry.path()));
  size_t seen = 0;
  for (const char* page : {"docs/tensors.md", "docs/sampling.md", "README.md"})
    for (const std::string& piece : pieces_of(content_of(root / page))) {
      if (piece.find("Builder k(") != std::string::npos) continue;  // examples/decay.cpp, shortened
      ++seen;
      EXPECT_NE(compiled.find(without_space(piece)), std::string::npos) << page << ":\n" << piece;
    }
  EXPECT_GE(seen, 12u);
}

TEST(GuidePages, HackingNamesEveryTest) {
  const fs::path root = ADIT_SOURCE_FOLDER;
  const std::string page = content_of(root / "docs/hacking.md");
  for (const auto& entry : fs::directory_iterator(root / "tests")) {
    const std::string name = entry.path().stem().string();
    if (!name.ends_with("_test")) continue;
    EXPECT_NE(page.find("| `" + name + "` |"), std::string::npos)
        << name << " has no line in docs/hacking.md";
  }
}

// Names of files that the pages tell their readers to open.
TEST(GuidePages, NameFilesThatExist) {
  const fs::path root = ADIT_SOURCE_FOLDER;
  for (const char* page :
       {"README.md", "docs/tensors.md", "docs/sampling.md", "docs/architecture.md", "docs/hacking.md"}) {
    const std::string text = content_of(root / page);
    for (size_t at = 0; (at = text.find('`', at)) != std::string::npos;) {
      const size_t end = text.find('`', at + 1);
      if (end == std::string::npos) break;
      const std::string name = text.substr(at + 1, end - at - 1);
      at = end + 1;
      const bool is_path = name.starts_with("src/") || name.starts_with("tests/") ||
                           name.starts_with("include/") || name.starts_with("examples/");
      if (!is_path || name.find_first_of(" <*$") != std::string::npos) continue;
      EXPECT_TRUE(fs::exists(root / name)) << page << ": " << name;
    }
  }
}

}  // namespace
}  // namespace adit::test
