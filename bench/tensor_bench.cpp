// The work of the peers' scripts through the tensor API: one JSON object a line, {"work", "us", "thr_us"}.
// `us`: a call that is waited for; `thr_us`: a call in a queue of calls.
//   tensor_bench DEVICE [word...]   only works whose names contain a word
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <adit/adit.hpp>

#include "random_tensors.hpp"

namespace adit::bench {
namespace {

struct Bench {
  std::vector<std::string> words;

  bool wanted(const std::string& work) const {
    return words.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
             return work.find(word) != std::string::npos;
           });
  }

  // `call` queues the work once.
  void time(const std::string& work, const std::function<void()>& call) const {
    const auto device = default_device();
    for (int i = 0; i < 3; ++i) call();
    device->wait();
    double start = now();
    call();
    device->wait();
    const double one = now() - start;
    const int repeats = std::clamp(static_cast<int>(0.15 / std::max(one, 1e-6)), 5, 200);
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
    const double each = (now() - start) / repeats;
    fmt::print("{{\"work\": \"{}\", \"peer\": \"adit\", \"us\": {:.2f}, \"thr_us\": {:.2f}}}\n", work,
               times[times.size() / 2] * 1e6, each * 1e6);
    std::fflush(stdout);
  }

  // A function of tensors, compiled once.
  void function(const std::string& work, const std::function<std::vector<Tensor>()>& make,
                const std::function<Tensor(const Tensors&)>& f) const {
    if (!wanted(work)) return;
    try {
      const std::vector<Tensor> arguments = make();
      const Jit compiled([f](const Tensors& x) { return Tensors{f(x)}; });
      Tensors kept;
      time(work, [&] { kept = compiled(arguments); });
    } catch (const std::exception& error) {
      fmt::print("{{\"work\": \"{}\", \"error\": \"{}\"}}\n", work, error.what());
    }
  }
};

void elementwise(const Bench& bench) {
  for (const int64_t n : {1024, 16384, 262144, 1 << 20, 1 << 22, 1 << 26})
    bench.function(
        fmt::format("add_f32_{}", n),
        [=] {
          return Tensors{normal({n}), normal({n})};
        },
        [](const Tensors& x) { return x[0] + x[1]; });
  const int64_t n = 1 << 24;
  bench.function(
      "chain_f32_16M",
      [=] {
        return Tensors{normal({n}), normal({n}), normal({n}), normal({n})};
      },
      [](const Tensors& x) { return sigmoid(x[0] * x[1] + x[2]) * tanh(x[3]) - exp(-x[0] * x[0]); });
  // Longer than a kernel may be: passes over memory against the compiler's time.
  for (const int size : {1, 16, 64})
    for (const int count : {1, 5, 20, 40})
      bench.function(
          fmt::format("sines_{}_f32_{}M", count, size),
          [=] { return Tensors{normal({int64_t{size} << 20})}; },
          [count](const Tensors& x) {
            Tensor y = x[0];
            for (int i = 0; i < count; ++i) y = sin(y) + y * 0.1f;
            return y;
          });
}

void reductions(const Bench& bench) {
  bench.function(
      "sum_f32_64M", [] { return Tensors{normal({1 << 26})}; }, [](const Tensors& x) { return sum(x[0]); });
  const auto square_of = [] { return Tensors{normal({8192, 8192})}; };
  bench.function("sum_axis0_8k", square_of, [](const Tensors& x) { return sum(x[0], {0}); });
  bench.function("sum_axis1_8k", square_of, [](const Tensors& x) { return sum(x[0], {1}); });
  bench.function(
      "cumsum_f32_64M", [] { return Tensors{normal({1 << 26})}; },
      [](const Tensors& x) { return cumulative_sum(x[0]); });
  bench.function("cumsum_axis0_8k", square_of, [](const Tensors& x) { return cumulative_sum(x[0], 0); });
  bench.function("cumsum_axis1_8k", square_of, [](const Tensors& x) { return cumulative_sum(x[0], 1); });
  bench.function(
      "cumsum_odd_67M",
      [] {
        return Tensors{normal({3, 22369621})};
      },
      [](const Tensors& x) { return cumulative_sum(x[0], 1, true); });
  bench.function(
      "cummax_f32_64M", [] { return Tensors{normal({1 << 26})}; },
      [](const Tensors& x) { return cumulative_max(x[0]); });
  bench.function(
      "cumprod_f64_16M", [] { return Tensors{normal({1 << 24}, DType::f64)}; },
      [](const Tensors& x) { return cumulative_product(x[0]); });
  bench.function(
      "cumsum_1M", [] { return Tensors{normal({1 << 20})}; },
      [](const Tensors& x) { return cumulative_sum(x[0]); });
  bench.function(
      "cumsum_rows_64k_x_1001",
      [] {
        return Tensors{normal({65536, 1001})};
      },
      [](const Tensors& x) { return cumulative_sum(x[0], 1); });
  bench.function(
      "cumsum_rows_1M_x_60",
      [] {
        return Tensors{normal({1 << 20, 60})};
      },
      [](const Tensors& x) { return cumulative_sum(x[0], 1); });
  bench.function("softmax_8k", square_of, [](const Tensors& x) { return softmax(x[0]); });
  bench.function("transpose_8k", square_of, [](const Tensors& x) { return transpose(x[0]); });
}

