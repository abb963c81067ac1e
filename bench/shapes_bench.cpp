// Works of any shape, as a list names them: one line a work, {"work", "us", "thr_us"} a line in answer:
// the fastest call that is waited for, and a call in a queue of calls.
//   shapes_bench DEVICE LIST [SECONDS [WAKING]]   LIST: a file of lines such as "conv x=7,13,31,29
//   w=17,13,5,3 p=2,1"
// SECONDS: about how long each kind of timing of a work takes, 0.04 if not said. WAKING: the load before,
// 0.4. shapes_peers.py times the same list with PyTorch and JAX, and makes lists of random shapes.
#include <algorithm>
#include <chrono>
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

// A line of the list: a kind, then names and numbers.
struct Line {
  std::string text, kind;
  std::map<std::string, std::vector<int64_t>> numbers;

  bool has(const std::string& name) const { return numbers.count(name) > 0; }
  std::vector<int64_t> list(const std::string& name) const {
    return has(name) ? numbers.at(name) : std::vector<int64_t>{};
  }
  Shape shape(const std::string& name) const {
    Shape all;
    for (const int64_t extent : list(name)) all.push_back(extent);
    return all;
  }
  Dims dims(const std::string& name) const {
    Dims all;
    for (const int64_t extent : list(name)) all.push_back(extent);
    return all;
  }
  std::vector<Padding> padding(const std::string& name) const {
    std::vector<Padding> all;
    for (const int64_t extent : list(name)) all.push_back({extent, extent, 0});
    return all;
  }
  int64_t one(const std::string& name, int64_t otherwise) const {
    return has(name) ? numbers.at(name)[0] : otherwise;
  }
};

Line parsed(const std::string& text) {
  Line line{text, "", {}};
  std::istringstream words(text);
  words >> line.kind;
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos ||
        word.find_first_not_of("-0123456789,", equals + 1) != std::string::npos)
      throw std::invalid_argument(text + ": expected words such as x=8,16, got " + word);
    std::istringstream rest(word.substr(equals + 1));
    for (std::string number; std::getline(rest, number, ',');)
      line.numbers[word.substr(0, equals)].push_back(std::stoll(number));
  }
  return line;
}

double seconds = 0.04;
// A GPU that waited for the compiler has slowed down, and needs a load of so long to come back: an H200 runs
// at 345 MHz instead of 1,980 after a second, and is three times slower for the first 0.1 s.
double waking = 0.4;

void time(const std::string& work, const Function& f, const Tensors& arguments) {
  const auto device = default_device();
  try {
    const Jit compiled(f);
    Tensors kept;
    const auto call = [&] { kept = compiled(arguments); };
    call();
    device->wait();
    const double compiled_at = now();
    do {
      call();
      device->wait();
    } while (now() - compiled_at < waking);
    double start = now();
    call();
    device->wait();
    const int repeats = std::clamp(static_cast<int>(seconds / std::max(now() - start, 1e-6)), 3, 100);
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
      start = now();
      call();
      device->wait();
      times.push_back(now() - start);
    }
    std::sort(times.begin(), times.end());
    start = now();
    for (int i = 0; i < repeats; ++i) call();
    device->wait();
    fmt::print("{{\"work\": \"{}\", \"peer\": \"adit\", \"us\": {:.2f}, \"thr_us\": {:.2f}}}\n", work,
               times[0] * 1e6, (now() - start) / repeats * 1e6);
  } catch (const std::exception& error) {
    fmt::print("{{\"work\": \"{}\", \"error\": \"{}\"}}\n", work, error.what());
  }
  std::fflush(stdout);
}

// f of the arguments; its gradients by those in `which`, each a work, or all together where `joint`.
void with_gradients(const Line& line, const std::function<Tensor(const Tensors&)>& f, const Tensors& given,
                    const std::vector<std::pair<std::string, int>>& which, bool joint = false) {
  time(
      line.text, [&](const Tensors& x) { return Tensors{f(x)}; }, given);
  if (line.one("forward", 0)) return;
  Tensors arguments = given;
  arguments.push_back(normal(f(given).shape(), f(given).dtype()));
  const auto gradients = [&](const std::vector<int>& places) {
    return [&f, places, &given](const Tensors& x) {
      const Tensors inputs(x.begin(), x.end() - 1);
      const Function loss = [&](const Tensors& y) { return Tensors{sum(f(y) * x.back())}; };
      return value_and_grad_of(loss, inputs, places).grads;
    };
  };
  std::vector<int> all;
  for (const auto& [name, place] : which) {
    all.push_back(place);
    if (!joint) time(line.text + " " + name, gradients({place}), arguments);
  }
  if (joint) time(line.text + " grad", gradients(all), arguments);
}

