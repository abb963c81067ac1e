// Convolutions of single planes on a CPU: each plane of x is put into a padded one that stays in the cache,
// where the elements that a result is made of lie at the same distances for all results.
#include <algorithm>
#include <cstring>
#include <vector>

#include "ops/conv.hpp"
#include "support/threads.hpp"

namespace adit::ops {

namespace conv_planes {

constexpr int64_t vectors = 4;  // side by side

// sums[i] = the sum over terms of from[i + offsets[t]] * factors[t], for whole blocks of i.
template <class T>
[[gnu::always_inline]] inline void add_terms(T* sums, int64_t count, const T* from, const int64_t* offsets,
                                             const T* factors, int64_t terms) {
  using Vector [[gnu::vector_size(64)]] = T;
  constexpr int64_t width = 64 / sizeof(T);
  for (int64_t i = 0; i < count; i += vectors * width) {
    Vector total[vectors] = {};
    for (int64_t t = 0; t < terms; ++t) {
      const T* at = from + i + offsets[t];
      for (int64_t v = 0; v < vectors; ++v) {
        Vector some;
        std::memcpy(&some, at + v * width, sizeof(some));
        total[v] += some * factors[t];
      }
    }
    for (int64_t v = 0; v < vectors; ++v) std::memcpy(sums + i + v * width, &total[v], sizeof(Vector));
  }
}

template <class T>
void add_terms_plain(T* sums, int64_t count, const T* from, const int64_t* offsets, const T* factors,
                     int64_t terms) {
  add_terms(sums, count, from, offsets, factors, terms);
}

#if defined(__x86_64__)
template <class T>
[[gnu::target("avx2,fma")]] void add_terms_256(T* sums, int64_t count, const T* from, const int64_t* offsets,
                                               const T* factors, int64_t terms) {
  add_terms(sums, count, from, offsets, factors, terms);
}
template <class T>
[[gnu::target("avx512f")]] void add_terms_512(T* sums, int64_t count, const T* from, const int64_t* offsets,
                                              const T* factors, int64_t terms) {
  add_terms(sums, count, from, offsets, factors, terms);
}
#endif

template <class T>
using AddTerms = void (*)(T*, int64_t, const T*, const int64_t*, const T*, int64_t);

template <class T>
AddTerms<T> best_of_this_cpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return add_terms_512<T>;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return add_terms_256<T>;
#endif
  return add_terms_plain<T>;
}

template <class T>
class Planes {
 public:
  Planes(const ConvShape& conv, const T* x, const T* w, T* result)
      : conv_(conv), lines_(conv.axes[1]), columns_(conv.axes[2]), x_(x), w_(w), result_(result) {
    width_ = columns_.output + (columns_.window - 1) * columns_.dilation;
    height_ = lines_.output + (lines_.window - 1) * lines_.dilation;
    constexpr int64_t block = vectors * 64 / static_cast<int64_t>(sizeof(T));
    const int64_t places = (lines_.output - 1) * width_ + columns_.output;
    count_ = (places + block - 1) / block * block;
    plane_ = height_ * width_ + block;
    for (int64_t channel = 0; channel < conv.channels; ++channel)
      for (int64_t row = 0; row < lines_.window; ++row)
        for (int64_t column = 0; column < columns_.window; ++column)
          offsets_.push_back(channel * plane_ + row * lines_.dilation * width_ + column * columns_.dilation);
  }

  void run() {
    const AddTerms<T> add = best_of_this_cpu<T>();
    const auto groups = static_cast<uint64_t>(conv_.batch * conv_.groups);
    const uint64_t chunk = std::max<uint64_t>(1, groups / (8 * thread_count()));
    parallel(thread_count(), groups, chunk, [&](uint64_t begin, uint64_t end) {
      std::vector<T> padded(static_cast<size_t>(conv_.channels * plane_)), sums(static_cast<size_t>(count_));
      for (uint64_t number = begin; number < end; ++number)
        one_group(static_cast<int64_t>(number), padded, sums, add);
    });
  }

 private:
  void one_group(int64_t number, std::vector<T>& padded, std::vector<T>& sums, AddTerms<T> add) const {
    for (int64_t channel = 0; channel < conv_.channels; ++channel)
      put(x_ + (number * conv_.channels + channel) * conv_.inputs(), padded.data() + channel * plane_);
    const int64_t group = number % conv_.groups;
    for (int64_t filter = 0; filter < conv_.filters; ++filter) {
      add(sums.data(), count_, padded.data(), offsets_.data(),
          w_ + (group * conv_.filters + filter) * conv_.steps(), conv_.steps());
      T* to = result_ + (number * conv_.filters + filter) * conv_.outputs();
      for (int64_t line = 0; line < lines_.output; ++line)
        std::memcpy(to + line * columns_.output, sums.data() + line * width_,
                    static_cast<size_t>(columns_.output) * sizeof(T));
    }
  }

  // What lies outside of x is zero, and stays so.
  void put(const T* x, T* to) const {
    const int64_t from_line = std::max<int64_t>(0, -lines_.low),
                  from_column = std::max<int64_t>(0, -columns_.low);
    const int64_t to_line = std::min(lines_.input, height_ - lines_.low),
                  to_column = std::min(columns_.input, width_ - columns_.low);
    for (int64_t line = from_line; line < to_line && to_column > from_column; ++line)
      std::memcpy(to + (line + lines_.low) * width_ + from_column + columns_.low,
                  x + line * columns_.input + from_column,
                  static_cast<size_t>(to_column - from_column) * sizeof(T));
  }

  const ConvShape& conv_;
  const ConvAxis &lines_, &columns_;
  const T *x_, *w_;
  T* result_;
  int64_t width_, height_, count_, plane_;  // the last two in elements, with room for whole vectors
  std::vector<int64_t> offsets_;
};

}  // namespace conv_planes

bool has_plane_conv(const ConvShape& conv, DType type) {
  const ConvAxis& first = conv.axes[0];
  const bool flat = first.input == 1 && first.window == 1 && first.output == 1 && first.low == 0;
  const bool dense = conv.axes[1].stride == 1 && conv.axes[2].stride == 1 && conv.axes[1].spread == 1 &&
                     conv.axes[2].spread == 1;
  return flat && dense && (type == DType::f32 || type == DType::f64);
}

void plane_conv(const ConvShape& conv, DType type, const void* x, const void* w, void* result) {
  if (type == DType::f32)
    conv_planes::Planes<float>(conv, static_cast<const float*>(x), static_cast<const float*>(w),
                               static_cast<float*>(result))
        .run();
  else
    conv_planes::Planes<double>(conv, static_cast<const double*>(x), static_cast<const double*>(w),
                                static_cast<double*>(result))
        .run();
}

}  // namespace adit::ops
