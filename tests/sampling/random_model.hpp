// Random models: plates, one to three indices, mixtures, factorisations, loops, choices, constraints. A seed
// says which.
#pragma once

#include <random>
#include <string>
#include <vector>

#include <adit/adit.hpp>

namespace adit::test {

class RandomModel {
 public:
  explicit RandomModel(uint64_t seed) : random_(seed), model_("random " + std::to_string(seed)) {}

  Model make() {
    rows_ = pick({1, 2, 7, 31, 33, 40, 64, 97, 150});
    scale_ = model_.sample("scale", pick({0, 1}) ? exponential(1) : half_normal(1));
    Tensor level = model_.sample("level", normal(0, 1)) + zeros({rows_}, DType::f64);
    const int64_t parts = pick({1, 2, 3, 4});
    for (int64_t i = 0; i < parts; ++i) level = level + part(i);
    observe(0.3 * level);
    for (int64_t i = pick({0, 0, 1, 2}); i > 0; --i) extra(i);
    return std::move(model_);
  }

 private:
  int64_t pick(std::initializer_list<int64_t> of) {
    return of.begin()[std::uniform_int_distribution<size_t>(0, of.size() - 1)(random_)];
  }
  Tensor numbers(const Shape& shape) {
    std::normal_distribution<double> normal_numbers;
    std::vector<double> values(static_cast<size_t>(element_count(shape)));
    for (double& v : values) v = normal_numbers(random_);
    return tensor(std::span<const double>(values), shape);
  }
  // Places below `below`: even, all at one, or most at few.
  Tensor places(int64_t count, int64_t below) {
    const int64_t how = pick({0, 0, 1, 2});
    std::vector<int64_t> values(static_cast<size_t>(count));
    for (int64_t& v : values) {
      const double u = std::uniform_real_distribution<double>(0, 1)(random_);
      v = std::min(below - 1, static_cast<int64_t>(static_cast<double>(below) * (how == 2 ? u * u * u : u)));
      if (how == 1) v = below / 2;
    }
    return tensor(values);
  }
  std::string name(const char* base, int64_t number) { return base + std::to_string(number); }
  Tensor scalar(double value) { return full({}, value, DType::f64); }

  // [rows]
  Tensor part(int64_t number) {
    switch (pick({0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9})) {
      case 0: return groups(number);
      case 1: return slopes(number);
      case 2: return nested(number);
      case 3: return product(number);
      case 4: return grid(number);
      case 5: return filtered(number);
      case 6: return walk(number);
      case 7: return process(number);
      case 8: return chosen(number);
      default: return written(number);
    }
  }