void convolution(const Line& line) {
  ConvOptions options;
  options.strides = line.dims("s");
  options.padding = line.padding("p");
  options.kernel_dilation = line.dims("d");
  options.feature_groups = line.one("g", 1);
  with_gradients(line, [=](const Tensors& x) { return conv(x[0], x[1], options); },
                 {normal(line.shape("x")), normal(line.shape("w"))}, {{"grad_x", 0}, {"grad_w", 1}});
}

void pooling(const Line& line) {
  const WindowOptions options{line.dims("s"), line.padding("p")};
  const Dims window = line.dims("w");
  const bool largest = line.kind == "max_pool";
  with_gradients(line,
                 [=](const Tensors& x) {
                   return largest ? max_pool(x[0], window, options) : average_pool(x[0], window, options);
                 },
                 {normal(line.shape("x"))}, {{"grad_x", 0}});
}

void attending(const Line& line) {
  AttentionOptions options;
  options.causal = line.one("causal", 0) != 0;
  if (line.has("fused")) options.fused = line.one("fused", 0) != 0;
  const DType type = line.one("half", 0) ? DType::f16 : DType::f32;
  const Shape q = line.shape("q"), k = line.shape("k");
  Shape v = k;
  v[v.size() - 1] = line.one("width", k[k.size() - 1]);
  Tensors given{normal(q, type), normal(k, type), normal(v, type)};
  if (line.one("mask", 0)) given.push_back(normal({q[q.size() - 2], k[k.size() - 2]}, type));
  with_gradients(
      line,
      [=](const Tensors& x) {
        AttentionOptions own = options;
        if (x.size() > 3) own.mask = x[3];
        return attention(x[0], x[1], x[2], own);
      },
      given, {{"q", 0}, {"k", 1}, {"v", 2}}, true);
}

void rowwise(const Line& line) {
  const Shape shape = line.shape("x");
  const int64_t last = shape[shape.size() - 1];
  const std::string kind = line.kind;
  Tensors given{normal(shape)};
  if (kind != "softmax") given.push_back(normal({last}));
  if (kind == "layer_norm") given.push_back(normal({last}));
  std::vector<std::pair<std::string, int>> which;
  for (size_t i = 0; i < given.size(); ++i) which.emplace_back("", static_cast<int>(i));
  with_gradients(
      line,
      [=](const Tensors& x) {
        if (kind == "softmax") return softmax(x[0], {static_cast<int>(line.one("axis", -1))});
        return kind == "layer_norm" ? layer_norm(x[0], x[1], x[2]) : rms_norm(x[0], x[1]);
      },
      given, which, true);
}

// Matrices x=batch,n,n (or m,n), types by double=1 and complex=1; r=: how many right-hand sides, one if none
// is said.
bool is_of_matrices(const std::string& kind) {
  for (const char* one :
       {"cholesky", "lu", "qr", "inverse", "determinant", "triangular", "solve", "least_squares"})
    if (kind == one) return true;
  return false;
}

Tensor matrices(const Line& line, const Shape& shape) {
  const DType type = line.one("double", 0) ? DType::f64 : DType::f32;
  if (!line.one("complex", 0)) return normal(shape, type);
  return complex(normal(shape, type), normal(shape, type)).eval();
}

Tensor turned(const Tensor& x) {
  Axes axes;
  for (int axis = 0; axis < x.rank() - 2; ++axis) axes.push_back(axis);
  axes.push_back(x.rank() - 1), axes.push_back(x.rank() - 2);
  return is_complex(x.dtype()) ? conjugate(transpose(x, axes)) : transpose(x, axes);
}

// A triangle of normal numbers is close to singular: with more on the diagonal it is not.
Tensor heavier(const Tensor& x, double diagonal) {
  const Tensor one = as_type(eye(x.dim(-1)), x.dtype());
  return (x + one * diagonal).eval();
}