void products(const Bench& bench) {
  const auto pair_of = [](int64_t n, DType type) {
    return Tensors{normal({n, n}, type), normal({n, n}, type)};
  };
  const auto run = [&](const std::string& name, DType type, std::initializer_list<int64_t> sizes) {
    for (const int64_t n : sizes)
      bench.function(
          fmt::format("matmul_{}_{}", name, n), [=] { return pair_of(n, type); },
          [](const Tensors& x) { return dot(x[0], x[1]); });
  };
  if (default_device()->info().kind == DeviceKind::cpu) {  // larger ones would take minutes
    run("f32", DType::f32, {64, 256, 1024, 2048});
    run("f64", DType::f64, {256, 1024});
    return;
  }
  run("f32", DType::f32, {64, 256, 1024, 2048, 4096, 8192});
  run("f64", DType::f64, {256, 1024, 4096});
  run("f16", DType::f16, {1024, 4096, 8192});
  run("bf16", DType::bf16, {1024, 4096, 8192});
}

void transforms(const Bench& bench) {
  const auto numbers = [](const Shape& shape, DType type) {
    const DType part = real_of(type);
    return complex(normal(shape, part), normal(shape, part)).eval();
  };
  const auto run = [&](const std::string& name, const Shape& shape, DType type, int axis) {
    bench.function(
        name, [=] { return Tensors{numbers(shape, type)}; },
        [axis](const Tensors& x) { return fft(x[0], axis); });
  };
  run("fft_c64_4096x1024", {4096, 1024}, DType::c64, 1);
  run("fft_c64_16x1M", {16, 1 << 20}, DType::c64, 1);
  run("fft_c64_1000x1000", {1000, 1000}, DType::c64, 1);
  run("fft_c64_512x1021", {512, 1021}, DType::c64, 1);
  run("fft_c64_65536x64", {65536, 64}, DType::c64, 1);
  run("fft_c64_1024x4096", {1024, 4096}, DType::c64, 1);
  run("fft_c64_1x16M", {1, 1 << 24}, DType::c64, 1);
  run("fft_c64_axis0_1024x4096", {1024, 4096}, DType::c64, 0);
  run("fft_c128_1M", {1 << 20}, DType::c128, 0);
  run("fft_c128_2048x1024", {2048, 1024}, DType::c128, 1);
  run("fft_c64_1024", {1024}, DType::c64, 0);
  bench.function(
      "rfft_f32_4096x2048",
      [] {
        return Tensors{normal({4096, 2048})};
      },
      [](const Tensors& x) { return rfft(x[0]); });
  bench.function(
      "irfft_c64_4096x1025",
      [=] {
        return Tensors{numbers({4096, 1025}, DType::c64)};
      },
      [](const Tensors& x) { return irfft(x[0]); });
  bench.function(
      "fft2_c64_16x512x512",
      [=] {
        return Tensors{numbers({16, 512, 512}, DType::c64)};
      },
      [](const Tensors& x) { return fft2(x[0]); });
}

