#include "posterior/draws_bytes.hpp"

#include <type_traits>

namespace adit {
namespace {

// Each structure's fields once, for both directions. The bindings name every field: one that is added later
// does not compile until it is here.
template <class Archive, class Each>
void fields(Archive& archive, Each& one) requires std::is_same_v<std::remove_const_t<Each>, SampleStats> {
  auto& [lp, accept_stat, step_size, tree_depth, n_leapfrog, divergent, energy] = one;
  archive(lp, accept_stat, step_size, tree_depth, n_leapfrog, divergent, energy);
}

template <class Archive, class Each>
void fields(Archive& archive, Each& one) requires std::is_same_v<std::remove_const_t<Each>, Seconds> {
  auto& [open, compile, warmup, sampling, total] = one;
  archive(open, compile, warmup, sampling, total);
}

template <class Archive, class Each>
void fields(Archive& archive,
            Each& one) requires(std::is_same_v<std::remove_const_t<Each>, DrawsVariable> ||
                                std::is_same_v<std::remove_const_t<Each>, ObservedVariable>) {
  auto& [name, shape, dims, values] = one;
  archive(name, shape, dims, values);
}

template <class Archive, class Each>
void fields(Archive& archive, Each& one) requires std::is_same_v<std::remove_const_t<Each>, Draws> {
  auto& [model, chains, draws, warmup, thin, max_depth, seed, adapt_delta, device, precision, metric, layout,
         inits, variables, stats, warmup_draws, warmup_variables, warmup_stats, observed, log_likelihood,
         posterior_predictive, coordinates, step_sizes, inverse_metrics, seconds, leapfrogs,
         warmup_divergences, energy_error, gradient_error, energy_error_before, gradient_error_before, wider,
         finished, notes] = one;
  archive(model, chains, draws, warmup, thin, max_depth, seed, adapt_delta, device, precision, metric, layout,
          inits, variables, stats, warmup_draws, warmup_variables, warmup_stats, observed, log_likelihood,
          posterior_predictive, coordinates, step_sizes, inverse_metrics, seconds, leapfrogs,
          warmup_divergences, energy_error, gradient_error, energy_error_before, gradient_error_before, wider,
          finished, notes);
}

class Writer {
 public:
  template <class... Each>
  void operator()(const Each&... each) {
    (write(each), ...);
  }
  Bytes bytes;

 private:
  void append(const void* data, size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + size);
  }
  template <class T>
  void write(const T& value) {
    if constexpr (std::is_arithmetic_v<T>)
      append(&value, sizeof value);
    else
      fields(*this, value);
  }
  void write(const std::string& text) {
    write(uint64_t{text.size()});
    append(text.data(), text.size());
  }
  void write(const Shape& shape) {
    write(uint64_t{static_cast<uint64_t>(shape.size())});
    for (const int64_t length : shape) write(length);
  }
  void write(const std::vector<double>& numbers) {
    write(uint64_t{numbers.size()});
    append(numbers.data(), numbers.size() * sizeof(double));
  }
  template <class T>
  void write(const std::vector<T>& list) {
    write(uint64_t{list.size()});
    for (const T& each : list) write(each);
  }
  void write(const std::map<std::string, std::vector<std::string>>& map) {
    write(uint64_t{map.size()});
    for (const auto& [key, value] : map) (*this)(key, value);
  }
};

class Reader {
 public:
  Reader(const Place& place, ByteSpan bytes) : place_(place), rest_(bytes) {}
  template <class... Each>
  void operator()(Each&... each) {
    (read(each), ...);
  }
  void expect_end() const {
    if (!rest_.empty()) fail();
  }

 private:
  [[noreturn]] void fail() const {
    place_.fail("expected draws from the process that read it, got other bytes");
  }
  void copy(void* to, size_t size) {
    if (size > rest_.size()) fail();
    if (size > 0) std::memcpy(to, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }
  // Of elements that take at least `each` bytes, so that no count asks for more memory than the bytes are
  // worth.
  size_t count(size_t each) {
    uint64_t value = 0;
    read(value);
    if (value > rest_.size() / each) fail();
    return value;
  }
  template <class T>
  void read(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      uint8_t byte = 0;
      copy(&byte, 1);
      value = byte != 0;
    } else if constexpr (std::is_arithmetic_v<T>) {
      copy(&value, sizeof value);
    } else {
      fields(*this, value);
    }
  }
  void read(std::string& text) {
    text.resize(count(1));
    copy(text.data(), text.size());
  }
  void read(Shape& shape) {
    const size_t rank = count(sizeof(int64_t));
    if (rank > static_cast<size_t>(max_rank)) fail();
    shape = Shape::filled(static_cast<int>(rank), 0);
    for (int axis = 0; axis < shape.size(); ++axis) {
      read(shape[axis]);
      if (shape[axis] < 0) fail();
    }
  }
  void read(std::vector<double>& numbers) {
    numbers.resize(count(sizeof(double)));
    copy(numbers.data(), numbers.size() * sizeof(double));
  }
  template <class T>
  void read(std::vector<T>& list) {
    const size_t size = count(1);
    for (size_t i = 0; i < size; ++i) read(list.emplace_back());
  }
  void read(std::map<std::string, std::vector<std::string>>& map) {
    const size_t size = count(1);
    for (size_t i = 0; i < size; ++i) {
      std::string key;
      read(key);
      read(map[key]);
    }
  }

  const Place& place_;
  ByteSpan rest_;
};

}  // namespace

Bytes to_bytes(const Draws& draws) {
  Writer writer;
  writer(draws);
  return std::move(writer.bytes);
}

Draws draws_of(const Place& place, ByteSpan bytes) {
  Reader reader(place, bytes);
  Draws draws;
  reader(draws);
  reader.expect_end();
  return draws;
}

}  // namespace adit