  Tensor groups(int64_t number) {
    const int64_t count = pick({1, 2, 17, 32, 33, 60, 101});
    const auto form = pick({0, 1}) ? Form::centred : Form::non_centred;
    const Tensor effect = model_.sample(name("group", number), normal(0.1, scale_), {count}, form);
    const Tensor index = model_.data(name("index", number), places(rows_, count));
    const Tensor taken = take(effect, index);
    return pick({0, 1}) ? taken : tanh(taken) * model_.data(name("weight", number), numbers({rows_}));
  }
  Tensor slopes(int64_t number) {  // one row of coefficients a group, or two vectors with one index
    const int64_t count = pick({3, 20, 40}), columns = pick({2, 3});
    const Tensor x = model_.data(name("x", number), numbers({rows_, columns}));
    const Tensor index = model_.data(name("index", number), places(rows_, count));
    const Tensor b = model_.sample(name("slope", number), normal(0, 1), {count, columns});
    return sum(take(b, index, 0) * x, {1});
  }
  Tensor nested(int64_t number) {
    const int64_t outer = pick({4, 35}), inner = pick({9, 50});
    const Tensor a = model_.sample(name("outer", number), normal(0, 1), {outer});
    const Tensor z = model_.sample(name("inner", number), normal(0, 1), {inner});
    const Tensor both = take(a, places(inner, outer)) + scale_ * z;
    return take(both, places(rows_, inner)) * 0.5;
  }
  Tensor product(int64_t number) {
    const int64_t columns = pick({1, 4, 7, 33, 50});
    const Tensor b = model_.sample(name("b", number), normal(0, scale_), {columns});
    return dot(model_.data(name("matrix", number), numbers({rows_, columns})), b);
  }
  Tensor grid(int64_t number) {  // a matrix of variables with two indices
    const int64_t a = pick({2, 12, 40}), b = pick({3, 8});
    const Tensor m = model_.sample(name("grid", number), normal(0, 1), {a, b});
    const Tensor i = reshape(places(rows_, a), {rows_, 1}), j = reshape(places(rows_, b), {rows_, 1});
    return gather(m, concatenate({i, j}, 1), {0, 1});
  }
  Tensor filtered(int64_t number) {  // a loop over the rows
    const Tensor a = model_.sample(name("memory", number), beta(2, 2));
    const Tensor x = model_.data(name("input", number), numbers({rows_}));
    const bool reverse = pick({0, 1}), wide = pick({0, 0, 1});
    const Tensor start = wide ? model_.sample(name("start", number), normal(0, 1), {40}) : scale_ * a;
    const Step all = scan(
        [&](const Tensors& carry, const Tensors& slices) -> Step {
          const Tensor next = a * tanh(carry[0]) + slices[0] * scale_;
          return {{next}, {wide ? sum(next) * 0.05 : next}};
        },
        {start}, {x}, -1, reverse);
    return all.outputs[0] + sum(all.carry[0]) * 0.01;
  }
  Tensor walk(int64_t number) {
    return model_.sample(name("walk", number), gaussian_random_walk(scale_, rows_));
  }
  Tensor process(int64_t number) {  // a Gaussian process at few places
    const int64_t count = pick({2, 5, 9, 33});
    const Tensor x = numbers({count, 1});
    const Tensor length = model_.sample(name("length", number), exponential(1));
    const Tensor apart = square(x - transpose(x, {1, 0}));
    const Tensor kernel = exp(-apart / (1 + length)) + 0.5 * as_type(eye(count), DType::f64);
    const Tensor z = model_.sample(name("z", number), normal(0, 1), {count});
    return take(dot(cholesky(kernel), z), places(rows_, count));
  }
  Tensor chosen(int64_t number) {
    const Tensor a = model_.sample(name("choice", number), normal(0, 1));
    const Tensor b = model_.sample(name("other", number), normal(0, 1), {pick({3, 36})});
    const Tensors one = cond(
        greater(a, scalar(0.05)), [&](const Tensors&) -> Tensors { return {b * exp(0.3 * a)}; },
        [&](const Tensors&) -> Tensors { return {sin(b) + a}; }, {});
    return take(one[0], places(rows_, b.size()));
  }
  Tensor written(int64_t number) {  // some elements replaced by others
    const int64_t count = pick({4, 50}), updates = pick({1, 2, 20});
    const Tensor b = model_.sample(name("before", number), normal(0, 1), {count});
    const Tensor c = model_.sample(name("after", number), normal(0, 1), {updates});
    const Tensor at = reshape(places(updates, count), {updates, 1});
    const Tensor changed = pick({0, 1}) ? indexed_put(b, at, c * scale_) : indexed_add(b, at, c * scale_);
    return take(changed, places(rows_, count));
  }

  void observe(const Tensor& level) {
    switch (pick({0, 1, 2, 3, 4, 5})) {
      case 0: return model_.observe("y", normal(level, scale_ + 0.1), numbers({rows_}));
      case 1: return model_.observe("y", poisson_log(level), places(rows_, 7));
      case 2: return model_.observe("y", bernoulli_logit(level), places(rows_, 2));
      case 3: return model_.observe("y", neg_binomial_2(exp(level), 1 + scale_), places(rows_, 9));
      case 4: return model_.observe("y", student_t(4, level, scale_ + 0.2), numbers({rows_}));
      default: {
        const Tensor w = model_.sample("mixed", beta(2, 3));
        model_.observe("y", mixture(stack({w, 1 - w}), {normal(level, 1), normal(-level, scale_ + 0.5)}),
                       numbers({rows_}));
      }
    }
  }

  void extra(int64_t number) {
    switch (pick({0, 1, 2, 3})) {
      case 0: {
        const int64_t size = pick({2, 3, 6});
        const Tensor factor = model_.sample(name("corr", number), lkj_corr_cholesky(size, 2.0));
        const Tensor mean = model_.sample(name("mean", number), normal(0, 1), {size});
        return model_.observe(name("vectors", number), multi_normal_cholesky(mean, factor),
                              numbers({11, size}));
      }
      case 1: {
        const Tensor p = model_.sample(name("simplex", number), dirichlet(full({4}, 1.3, DType::f64)));
        return model_.observe(name("class", number), categorical(p), places(25, 4));
      }
      case 2: {
        const Tensor a = model_.sample(name("root", number), exponential(1));
        const Tensors last = while_loop([&](const Tensors& s) { return greater(abs(s[1]), scalar(1e-11)); },
                                        [&](const Tensors& s) -> Tensors {
                                          const Tensor e = exp(-a * s[0]),
                                                       change = (s[0] - e) / (1.0 + a * e);
                                          return {s[0] - change, change};
                                        },
                                        {scalar(0.5), scalar(1)});
        return model_.add_log_density(name("solved", number), -square(last[0]));
      }
      default: {
        const Tensor cuts = model_.parameter(name("cuts", number), constraint::ordered(), {pick({2, 5})});
        return model_.add_log_density(name("cuts_prior", number), -sum(square(cuts)));
      }
    }
  }

  std::mt19937_64 random_;
  Model model_;
  int64_t rows_ = 1;
  Tensor scale_;
};

}  // namespace adit::test