// A convolution and both of its gradients.
void convolution(const Bench& bench, const std::string& name, const Shape& x, const Shape& w,
                 const ConvOptions& options) {
  const auto make = [=] { return Tensors{normal(x), normal(w)}; };
  bench.function("conv_" + name, make, [=](const Tensors& t) { return conv(t[0], t[1], options); });
  const auto gradient = [=](const char* what, int which) {
    const auto with_result = [=] {
      const Tensors given = make();
      return Tensors{given[0], given[1], normal(conv(given[0], given[1], options).shape())};
    };
    bench.function(fmt::format("conv_{}_{}", name, what), with_result, [=](const Tensors& t) {
      const auto loss = [&](const Tensor& y, const Tensor& v) { return sum(conv(y, v, options) * t[2]); };
      return grad(loss, which)(t[0], t[1]);
    });
  };
  gradient("grad_x", 0);
  gradient("grad_w", 1);
}

void windows_and_convolutions(const Bench& bench) {
  ConvOptions same, halved, depthwise;
  same.same = depthwise.same = true;
  halved.strides = {2, 2};
  halved.padding = {{3, 3, 0}, {3, 3, 0}};
  depthwise.feature_groups = 128;
  convolution(bench, "32x64x56x56_64_3x3", {32, 64, 56, 56}, {64, 64, 3, 3}, same);
  convolution(bench, "1x3x224x224_64_7x7_s2", {1, 3, 224, 224}, {64, 3, 7, 7}, halved);
  convolution(bench, "16x64x4096_64_5", {16, 64, 4096}, {64, 64, 5}, same);
  convolution(bench, "depthwise_32x128x28x28_3x3", {32, 128, 28, 28}, {128, 1, 3, 3}, depthwise);
  convolution(bench, "odd_7x13x31x29_17_5x3", {7, 13, 31, 29}, {17, 13, 5, 3}, same);
  const auto image = [] { return Tensors{normal({32, 64, 112, 112})}; };
  bench.function("window_max_pool_2x2", image, [](const Tensors& x) { return max_pool(x[0], {2, 2}); });
  bench.function("window_max_pool_2x2_grad", image, [](const Tensors& x) {
    return grad([](const Tensor& y) { return sum(square(max_pool(y, {2, 2}))); })(x[0]);
  });
  const WindowOptions threes{{2, 2}, {{1, 1, 0}, {1, 1, 0}}};
  bench.function("window_max_pool_3x3_s2", image, [=](const Tensors& x) {
    return max_pool(x[0], {3, 3}, threes);
  });
  bench.function("window_average_pool_2x2", image, [](const Tensors& x) {
    return average_pool(x[0], {2, 2});
  });
  bench.function(
      "window_sum_1000_of_4M", [] { return Tensors{normal({1 << 22})}; },
      [](const Tensors& x) { return window_sum(x[0], {1000}); });
}

// Attention as 8 sequences of 2048 in 16 heads of 64 have it (on a CPU: 1 of 512 in 8), norms, and sums of
// products.
void networks(const Bench& bench) {
  const bool is_small = default_device()->info().kind == DeviceKind::cpu;
  const Shape heads = is_small ? Shape{1, 8, 512, 64} : Shape{8, 16, 2048, 64};
  // By products, and by one kernel.
  for (const DType type : {DType::f32, DType::f16})
    for (const bool causal : {false, true})
      for (const bool fused : {false, true}) {
        if (is_small && (type == DType::f16 || fused)) continue;
        bench.function(
            fmt::format("attention{}{}_{}_{}", fused ? "_fused" : "", causal ? "_causal" : "", name_of(type),
                        heads[2]),
            [=] {
              return Tensors{normal(heads, type), normal(heads, type), normal(heads, type)};
            },
            [=](const Tensors& x) {
              return attention(x[0], x[1], x[2], {.mask = {}, .causal = causal, .scale = {}, .fused = fused});
            });
      }
  const auto rows = [] { return Tensors{normal({8192, 4096}), normal({4096}), normal({4096})}; };
  bench.function("layer_norm_8k_4k", rows, [](const Tensors& x) { return layer_norm(x[0], x[1], x[2]); });
  bench.function("rms_norm_8k_4k", rows, [](const Tensors& x) { return rms_norm(x[0], x[1]); });
  bench.function("layer_norm_grad_8k_4k", rows, [](const Tensors& x) {
    return value_and_grad_of([](const Tensors& y) { return Tensors{sum(sin(layer_norm(y[0], y[1], y[2])))}; },
                             x, {0})
        .grads[0];
  });
  // From the right: matrices times a vector, thrice; from the left it would be products of matrices.
  bench.function(
      "einsum_chain_4",
      [] {
        return Tensors{normal({2048, 2048}), normal({2048, 2048}), normal({2048, 2048}), normal({2048})};
      },
      [](const Tensors& x) { return einsum("ij,jk,kl,l->i", std::span(x)); });
  bench.function(
      "einsum_batch",
      [] {
        return Tensors{normal({64, 256, 256}), normal({64, 256, 256})};
      },
      [](const Tensors& x) { return einsum("bij,bkj->bik", std::span(x)); });
}

