// One work at a time, told on standard input, for a script that times others beside it in turns
// (bench/beside.py):
//   work key=value...   makes it ready; "ready", or "error ..." comes back
//   go SECONDS          runs it for about as long; the microseconds of each run come back
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <adit/adit.hpp>

namespace adit::bench {
namespace {

// Where one thread does all, the time that it had: what else runs on the machine hardly counts.
double now() {
  static const bool is_alone = std::getenv("ADIT_THREADS") && std::string(std::getenv("ADIT_THREADS")) == "1";
  timespec time{};
  clock_gettime(is_alone ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Words {
 public:
  explicit Words(const std::string& line) {
    std::istringstream stream(line);
    for (std::string word; stream >> word;)
      if (const size_t at = word.find('='); at != std::string::npos)
        of_[word.substr(0, at)] = word.substr(at + 1);
  }
  std::string text(const std::string& key, const std::string& otherwise = "") const {
    const auto found = of_.find(key);
    return found == of_.end() ? otherwise : found->second;
  }
  int number(const std::string& key, int otherwise) const {
    return of_.contains(key) ? std::stoi(of_.at(key)) : otherwise;
  }
  Dims numbers(const std::string& key) const {
    Dims list;
    std::istringstream stream(text(key));
    for (std::string part; std::getline(stream, part, ',');) list.push_back(std::stoll(part));
    return list;
  }

 private:
  std::map<std::string, std::string> of_;
};

DType type_named(const std::string& name) {
  for (const DType type : {DType::f32, DType::f64, DType::c64, DType::c128, DType::i32, DType::i64, DType::u8,
                           DType::i16, DType::f16})
    if (name == name_of(type)) return type;
  throw std::runtime_error("no type " + name);
}

Tensor drawn(const Shape& shape, DType type, const std::string& pattern = "random") {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> distribution;
  std::vector<double> values(static_cast<size_t>(element_count(shape)));
  for (double& value : values) {
    value = distribution(generator) * (is_float(type) || is_complex(type) ? 1 : 1e4);
    if (pattern == "few") value = std::floor(value * 4 / (is_float(type) ? 1 : 1e4));
    if (pattern == "equal") value = 3;
  }
  if (pattern == "sorted") std::sort(values.begin(), values.end());
  if (pattern == "reversed") std::sort(values.begin(), values.end(), std::greater<>());
  if (is_complex(type)) {
    const Tensor parts = as_type(tensor(values, shape), real_of(type));
    return complex(parts, parts * 0.5).eval();
  }
  const Tensor made = tensor(values, shape);
  return as_type(is_float(type) ? made : as_type(made, DType::i64), type).eval();  // whole ones wrap
}

using Body = std::function<Tensor(const Tensors&)>;
struct Made {
  Tensors arguments;
  Body body;
};

Made convolution(const Words& words, DType type) {
  ConvOptions options;
  options.strides = words.numbers("strides");
  options.kernel_dilation = words.numbers("dilation");
  for (const int64_t each : words.numbers("padding")) options.padding.push_back({each, each, 0});
  options.feature_groups = words.number("groups", 1);
  Tensors given{drawn(words.numbers("x"), type), drawn(words.numbers("w"), type)};
  const std::string what = words.text("what", "forward");
  if (what == "forward") return {given, [=](const Tensors& t) { return conv(t[0], t[1], options); }};
  given.push_back(drawn(conv(given[0], given[1], options).shape(), type));
  return {given, [=](const Tensors& t) {
            const auto loss = [&](const Tensor& x, const Tensor& w) {
              return sum(conv(x, w, options) * t[2]);
            };
            return grad(loss, what == "grad_x" ? 0 : 1)(t[0], t[1]);
          }};
}

Tensor places(const Shape& shape, int64_t below) {
  std::mt19937_64 generator(7);
  std::vector<int32_t> list(static_cast<size_t>(element_count(shape)));
  for (int32_t& place : list) place = static_cast<int32_t>(generator() % static_cast<uint64_t>(below));
  return tensor(list, shape).eval();
}

Made made_of(const Words& words) {
  const DType type = type_named(words.text("type", "f32"));
  const std::string op = words.text("op");
  const Shape shape = words.numbers("x");
  const int axis = words.number("axis", -1);
  if (op == "conv") return convolution(words, type);
  const Tensor x = drawn(shape, type, words.text("pattern", "random"));
  if (op == "sort") return {{x}, [=](const Tensors& t) { return sort(t[0], axis); }};
  if (op == "argsort") return {{x}, [=](const Tensors& t) { return argsort(t[0], axis); }};
  if (op == "fft") return {{x}, [=](const Tensors& t) { return fft(t[0], axis); }};
  if (op == "ifft") return {{x}, [=](const Tensors& t) { return ifft(t[0], axis); }};
  if (op == "rfft") return {{x}, [=](const Tensors& t) { return rfft(t[0], axis); }};
  if (op == "irfft") return {{x}, [=](const Tensors& t) { return irfft(t[0], axis); }};
  if (op == "fft2") return {{x}, [=](const Tensors& t) { return fft2(t[0]); }};
  if (op == "sum") return {{x}, [=](const Tensors& t) { return sum(t[0], {axis}); }};
  if (op == "max") return {{x}, [=](const Tensors& t) { return reduce_max(t[0], {axis}); }};
  if (op == "sum_all") return {{x}, [=](const Tensors& t) { return sum(t[0]); }};
  if (op == "softmax") return {{x}, [=](const Tensors& t) { return softmax(t[0], {axis}); }};
  if (op == "cumsum") return {{x}, [=](const Tensors& t) { return cumulative_sum(t[0], axis); }};
  if (op == "layer_norm")
    return {{x, drawn({shape.back()}, type), drawn({shape.back()}, type)},
            [=](const Tensors& t) { return layer_norm(t[0], t[1], t[2]); }};
  const Shape more = words.numbers("w");
  if (op == "matmul") return {{x, drawn(more, type)}, [=](const Tensors& t) { return matmul(t[0], t[1]); }};
  if (op == "matmul_tanh")
    return {{x, drawn(more, type)}, [=](const Tensors& t) { return tanh(matmul(t[0], t[1])); }};
  if (op == "searchsorted")
    return {{x, drawn(more, type)}, [=](const Tensors& t) { return searchsorted(t[0], t[1]); }};
  if (op == "take") return {{x, places(more, shape[0])}, [=](const Tensors& t) { return take(t[0], t[1]); }};
  if (op == "indexed_add") {
    Shape updates = shape;
    updates[0] = more[0];
    return {{x, places({more[0], 1}, shape[0]), drawn(updates, type)},
            [=](const Tensors& t) { return indexed_add(t[0], t[1], t[2]); }};
  }
  throw std::runtime_error("no work " + op);
}

class Server {
 public:
  void answer(const std::string& line) {
    const std::string verb = line.substr(0, line.find(' '));
    if (verb == "work") {
      made_ = made_of(Words(line));
      compiled_ = std::make_unique<Jit>([body = made_.body](const Tensors& x) { return Tensors{body(x)}; });
      for (int i = 0; i < 2; ++i) run();
      fmt::print("ready\n");
    } else if (verb == "go") {
      const double start = now(), seconds = std::stod(line.substr(3));
      std::string times;
      do {
        const double begin = now();
        run();
        times += fmt::format(" {:.2f}", (now() - begin) * 1e6);
      } while (now() - start < seconds);
      fmt::print("{}\n", times);
    } else {
      fmt::print("error: {}\n", line);
    }
  }

 private:
  void run() {
    kept_ = (*compiled_)(made_.arguments);
    default_device()->wait();
  }
  Made made_;
  std::unique_ptr<Jit> compiled_;
  Tensors kept_;
};

}  // namespace
}  // namespace adit::bench

int main() {
  adit::set_default_device(adit::Device::open("cpu"));
  adit::bench::Server server;
  for (std::string line; std::getline(std::cin, line);) {
    try {
      server.answer(line);
    } catch (const std::exception& error) {
      fmt::print("error: {}\n", error.what());
    }
    std::fflush(stdout);
  }
}