void linear(const Line& line) {
  const Shape shape = line.shape("x");
  const std::string kind = line.kind;
  Shape b = shape;
  b[b.size() - 1] = line.one("r", 1);
  const Tensor x = matrices(line, shape);
  const auto size = static_cast<double>(shape[shape.size() - 1]);
  if (kind == "cholesky") {
    const Tensor definite = heavier((matmul(x, turned(x)) / size).eval(), 1);
    return time(line.text, [](const Tensors& t) { return Tensors{cholesky(t[0])}; }, {definite});
  }
  if (kind == "lu")
    return time(line.text,
                [](const Tensors& t) {
                  const LuFactors parts = lu_factor(t[0]);
                  return Tensors{parts.packed, parts.permutation};
                },
                {x});
  if (kind == "qr")
    return time(line.text,
                [](const Tensors& t) {
                  const Qr parts = qr(t[0]);
                  return Tensors{parts.q, parts.r};
                },
                {x});
  if (kind == "inverse") return time(line.text, [](const Tensors& t) { return Tensors{inverse(t[0])}; }, {x});
  if (kind == "determinant")
    return time(line.text, [](const Tensors& t) { return Tensors{determinant(t[0])}; }, {x});
  const Tensor rest = matrices(line, b);
  if (kind == "triangular")
    return time(line.text, [](const Tensors& t) { return Tensors{triangular_solve(t[0], t[1])}; },
                {heavier(x, size), rest});
  if (kind == "solve")
    return time(line.text, [](const Tensors& t) { return Tensors{solve(t[0], t[1])}; }, {x, rest});
  time(line.text, [](const Tensors& t) { return Tensors{least_squares(t[0], t[1])}; }, {x, rest});
}

void transform(const Line& line, const Shape& shape, DType type, int axis) {
  const std::string kind = line.kind;
  const Tensor x =
      kind == "rfft" ? normal(shape, type) : complex(normal(shape, type), normal(shape, type)).eval();
  const auto made = [=](const Tensors& given) {
    const Tensor& z = given[0];
    return Tensors{kind == "fft"     ? fft(z, axis)
                   : kind == "ifft"  ? ifft(z, axis)
                   : kind == "rfft"  ? rfft(z, axis)
                   : kind == "irfft" ? irfft(z, axis)
                                     : fft2(z)};
  };
  time(line.text, made, {x});
}

void run(const Line& line) {
  const int axis = static_cast<int>(line.one("axis", -1));
  const DType type = line.one("double", 0) ? DType::f64 : DType::f32;
  if (line.kind == "conv") return convolution(line);
  if (line.kind == "max_pool" || line.kind == "average_pool") return pooling(line);
  if (line.kind == "attention") return attending(line);
  if (line.kind == "layer_norm" || line.kind == "rms_norm" || line.kind == "softmax") return rowwise(line);
  if (is_of_matrices(line.kind)) return linear(line);
  const Shape shape = line.shape("x");
  if (line.kind == "sum") {
    Axes axes;
    for (const int64_t one : line.list("axis")) axes.push_back(static_cast<int>(one));
    time(line.text, [=](const Tensors& x) { return Tensors{sum(x[0], axes)}; }, {normal(shape, type)});
  }
  if (line.kind == "cumsum")
    time(line.text, [=](const Tensors& x) { return Tensors{cumulative_sum(x[0], axis)}; },
         {normal(shape, type)});
  if (line.kind == "sort")
    time(line.text, [=](const Tensors& x) { return Tensors{sort(x[0], axis)}; }, {normal(shape, type)});
  if (line.kind == "argsort")
    time(line.text, [=](const Tensors& x) { return Tensors{argsort(x[0], axis)}; }, {normal(shape, type)});
  if (line.kind == "top_k")
    time(line.text,
         [&](const Tensors& x) {
           const Sorted found = top_k(x[0], line.one("k", 1));
           return Tensors{found.values, found.places};
         },
         {normal(shape, type)});
  if (line.kind.find("fft") != std::string::npos) return transform(line, shape, type, axis);
  if (line.kind == "matmul")
    time(line.text, [=](const Tensors& x) { return Tensors{matmul(x[0], x[1])}; },
         {matrices(line, shape), matrices(line, line.shape("y"))});
  // Of the lower triangle.
  if (line.kind == "eigh")
    time(line.text,
         [](const Tensors& x) {
           const Eigh parts = eigh(x[0]);
           return Tensors{parts.values, parts.vectors};
         },
         {matrices(line, shape)});
  if (line.kind == "svd")
    time(line.text,
         [](const Tensors& x) {
           const Svd parts = svd(x[0]);
           return Tensors{parts.u, parts.s, parts.v_h};
         },
         {matrices(line, shape)});
}

}  // namespace
}  // namespace adit::bench

int main(int argc, char** argv) try {
  if (argc < 3) {
    fmt::print(stderr, "usage: shapes_bench DEVICE LIST [SECONDS [WAKING]]\n");
    return 2;
  }
  adit::set_default_device(adit::Device::open(argv[1]));
  if (argc > 3) adit::bench::seconds = std::stod(argv[3]);
  if (argc > 4) adit::bench::waking = std::stod(argv[4]);
  std::ifstream list(argv[2]);
  for (std::string text; std::getline(list, text);)
    if (!text.empty() && text[0] != '#') adit::bench::run(adit::bench::parsed(text));
} catch (const std::exception& error) {
  fmt::print(stderr, "shapes_bench: {}\n", error.what());
  return 2;
}