void tables(const Bench& bench) {
  const int64_t n = 1 << 22;
  const auto make = [=] { return Tensors{linspace(-4, 4, 1 << 16).eval(), normal({n})}; };
  bench.function("searchsorted_64k_4M", make, [](const Tensors& x) { return searchsorted(x[0], x[1]); });
  bench.function("interpolate_64k_4M", make, [](const Tensors& x) { return interpolate(x[1], x[0], x[0]); });
  bench.function("histogram_100_4M", make, [](const Tensors& x) { return histogram(x[1], 100, -4, 4); });
  bench.function(
      "cdist_f32_2048_64",
      [] {
        return Tensors{normal({2048, 64}), normal({2048, 64})};
      },
      [](const Tensors& x) { return cdist(x[0], x[1]); });
}

void indexing(const Bench& bench) {
  const int64_t n = 1 << 22;
  const auto make = [=] {
    std::vector<int32_t> places(static_cast<size_t>(n));
    for (int32_t& place : places) place = static_cast<int32_t>(generator() % static_cast<uint64_t>(n));
    return Tensors{normal({n}), tensor(places, {n})};
  };
  bench.function("gather_4M", make, [](const Tensors& x) { return take(x[0], x[1]); });
  bench.function("scatter_add_4M", make, [](const Tensors& x) {
    return indexed_add(zeros_like(x[0]), reshape(x[1], {x[1].size(), 1}), x[0]);
  });
}

void sorting(const Bench& bench) {
  const auto many = [](int64_t n) { return [n] { return Tensors{normal({n})}; }; };
  for (const auto& [name, n] :
       {std::pair{"64k", 1 << 16}, {"1M", 1 << 20}, {"5M", 5000000}, {"16M", 1 << 24}, {"64M", 1 << 26}}) {
    bench.function(fmt::format("sort_f32_{}", name), many(n), [](const Tensors& x) { return sort(x[0]); });
    bench.function(fmt::format("argsort_f32_{}", name), many(n),
                   [](const Tensors& x) { return argsort(x[0]); });
  }
  bench.function(
      "sort_equal_16M", [] { return Tensors{ones({1 << 24}).eval()}; },
      [](const Tensors& x) { return sort(x[0]); });
  bench.function(
      "sort_ordered_16M", [] { return Tensors{linspace(0, 1, 1 << 24).eval()}; },
      [](const Tensors& x) { return sort(x[0]); });
  bench.function(
      "sort_f16_16M", [] { return Tensors{normal({1 << 24}, DType::f16)}; },
      [](const Tensors& x) { return sort(x[0]); });
  bench.function(
      "sort_u8_16M", [] { return Tensors{as_type(normal({1 << 24}) * 40 + 128, DType::u8).eval()}; },
      [](const Tensors& x) { return sort(x[0]); });
  bench.function(
      "sort_f64_16M", [] { return Tensors{normal({1 << 24}, DType::f64)}; },
      [](const Tensors& x) { return sort(x[0]); });
  bench.function(
      "sort_rows_64x16k",
      [] {
        return Tensors{normal({64, 16384})};
      },
      [](const Tensors& x) { return sort(x[0]); });
  bench.function(
      "sort_rows_16k_x_1000",
      [] {
        return Tensors{normal({16384, 1000})};
      },
      [](const Tensors& x) { return sort(x[0]); });
  bench.function(
      "sort_axis0_4001x999",
      [] {
        return Tensors{normal({4001, 999})};
      },
      [](const Tensors& x) { return sort(x[0], 0); });
  bench.function(
      "sort_i64_4M", [] { return Tensors{as_type(normal({1 << 22}) * 1e9, DType::i64).eval()}; },
      [](const Tensors& x) { return sort(x[0]); });
}

