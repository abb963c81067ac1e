// Made-up data of the benchmark's models, with names, so that other programs read the same numbers.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <adit/tensor.hpp>

namespace adit::bench {

// Numbers, whole numbers, or places in another array. Places count from 0 here and from 1 in files, as Stan
// counts.
enum class Kind : uint8_t { real, whole, place };

struct Column {
  std::string name;
  Kind kind = Kind::real;
  Shape shape;
  std::vector<double> values;
};

class Data {
 public:
  void add(const std::string& name, std::vector<double> values, Kind kind = Kind::real);
  void add(const std::string& name, std::vector<double> values, const Shape& shape, Kind kind = Kind::real);
  void add_number(const std::string& name, double value, Kind kind = Kind::real);
  // Numbers are f64, places are i64.
  Tensor operator[](const std::string& name) const;
  int64_t rows(const std::string& name) const;  // extent of the first axis
  void write(const std::string& path) const;

 private:
  const Column& find(const std::string& name) const;
  std::vector<Column> columns_;
};

// What is drawn is rounded, so that files are small and every reader has the same bits.
inline double rounded(double x) { return std::round(x * 1e4) / 1e4; }

class Source {
 public:
  explicit Source(uint64_t seed) : generator_(seed) {}
  double normal(double mean = 0, double sigma = 1) {
    return std::normal_distribution<double>(mean, sigma)(generator_);
  }
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(generator_); }
  double gamma(double shape, double rate) {
    return std::gamma_distribution<double>(shape, 1 / rate)(generator_);
  }
  double poisson(double rate) {
    return static_cast<double>(std::poisson_distribution<int64_t>(rate)(generator_));
  }
  double bernoulli(double logit) { return uniform() < 1 / (1 + std::exp(-logit)) ? 1 : 0; }
  std::vector<double> normals(int64_t count, double mean = 0, double sigma = 1) {
    std::vector<double> x(static_cast<size_t>(count));
    for (double& each : x) each = rounded(normal(mean, sigma));
    return x;
  }

 private:
  std::mt19937_64 generator_;
};

// Groups 0, 0, ..., 1, 1, ..., of `each` rows.
std::vector<double> in_groups(int64_t groups, int64_t each);
// Of a matrix with rows of `w`'s size, row-major: row `i` times w.
double row_times(const std::vector<double>& x, int64_t i, const std::vector<double>& w);

}  // namespace adit::bench
