// Plain operations of any shape, as a list names them: one line a work, {"work", "peer", "us"} in answer: the
// fastest call as a compiled function ("adit"), and as single operations that are evaluated one by one
// ("adit_eager").
//   cliffs_bench DEVICE LIST [SECONDS]   LIST: a file of lines such as "sum type=f32 x=10,1000,13 axis=0"
// cliffs.py draws such lists, times them with NumPy, PyTorch and JAX, and makes the table.
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <adit/adit.hpp>

#include "random_tensors.hpp"

namespace adit::bench {
namespace {

struct Line {
  std::string text, kind;
  std::map<std::string, std::string> words;

  std::string word(const std::string& name, const std::string& otherwise) const {
    const auto it = words.find(name);
    return it == words.end() ? otherwise : it->second;
  }
  std::vector<int64_t> list(const std::string& name) const {
    std::vector<int64_t> all;
    std::istringstream rest(word(name, ""));
    for (std::string number; std::getline(rest, number, ',');) all.push_back(std::stoll(number));
    return all;
  }
  Dims dims(const std::string& name) const {
    Dims all;
    for (const int64_t extent : list(name)) all.push_back(extent);
    return all;
  }
  int axis() const { return static_cast<int>(list("axis").at(0)); }
};

Line parsed(const std::string& text) {
  Line line{text, "", {}};
  std::istringstream words(text);
  words >> line.kind;
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos)
      throw std::invalid_argument(text + ": expected words such as x=8,16, got " + word);
    line.words[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return line;
}

DType type_of(const std::string& name) {
  for (const DType type : {DType::f32, DType::f64, DType::i32, DType::i64, DType::u8})
    if (name == name_of(type)) return type;
  throw std::invalid_argument("no such type: " + name);
}

// Normal numbers, or small whole ones.
Tensor operand(const Shape& shape, DType type) {
  return is_float(type) ? normal(shape, type) : as_type(floor(abs(normal(shape)) * 3.0), type).eval();
}

Tensor places(const Shape& shape, int64_t end) {
  std::uniform_int_distribution<int64_t> distribution(0, end - 1);
  std::vector<int64_t> values(static_cast<size_t>(element_count(shape)));
  for (int64_t& value : values) value = distribution(generator);
  return tensor(values, shape);
}

double seconds = 0.02;

double fastest(const std::function<void()>& call) {
  call();
  double start = now();
  call();
  // Calls too short for the clock are timed several at a time.
  const int together = std::clamp(static_cast<int>(2e-6 / std::max(now() - start, 1e-8)), 1, 16);
  const int repeats = std::clamp(static_cast<int>(seconds / std::max(now() - start, 1e-7)), 5, 2000);
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    start = now();
    for (int j = 0; j < together; ++j) call();
    best = std::min(best, (now() - start) / together);
  }
  return best * 1e6;
}

void time(const Line& line, const Function& f, const Tensors& arguments) {
  const auto device = default_device();
  const auto tell = [&](const char* peer, const std::function<void()>& call) {
    fmt::print("{{\"work\": \"{}\", \"peer\": \"{}\", \"us\": {:.3f}}}\n", line.text, peer, fastest(call));
    std::fflush(stdout);
  };
  try {
    const Jit compiled(f);
    Tensors kept;
    tell("adit", [&] {
      kept = compiled(arguments);
      device->wait();
    });
    tell("adit_eager", [&] {
      kept = f(arguments);
      for (Tensor& result : kept) result.eval();
      device->wait();
    });
  } catch (const std::exception& error) {
    fmt::print("{{\"work\": \"{}\", \"peer\": \"adit\", \"error\": \"{}\"}}\n", line.text, error.what());
  }
}

using One = std::function<Tensor(const Tensor&)>;
using Two = Tensor (*)(const Tensor&, const Tensor&);

bool of_one(const Line& line) {
  static const std::map<std::string, One> all{
      {"negate", negate}, {"abs", abs},    {"sqrt", [](const Tensor& x) { return sqrt(abs(x)); }},
      {"exp", exp},       {"tanh", tanh},  {"square", square},
      {"relu", relu},     {"floor", floor}};
  const auto it = all.find(line.kind);
  if (it == all.end()) return false;
  time(line, [&](const Tensors& x) { return Tensors{it->second(x[0])}; },
       {operand(line.dims("x"), type_of(line.word("type", "f32")))});
  return true;
}

bool of_two(const Line& line) {
  static const std::map<std::string, Two> all{
      {"add", add},
      {"multiply", multiply},
      {"divide", divide},
      {"maximum", maximum},
      {"less", less},
      {"equal", equal},
      {"chain", [](const Tensor& x, const Tensor& y) { return (x + y) * x - y; }},
      {"where", [](const Tensor& x, const Tensor& y) { return select(x < y, x, y * 2.0); }}};
  const auto it = all.find(line.kind);
  if (it == all.end()) return false;
  const DType type = type_of(line.word("type", "f32"));
  const auto x = line.dims("x"), y = line.dims("y");
  time(line, [&](const Tensors& t) { return Tensors{it->second(t[0], t[1])}; },
       {operand(x, type), operand(y, type)});
  return true;
}

bool of_axes(const Line& line) {
  using Reduce = std::function<Tensor(const Tensor&, const Axes&)>;
  static const std::map<std::string, Reduce> all{
      {"sum", [](const Tensor& x, const Axes& axes) { return sum(x, axes); }},
      {"mean", [](const Tensor& x, const Axes& axes) { return mean(x, axes); }},
      {"max", [](const Tensor& x, const Axes& axes) { return reduce_max(x, axes); }},
      {"min", [](const Tensor& x, const Axes& axes) { return reduce_min(x, axes); }},
      {"product", [](const Tensor& x, const Axes& axes) { return product(x, axes); }},
      {"any", [](const Tensor& x, const Axes& axes) { return any(x, axes); }},
      {"variance", [](const Tensor& x, const Axes& axes) { return variance(x, axes); }},
      {"argmax", [](const Tensor& x, const Axes& axes) { return argmax(x, static_cast<int>(axes[0])); }},
      {"softmax", [](const Tensor& x, const Axes& axes) { return softmax(x, axes); }},
      {"logsumexp", [](const Tensor& x, const Axes& axes) { return logsumexp(x, axes); }},
      {"cumsum",
       [](const Tensor& x, const Axes& axes) { return cumulative_sum(x, static_cast<int>(axes[0])); }},
      {"cumprod",
       [](const Tensor& x, const Axes& axes) { return cumulative_product(x, static_cast<int>(axes[0])); }},
      {"cummax",
       [](const Tensor& x, const Axes& axes) { return cumulative_max(x, static_cast<int>(axes[0])); }}};
  const auto it = all.find(line.kind);
  if (it == all.end()) return false;
  const auto axes = line.dims("axis");
  time(line, [&](const Tensors& x) { return Tensors{it->second(x[0], axes)}; },
       {operand(line.dims("x"), type_of(line.word("type", "f32")))});
  return true;
}

bool of_places(const Line& line) {
  const auto x = line.dims("x");
  const Tensor given = operand(x, type_of(line.word("type", "f32")));
  const int axis = line.words.count("axis") ? line.axis() : 0;
  const int64_t count = line.words.count("n") ? line.list("n")[0] : 1;
  if (line.kind == "take") {
    time(line, [&](const Tensors& t) { return Tensors{take(t[0], t[1], axis)}; },
         {given, places({count}, x[axis])});
  } else if (line.kind == "take_along") {
    Shape shape = x;
    shape[axis] = count;
    time(line, [&](const Tensors& t) { return Tensors{take_along_axis(t[0], t[1], axis)}; },
         {given, places(shape, x[axis])});
  } else if (line.kind == "indexed_add" || line.kind == "indexed_put") {
    Shape updates = x;
    updates[0] = count;
    const bool adds = line.kind == "indexed_add";
    time(line,
         [&](const Tensors& t) {
           const Tensor at = reshape(t[1], {count, 1});
           return Tensors{adds ? indexed_add(t[0], at, t[2], {0}) : indexed_put(t[0], at, t[2], {0})};
         },
         {given, places({count}, x[0]), operand(updates, given.dtype())});
  } else {
    return false;
  }
  return true;
}

bool of_copies(const Line& line) {
  const auto x = line.dims("x");
  const DType type = type_of(line.word("type", "f32"));
  const Tensor given = operand(x, type);
  const auto one = [&](const One& f) {
    time(line, [&](const Tensors& t) { return Tensors{f(t[0])}; }, {given});
    return true;
  };
  if (line.kind == "transpose") return one([&](const Tensor& t) { return transpose(t, line.dims("axes")); });
  if (line.kind == "reverse") return one([&](const Tensor& t) { return reverse(t, line.dims("axis")); });
  if (line.kind == "tile") return one([&](const Tensor& t) { return tile(t, line.dims("n")); });
  if (line.kind == "broadcast") return one([&](const Tensor& t) { return broadcast_to(t, line.dims("y")); });
  if (line.kind == "cast")
    return one([&](const Tensor& t) { return as_type(t, type_of(line.word("to", "f32"))); });
  if (line.kind == "slice")
    return one(
        [&](const Tensor& t) { return slice(t, line.dims("from"), line.dims("length"), line.dims("step")); });
  if (line.kind == "pad")
    return one([&](const Tensor& t) {
      std::vector<Padding> all;
      for (const int64_t extent : line.list("p")) all.push_back({extent, extent, 0});
      return pad(t, number_like(t, int64_t{0}), all);
    });
  if (line.kind == "concatenate") {
    time(line, [&](const Tensors& t) { return Tensors{concatenate(t, line.axis())}; },
         {given, operand(line.dims("y"), type)});
    return true;
  }
  return false;
}

void product_of(const Line& line) {
  const DType type = type_of(line.word("type", "f32"));
  const bool ta = line.words.count("ta") > 0, tb = line.words.count("tb") > 0;
  const auto turned = [](const Tensor& x, bool turn) {
    Axes axes;
    for (int axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
    if (turn) std::swap(axes[x.rank() - 1], axes[x.rank() - 2]);
    return turn ? transpose(x, axes) : x;
  };
  time(line, [&](const Tensors& t) { return Tensors{matmul(turned(t[0], ta), turned(t[1], tb))}; },
       {operand(line.dims("x"), type), operand(line.dims("y"), type)});
}

void run(const Line& line) {
  if (line.kind == "matmul") return product_of(line);
  if (of_one(line) || of_two(line) || of_axes(line) || of_places(line) || of_copies(line)) return;
  throw std::invalid_argument("no such work: " + line.text);
}

}  // namespace
}  // namespace adit::bench

int main(int argc, char** argv) try {
  if (argc < 3) {
    fmt::print(stderr, "usage: cliffs_bench DEVICE LIST [SECONDS]\n");
    return 2;
  }
  adit::set_default_device(adit::Device::open(argv[1]));
  if (argc > 3) adit::bench::seconds = std::stod(argv[3]);
  std::ifstream list(argv[2]);
  for (std::string text; std::getline(list, text);)
    if (!text.empty() && text[0] != '#') adit::bench::run(adit::bench::parsed(text));
} catch (const std::exception& error) {
  fmt::print(stderr, "cliffs_bench: {}\n", error.what());
  return 2;
}