// All results of a factorisation, so that none is left out.
void linear(const Bench& bench) {
  // `is_wide`: for more sizes, without the works that take long.
  const auto run = [&](const std::string& name, const Shape& shape, bool is_wide = false) {
    const int64_t n = shape.back();
    const auto matrix = [=] { return Tensors{normal(shape)}; };
    const auto positive = [=] {
      const Tensor m = normal(shape);
      Axes order = Dims::counted(m.rank());
      std::swap(order[m.rank() - 1], order[m.rank() - 2]);
      return Tensors{(matmul(m, transpose(m, order)) + static_cast<float>(n) * eye(n)).eval(), m};
    };
    const auto vector = [=] {
      Shape column = shape;
      column[column.size() - 1] = 1;
      return Tensors{positive()[0], normal(column)};
    };
    const auto several = [&](const std::string& op, const std::function<Tensors()>& make,
                             const std::function<Tensors(const Tensors&)>& f) {
      const std::string work = fmt::format("{}_f32_{}", op, name);
      if (!bench.wanted(work)) return;
      try {
        const Tensors arguments = make();
        const Jit compiled(f);
        Tensors kept;
        bench.time(work, [&] { kept = compiled(arguments); });
      } catch (const std::exception& error) {
        fmt::print("{{\"work\": \"{}\", \"error\": \"{}\"}}\n", work, error.what());
      }
    };
    several("cholesky", positive, [](const Tensors& x) { return Tensors{cholesky(x[0])}; });
    several("solve", positive, [](const Tensors& x) { return Tensors{solve(x[0], x[1])}; });
    several("solve_vector", vector, [](const Tensors& x) { return Tensors{solve(x[0], x[1])}; });
    several("triangular", positive, [](const Tensors& x) { return Tensors{triangular_solve(x[0], x[1])}; });
    several("lu", matrix, [](const Tensors& x) {
      const LuFactors parts = lu_factor(x[0]);
      return Tensors{parts.packed, parts.permutation};
    });
    if (is_wide) return;
    several("qr", matrix, [](const Tensors& x) {
      const Qr parts = qr(x[0]);
      return Tensors{parts.q, parts.r};
    });
    several("svd", matrix, [](const Tensors& x) {
      const Svd parts = svd(x[0]);
      return Tensors{parts.u, parts.s, parts.v_h};
    });
    several("eigh", positive, [](const Tensors& x) {
      const Eigh parts = eigh(x[0]);
      return Tensors{parts.values, parts.vectors};
    });
  };
  run("32", {32, 32});
  run("64", {64, 64});
  run("100", {100, 100});
  run("128", {128, 128});
  run("256", {256, 256});
  run("251", {251, 251});
  run("300", {300, 300});
  run("509", {509, 509});
  run("1024", {1024, 1024});
  run("2000", {2000, 2000});
  run("4096x16", {4096, 16, 16});
  run("4096x13", {4096, 13, 13});
  run("512x32", {512, 32, 32});
  for (const int64_t n : {500, 2048, 4096}) run(fmt::format("{}", n), {n, n}, true);
  run("1000x24", {1000, 24, 24}, true);
  run("64x100", {64, 100, 100}, true);
  run("64x64", {64, 64, 64});
  const auto not_square = [&](const std::string& name, const Shape& shape) {
    bench.function(
        "svd_f32_" + name, [=] { return Tensors{normal(shape)}; },
        [](const Tensors& x) {
          const Svd parts = svd(x[0]);
          return sum(parts.u) + sum(parts.s) + sum(parts.v_h);
        });
  };
  not_square("tall_4096x64", {4096, 64});
  not_square("flat_64x4096", {64, 4096});
  not_square("tall_1000x300", {1000, 300});
}

// Tall, flat and odd ones, many small ones, and all of q.
void reflections(const Bench& bench) {
  const auto run = [&](const std::string& name, const Shape& shape, DType type = DType::f32,
                       bool complete = false) {
    const std::string work =
        fmt::format("qr_{}_{}{}", type == DType::f64 ? "f64" : "f32", name, complete ? "_complete" : "");
    if (!bench.wanted(work)) return;
    const Tensors arguments{normal(shape, type)};
    const Jit compiled([=](const Tensors& x) {
      const Qr parts = qr(x[0], complete);
      return Tensors{parts.q, parts.r};
    });
    Tensors kept;
    bench.time(work, [&] { kept = compiled(arguments); });
  };
  run("2048", {2048, 2048});
  run("509x251", {509, 251});
  run("251x509", {251, 509});
  run("4096x64", {4096, 64});
  run("100000x32", {100000, 32});
  run("64x128x64", {64, 128, 64});
  run("128x64", {128, 64, 64});
  run("509x251", {509, 251}, DType::f32, true);
  run("64x128x64", {64, 128, 64}, DType::f32, true);
  run("256", {256, 256}, DType::f64);
  run("1024", {1024, 1024}, DType::f64);
  run("4096x64", {4096, 64}, DType::f64);
  run("512x32", {512, 32, 32}, DType::f64);
}

Tensor counter() { return full_integer({}, 0, DType::i32); }

// A state that is replaced 1000 times.
void while_over(const Bench& bench, const std::string& work, const Shape& shape,
                const std::function<Tensor(const Tensor&)>& next) {
  bench.function(
      work, [&] { return Tensors{normal(shape)}; },
      [&](const Tensors& x) {
        return while_loop([](const Tensors& s) { return s[0] < 1000; },
                          [&](const Tensors& s) {
                            return Tensors{s[0] + 1, next(s[1])};
                          },
                          {counter(), x[0]})[1];
      });
}

void while_loops(const Bench& bench) {
  const auto wave = [](const Tensor& x) { return x * 0.999f + sin(x) * 1e-3f; };
  for (const int64_t n : {256, 1000, 4096, 16384, 65536})
    while_over(bench, fmt::format("while_1000_{}", n), {n}, wave);
  const auto unit = [](const Tensor& x) { return x / sqrt(sum(x * x)) + 1e-3f; };
  while_over(bench, "while_1000_unit_256", {256}, unit);
  for (const int64_t n : {16, 64, 128, 256, 512})
    bench.function(
        fmt::format("while_1000_matvec_{}", n),
        [&] {
          return Tensors{normal({n, n}), normal({n})};
        },
        [](const Tensors& x) {
          return while_loop([](const Tensors& s) { return s[0] < 1000; },
                            [&](const Tensors& s) {
                              return Tensors{s[0] + 1, tanh(dot(x[0], s[1]))};
                            },
                            {counter(), x[1]})[1];
        });
  // Steps of Newton's iteration for a root that moves, so that it goes on.
  bench.function(
      "while_10000_newton", [] { return Tensors{tensor(2.0f)}; },
      [](const Tensors& x) {
        return while_loop([](const Tensors& s) { return s[0] < 10000; },
                          [](const Tensors& s) {
                            const Tensor target = 2.0f + as_type(s[0], DType::f32) * 1e-4f;
                            return Tensors{s[0] + 1, s[1] - (s[1] * s[1] - target) / (2.0f * s[1])};
                          },
                          {counter(), x[0]})[1];
      });
  // The longest way of Collatz below 100,000 begins at 77,031 and has 350 steps.
  bench.function(
      "while_collatz_350", [] { return Tensors{full_integer({}, 77031, DType::i64).eval()}; },
      [](const Tensors& x) {
        return while_loop([](const Tensors& s) { return s[0] != 1; },
                          [](const Tensors& s) {
                            const Tensor odd = bitwise_and(s[0], full_integer({}, 1, DType::i64));
                            const Tensor half = quotient(s[0], full_integer({}, 2, DType::i64));
                            return Tensors{select(odd != 0, s[0] * 3 + 1, half), s[1] + 1};
                          },
                          {x[0], full_integer({}, 0, DType::i64)})[1];
      });
}

// (h, c) of a cell with four gates, over a sequence of inputs.
Step lstm(const Tensor& w, const Tensor& u, const Tensor& xs, int64_t units) {
  return scan(
      [&](const Tensors& carry, const Tensors& x) {
        const Tensor gates = dot(w, x[0]) + dot(u, carry[0]);
        const auto gate = [&](int64_t i) { return slice(gates, {i * units}, {units}); };
        const Tensor c = sigmoid(gate(0)) * carry[1] + sigmoid(gate(1)) * tanh(gate(2));
        const Tensor h = sigmoid(gate(3)) * tanh(c);
        return Step{{h, c}, {h}};
      },
      {zeros({units}), zeros({units})}, {xs});
}

void scans(const Bench& bench) {
  const auto make = [] {
    return Tensors{normal({256, 64}) * 0.1f, normal({256, 64}) * 0.1f, normal({200, 64})};
  };
  bench.function("scan_200_lstm_64", make,
                 [](const Tensors& x) { return lstm(x[0], x[1], x[2], 64).outputs[0]; });
  bench.function("scan_200_lstm_64_grad", make, [](const Tensors& x) {
    const auto loss = [&](const Tensors& p) { return Tensors{sum(lstm(p[0], p[1], x[2], 64).outputs[0])}; };
    return value_and_grad_of(loss, {x[0], x[1]}, {0, 1}).grads[0];
  });
  bench.function(
      "scan_1000_average_256",
      [] {
        return Tensors{normal({1000, 256})};
      },
      [](const Tensors& x) {
        return scan(
                   [](const Tensors& carry, const Tensors& slice) {
                     const Tensor next = carry[0] * 0.9f + slice[0] * 0.1f;
                     return Step{{next}, {next}};
                   },
                   {zeros({256})}, {x[0]})
            .outputs[0];
      });
}

void loops(const Bench& bench) {
  while_loops(bench);
  scans(bench);
}

// One step of gradient descent on a network of dense layers with tanh between.
void training(const Bench& bench, const std::string& work, const std::vector<int64_t>& sizes, int64_t batch) {
  if (!bench.wanted(work)) return;
  Tensors state;
  for (size_t i = 0; i + 1 < sizes.size(); ++i) {
    state.push_back((normal({sizes[i], sizes[i + 1]}) * 0.1).eval());
    state.push_back(zeros({sizes[i + 1]}).eval());
  }
  const size_t count = state.size();
  const Tensor x = normal({batch, sizes.front()}), y = normal({batch, sizes.back()});
  const Function loss = [count](const Tensors& all) -> Tensors {
    Tensor h = all[count];
    for (size_t i = 0; i < count; i += 2) {
      h = dot(h, all[i]) + all[i + 1];
      if (i + 2 < count) h = tanh(h);
    }
    return {mean(square(h - all[count + 1]))};
  };
  std::vector<int> which;
  for (size_t i = 0; i < count; ++i) which.push_back(static_cast<int>(i));
  const Jit step([=](const Tensors& all) {
    const ValueAndGrad result = value_and_grad_of(loss, all, which);
    Tensors next;
    for (size_t i = 0; i < count; ++i) next.push_back(all[i] - 0.01 * result.grads[i]);
    next.push_back(result.value);
    return next;
  });
  bench.time(work, [&] {
    Tensors all = state;
    all.push_back(x);
    all.push_back(y);
    Tensors next = step(all);
    next.pop_back();
    state = next;
  });
}

// A thousand small operations, built and evaluated anew each time.
void lazy(const Bench& bench) {
  if (!bench.wanted("lazy_1000_ops")) return;
  const Tensor x = normal({1024}), y = normal({1024});
  Tensor kept;
  bench.time("lazy_1000_ops", [&] {
    Tensor z = x;
    for (int i = 0; i < 500; ++i) z = (z + y) * 0.5f;
    kept = z.eval();
  });
}

}  // namespace
}  // namespace adit::bench

int main(int argc, char** argv) {
  using namespace adit::bench;
  try {
    if (argc > 1) adit::set_default_device(adit::Device::open(argv[1]));
    Bench bench;
    for (int i = 2; i < argc; ++i) bench.words.emplace_back(argv[i]);
    elementwise(bench);
    reductions(bench);
    products(bench);
    transforms(bench);
    networks(bench);
    tables(bench);
    indexing(bench);
    sorting(bench);
    linear(bench);
    reflections(bench);
    loops(bench);
    windows_and_convolutions(bench);
    training(bench, "train_mlp_4_32_1_b64", {4, 32, 1}, 64);
    training(bench, "train_mlp_784_512_512_10_b1024", {784, 512, 512, 10}, 1024);
    lazy(bench);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tensor_bench: {}\n", error.what());
    return 1;
  }
}
