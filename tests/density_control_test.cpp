// Loops, choices and updates at places inside of densities, forward and reverse, beside the tensor engine.
#include "density/density.hpp"
#include "density_cases.hpp"
#include "graph/control.hpp"
#include "graph/op.hpp"
#include "seeds.hpp"
#include "stats/model_state.hpp"

namespace adit::test {
namespace {

// A carry and slices of data; the gradient goes through every step.
Model autoregression(int64_t length) {
  Model m("autoregression");
  const Tensor a = m.sample("a", normal(0, 0.5)), s = m.sample("s", exponential(1));
  const Tensor y = m.data("y", tensor(normals(length, 3)));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor mean = a * carry[0] + 0.1 * tanh(carry[1]);
        const Tensor error = (slices[0] - mean) / s;
        return {{slices[0], mean}, {-0.5 * square(error) - log(s)}};
      },
      {full({}, 0.0, DType::f64), a}, {y});
  m.add_log_density("likelihood", sum(all.outputs[0]));
  return m;
}

// A state that is not a number until data let go of it, as a variable that a program has not set yet.
Model let_go(int64_t length) {
  Model m("let_go");
  const Tensor a = m.sample("a", normal(0, 0.5)), b = m.sample("b", normal(0, 1));
  const Tensor y = m.data("y", tensor(normals(length, 3)));
  std::vector<double> flags(static_cast<size_t>(length));
  for (size_t i = 0; i < flags.size(); i += 17) flags[i] = 1;
  const Tensor from_new = m.data("from_new", tensor(flags));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor next = select(slices[1] > 0.5, b, carry[0] + a * slices[0]);
        return {{next}, {-0.5 * square(slices[0] - next)}};
      },
      {full({}, NAN, DType::f64)}, {y, from_new});
  m.add_log_density("likelihood", sum(all.outputs[0]));
  return m;
}

// The same with two numbers, each of which is let go of at times of its own.
Model let_go_of_each(int64_t length) {
  Model m("let_go_of_each");
  const Tensor a = m.sample("a", normal(0, 0.5)), b = m.sample("b", normal(0, 1));
  const Tensor y = m.data("y", tensor(normals(length, 3)));
  std::vector<double> flags(static_cast<size_t>(length));
  for (size_t i = 0; i < flags.size(); i += 13) flags[i] = i % 3 == 0 ? 3 : i % 3 == 1 ? 1 : 2;
  flags[0] = 3;
  const Tensor from_new = m.data("from_new", tensor(flags));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor& y_now = slices[0];
        const Tensor first = select(logical_or(equal(slices[1], full({}, 1.0, DType::f64)),
                                               equal(slices[1], full({}, 3.0, DType::f64))),
                                    b, 0.5 * carry[0] - a * carry[1] + y_now);
        const Tensor second = select(slices[1] > 1.5, a * y_now, 0.3 * carry[1] + 0.2 * (carry[0] - b));
        return {{first, second}, {-0.5 * square(y_now - first) - square(second)}};
      },
      {a, b}, {y, from_new});
  m.add_log_density("likelihood", sum(all.outputs[0]));
  return m;
}

Model garch(int64_t length) {
  Model m("garch");
  const Tensor mu = m.sample("mu", normal(0, 1)), a0 = m.sample("a0", exponential(1));
  const Tensor a1 = m.sample("a1", beta(2, 2)), b1 = m.sample("b1", beta(2, 2));
  const Tensor y = m.data("y", tensor(normals(length, 4)));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor variance = a0 + a1 * square(carry[1] - mu) + b1 * carry[0];
        return {{variance, slices[0]}, {variance}};
      },
      {a0 + 1.0, mu}, {y});
  m.observe("y", normal(mu, sqrt(all.outputs[0])), y);
  return m;
}

// The next state is linear in this one, on the way back too: a team of a GPU takes such loops by parts.
Model recurrence(int64_t length, bool reverse) {
  Model m("recurrence");
  const Tensor a = m.sample("a", beta(2, 2)), b = m.sample("b", normal(0, 1)),
               c = m.sample("c", exponential(1));
  const Tensor y = m.data("y", tensor(normals(length, 13))), z = m.sample("z", normal(0, 1), {length});
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor pull = select(slices[0] > 0.2, a * carry[0], 0.3 * carry[0] / (c + 1.0) - b);
        const Tensor next = pull - (b * square(slices[0]) - slices[1]);
        return {{next}, {next, tanh(carry[0]) * slices[0]}};
      },
      {b}, {y, z}, -1, reverse);
  m.observe("y", normal(all.outputs[0], 1.3), y);
  m.add_log_density("more", -0.1 * sum(square(all.outputs[1])) - square(all.carry[0]));
  return m;
}

// Two numbers that depend on each other: a level and its trend.
Model trend(int64_t length) {
  Model m("trend");
  const Tensor a = m.sample("a", beta(2, 2)), b = m.sample("b", beta(2, 3)),
               start = m.sample("s", normal(0, 1));
  const Tensor y = m.data("y", tensor(normals(length, 14)));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor level = a * slices[0] + (1.0 - a) * (carry[0] + carry[1]);
        const Tensor slope = b * (level - carry[0]) + (1.0 - b) * carry[1];
        return {{level, slope}, {carry[0] + carry[1]}};
      },
      {start, full({}, 0.1, DType::f64)}, {y});
  m.observe("y", normal(all.outputs[0], 1.1), y);
  m.add_log_density("end", -square(all.carry[0] - all.carry[1]));
  return m;
}

// The forward algorithm, in logarithms: a vector is carried, a matrix is captured.
Model hidden_markov(int64_t states, int64_t length) {
  Model m("hidden_markov");
  const Tensor rows = m.sample("rows", dirichlet(full({states, states}, 1.5, DType::f64)));
  const Tensor means = m.sample("means", normal(0, 2), {states});
  const Tensor y = m.data("y", tensor(normals(length, 5)));
  const Tensor moves = log(rows);
  const auto seen = [&](const Tensor& value) { return -0.5 * square(value - means); };
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor reached = logsumexp(reshape(carry[0], {states, 1}) + moves, {0});
        return {{reached + seen(slices[0])}, {}};
      },
      {seen(full({}, 0.3, DType::f64))}, {y});
  m.add_log_density("forward", logsumexp(all.carry[0]));
  return m;
}

// The same with what is seen inside of the sum, and moves that steps cannot make: some states are reached
// from one other alone, and are then far below it.
Model left_to_right(int64_t states, int64_t length, double sharpness) {
  Model m("left_to_right");
  const Tensor stay = m.sample("stay", beta(2, 2), {states}),
               means = m.sample("means", normal(0, 2), {states});
  const Tensor y = m.data("y", tensor(normals(length, 15)));
  const Tensor from = broadcast_to(reshape(iota({states}, DType::i64), {states, 1}), {states, states});
  const Tensor to = broadcast_to(iota({states}, DType::i64), {states, states});
  const Tensor leave = broadcast_to(reshape(log(1.0 - stay), {states, 1}), {states, states});
  const Tensor never = full({states, states}, -INFINITY, DType::f64);
  const Tensor moves =
      select(equal(from, to), broadcast_to(reshape(log(stay), {states, 1}), {states, states}),
             select(equal(from + int64_t{1}, to), leave, never));
  const auto seen = [&](const Tensor& value) { return -sharpness * square(value - means); };
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor here = reshape(seen(slices[0]), {1, states});
        return {{logsumexp(reshape(carry[0], {states, 1}) + moves + here, {0})}, {}};
      },
      {seen(full({}, 0.3, DType::f64))}, {y});
  m.add_log_density("forward", 1 / (1 + sharpness) * logsumexp(all.carry[0]));
  return m;
}

// Two series side by side, with weights of any size in the place of chances, and the sum written by hand.
Model weighted_moves(double scale) {
  constexpr int64_t states = 3;
  Model m("weighted_moves");
  const Tensor weights = m.sample("weights", normal(0, 1), {states, states});
  const Tensor levels = m.sample("levels", normal(0, 1), {states});
  const Tensor y = m.data("y", tensor(normals(50, 16), {25, 2}));
  const auto seen = [&](const Tensor& value) { return -square(reshape(value, {2, 1}) - levels); };
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor sums = scale * weights + reshape(carry[0], {2, states, 1});
        const Tensor shift = reduce_max(sums, {1}, true);
        return {{log(sum(exp(sums - shift), {1})) + reshape(shift, {2, states}) + seen(slices[0])}, {}};
      },
      {seen(full({2}, 0.3, DType::f64))}, {y});
  m.add_log_density("forward", 1 / (1 + scale) * sum(logsumexp(all.carry[0], {1})));
  return m;
}

// States longer than registers hold; variables are the slices.
Model wide_state() {
  Model m("wide_state");
  const Tensor z = m.sample("z", normal(0, 1), {3, 40});
  const Tensor r = m.sample("r", beta(2, 2));
  const Tensor w = m.data("w", tensor(normals(40 * 40, 6), {40, 40}));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor next = r * tanh(carry[0] + 0.1 * dot(w, carry[0])) + slices[0];
        return {{next, carry[1] + sum(square(next))}, {next * r}};
      },
      {zeros({40}, DType::f64), full({}, 0.0, DType::f64)}, {z}, -1, true);
  m.observe("y", normal(all.outputs[0], 1.1), tensor(normals(120, 7), {3, 40}));
  m.add_log_density("size", -0.01 * all.carry[1]);
  return m;
}

// Reads at a place that the loop tells, and writes at one: both ways change a long carry where it lies.
Model written_places(int64_t length) {
  Model m("written_places");
  const Tensor z = m.sample("z", normal(0, 1), {length});
  const Tensor r = m.sample("r", beta(3, 2));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor t = slices[0];
        const Tensor before = take(carry[0], maximum(t - 1, full({}, int64_t{0}, DType::i64)));
        const Tensor value = reshape(r * before + sin(take(z, t)), {1});
        return {{indexed_put(carry[0], reshape(t, {1, 1}), value)}, {}};
      },
      {zeros({length}, DType::f64)}, {iota({length}, DType::i64)});
  m.observe("y", normal(all.carry[0], 0.9), tensor(normals(length, 8)));
  return m;
}

Model chosen() {
  Model m("chosen");
  const Tensor a = m.sample("a", normal(0, 1)), b = m.sample("b", normal(0, 1), {40});
  const Tensors long_one = cond(
      greater(a, full({}, 0.0, DType::f64)),
      [&](const Tensors&) -> Tensors {
        return {b * exp(a), square(a)};
      },
      [&](const Tensors&) -> Tensors {
        return {tanh(b) - a, 2.0 * a * sum(b)};
      },
      {});
  m.observe("y", normal(long_one[0], 1.2), tensor(normals(40, 9)));
  m.add_log_density("more", -square(long_one[1]));
  return m;
}

// Choices inside of a loop, and a counter beside the numbers.
Model switching() {
  Model m("switching");
  const Tensor a = m.sample("a", normal(0, 1)), b = m.sample("b", normal(0, 1));
  const Tensor y = m.data("y", tensor(normals(60, 11)));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor even =
            equal(remainder(carry[1], full({}, int64_t{2}, DType::i64)), full({}, int64_t{0}, DType::i64));
        const Tensor level = cond(
            even, [&](const Tensors&) -> Tensors { return {a * carry[0] + 0.3}; },
            [&](const Tensors&) -> Tensors { return {tanh(b) * carry[0] - slices[0]}; }, {})[0];
        return {{level, carry[1] + full({}, int64_t{1}, DType::i64)}, {square(level - slices[0])}};
      },
      {a, full({}, int64_t{0}, DType::i64)}, {y});
  m.add_log_density("fit", -0.1 * sum(all.outputs[0]));
  return m;
}

// x = exp(-a x) by Newton's steps until they are short.
Model solved() {
  Model m("solved");
  const Tensor a = m.sample("a", exponential(1)), b = m.sample("b", normal(0, 1), {3});
  const Tensors last =
      while_loop([&](const Tensors& s) { return greater(abs(s[1]), full({}, 1e-12, DType::f64)); },
                 [&](const Tensors& s) -> Tensors {
                   const Tensor e = exp(-a * s[0]);
                   const Tensor change = (s[0] - e) / (1.0 + a * e);
                   return {s[0] - change, change, s[2] * 0.5 + b};
                 },
                 {full({}, 0.5, DType::f64), full({}, 1.0, DType::f64), b});
  m.observe("y", normal(last[0], 0.1), full({}, 0.6, DType::f64));
  m.add_log_density("b_too", -sum(square(last[2])));
  return m;
}

// Loops inside of loops.
Model nested_loops() {
  Model m("nested_loops");
  const Tensor a = m.sample("a", normal(0, 1)), x = m.sample("x", normal(0, 1), {5, 7});
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Step inner = scan(
            [&](const Tensors& c, const Tensors& s) -> Step {
              return {{tanh(c[0] * a + s[0])}, {c[0] * s[0]}};
            },
            {carry[0]}, {slices[0]});
        return {{inner.carry[0] + 0.1 * carry[0]}, {sum(inner.outputs[0])}};
      },
      {a}, {x});
  m.add_log_density("fit", -sum(square(all.outputs[0])) + all.carry[0]);
  return m;
}

Model mapped() {  // no carry: one function for each group
  Model m("mapped");
  const Tensor b = m.sample("b", normal(0, 1), {45, 3}), s = m.sample("s", exponential(1));
  const Tensor fitted = map([&](const Tensor& row) { return sum(square(row) * s) + product(tanh(row)); }, b);
  m.observe("y", normal(fitted, 1.5), tensor(normals(45, 12)));
  return m;
}

Model put_outside() {  // updates at places that replace, with repeated places
  Model m("put_outside");
  const Tensor b = m.sample("b", normal(0, 1), {50}), c = m.sample("c", normal(0, 1), {20});
  const Tensor changed = indexed_put(b, tensor(places(20, 50), {20, 1}), c * 2.0);
  const Tensor few =
      indexed_put(slice(b, {0}, {4}), tensor(std::vector<int64_t>{2, 2}, {2, 1}), slice(c, {3}, {2}));
  m.observe("y", normal(changed, 1.5), tensor(normals(50, 12)));
  m.add_log_density("few", -sum(square(few)));
  return m;
}

// What an update in place reads was in memory that later passes of the step could have taken.
Model kept_for_an_update() {
  Model m("kept_for_an_update");
  const Tensor z = m.sample("z", normal(0, 1), {33});
  const Tensor w = m.data("w", tensor(normals(33 * 33, 6), {33, 33}));
  const Tensor v = m.data("v", tensor(normals(33 * 33, 7), {33, 33}));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor product = 0.1 * dot(w, carry[1]);
        const Tensor next = tanh(0.1 * dot(w, tanh(0.1 * dot(v, product))));
        const Tensor value = reshape(take(product, slices[0]), {1});
        return {{indexed_put(carry[0], reshape(slices[0], {1, 1}), value), next}, {}};
      },
      {zeros({33}, DType::f64), z}, {iota({2}, DType::i64)});
  m.observe("y", normal(all.carry[0] + all.carry[1], 0.9), tensor(normals(33, 8)));
  return m;
}

// Updates of a tensor that is in memory itself, read long after both were made.
Model updates_of_a_product() {
  Model m("updates_of_a_product");
  const Tensor z = m.sample("z", normal(0, 1), {34}), c = m.sample("c", normal(0, 1), {80});
  const Tensor w = m.data("w", tensor(normals(36 * 34, 6), {36, 34}));
  const Tensor v = m.data("v", tensor(normals(36 * 36, 7), {36, 36}));
  const Tensor sums = indexed_add(dot(w, z), tensor(places(80, 36), {80, 1}), tanh(c));
  const Tensor end = tanh(0.1 * dot(v, tanh(0.1 * dot(v, sums))));
  m.observe("y", normal(sums + end, 1.0), tensor(normals(36, 8)));
  return m;
}

// Carries that change places, and two that are updated in place from each other.
Model exchanged() {
  Model m("exchanged");
  const Tensor a = m.sample("a", normal(0, 1), {40}), b = m.sample("b", normal(0, 1), {40});
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor at = reshape(slices[0], {1, 1});
        const auto read = [&](const Tensor& x, const Tensor& t) { return reshape(take(x, t), {1}); };
        return {{carry[1], carry[0], indexed_put(carry[2], at, read(carry[3], slices[0])),
                 indexed_put(carry[3], at, read(carry[2], slices[0] + 1))},
                {take(carry[0], slices[0]), carry[2]}};
      },
      {a, b, 2.0 * a, 3.0 * b}, {iota({5}, DType::i64)});
  m.observe("y", normal(all.carry[0], 0.9), tensor(normals(40, 8)));
  m.observe("y2", normal(all.carry[2] * all.carry[3], 0.9), tensor(normals(40, 8)));
  m.add_log_density("more", -sum(square(all.outputs[0])) - 0.1 * sum(square(all.outputs[1])));
  return m;
}

// One node as several results; no steps at all; whole numbers in a long carry.
Model corners() {
  Model m("corners");
  const Tensor a = m.sample("a", normal(0, 1)), b = m.sample("b", normal(0, 1), {40});
  const Step twice = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor next = tanh(carry[0] + slices[0] * a);
        return {{next, next}, {next, carry[1]}};
      },
      {a, 2.0 * a}, {tensor(normals(50, 2))});
  const Step none = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        return {{tanh(carry[0]) + slices[0]}, {sum(carry[0])}};
      },
      {b}, {zeros({0}, DType::f64)});
  const Step whole = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor one = full({1}, int64_t{1}, DType::i64);
        const Tensor base = full({40}, int64_t{3}, DType::i64);
        return {{carry[0] + indexed_add(base, reshape(slices[0], {1, 1}), one)}, {}};
      },
      {zeros({40}, DType::i64)}, {iota({5}, DType::i64)});
  m.add_log_density("twice", -sum(square(twice.outputs[0] + twice.outputs[1])) - square(twice.carry[1]));
  m.observe("y", normal(none.carry[0] * as_type(whole.carry[0], DType::f64), 9.0), tensor(normals(40, 8)));
  return m;
}

// Steps, choices and rounds of many operations on few numbers, which a team does in passes: states, results
// of choices and whole numbers of that length lie in memory then, and so does the position, however short.
Model long_steps(int64_t n) {
  Model m("long_steps");
  const Tensor z = m.sample("z", normal(0, 1), {n});
  const Tensor y = m.data("y", tensor(normals(3 * n, 21), {3, n}));
  const auto worn = [](Tensor x, int times) {
    for (int i = 0; i < times; ++i) x = tanh(1.1 * x + 0.1 * exp(-x));
    return x;
  };
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor turned = take(carry[0], remainder(carry[1], full({n}, int64_t{7}, DType::i64)), 0);
        const Tensor chosen = cond(
            greater(sum(carry[0]), full({}, 0.1, DType::f64)),
            [&](const Tensors&) -> Tensors { return {worn(turned + slices[0], 4)}; },
            [&](const Tensors&) -> Tensors { return {worn(turned - z, 3)}; }, {})[0];
        const Tensor next = worn(chosen + 0.3 * z, 5);
        return {{next, carry[1] + full({n}, int64_t{2}, DType::i64)}, {next * turned}};
      },
      {z, iota({n}, DType::i64)}, {y});
  const Tensors last =
      while_loop([&](const Tensors& s) { return greater(sum(abs(s[1])), full({}, 1e-3, DType::f64)); },
                 [&](const Tensors& s) -> Tensors {
                   const Tensor next = 0.2 * worn(s[0], 2) + 0.3 * z;
                   return {next, next - s[0]};
                 },
                 {z, full({n}, 1.0, DType::f64)});
  m.add_log_density("fit",
                    -sum(square(all.carry[0])) - 0.3 * sum(square(all.outputs[0])) - sum(square(last[0])));
  return m;
}

// Steps along a slope with a matrix that each of them makes: a product by its lines, what is made of the
// rows, and a product back by its columns, which a CPU's team does in tiles.
Model descent(int64_t rows, int64_t columns) {
  Model m("descent");
  const Tensor z = m.sample("z", normal(0, 1), {columns}), rate = m.sample("rate", beta(2, 2));
  const Tensor x = m.data("x", tensor(normals(rows * columns, 23), {rows, columns}));
  const Tensor turn = m.data("turn", 0.02 * tensor(normals(columns * columns, 24), {columns, columns}));
  const Tensor y = m.data("y", tensor(normals(rows, 25)));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors&) -> Step {
        const Tensor matrix = dot(x, turn * (1 + rate * tanh(sum(carry[0]))));
        const Tensor errors = y - tanh(dot(matrix, carry[0]));
        return {{carry[0] + 0.01 * rate * dot(errors, matrix)}, {}};
      },
      {z}, {}, 3);
  m.add_log_density("fit", -sum(square(all.carry[0])));
  return m;
}

const DensityCase cases[] = {{"autoregression", [] { return autoregression(80); }},
                             {"one_step", [] { return autoregression(1); }},
                             {"garch", [] { return garch(70); }},
                             {"let_go", [] { return let_go(40); }},
                             {"recurrence", [] { return recurrence(257, false); }},
                             {"recurrence_back", [] { return recurrence(128, true); }},
                             {"short_recurrence", [] { return recurrence(33, false); }},
                             {"trend", [] { return trend(131); }},
                             {"hidden_markov", [] { return hidden_markov(4, 60); }},
                             {"wide_state", wide_state},
                             {"written_places", [] { return written_places(40); }},
                             {"few_written_places", [] { return written_places(5); }},
                             {"chosen", chosen},
                             {"switching", switching},
                             {"solved", solved},
                             {"nested_loops", nested_loops},
                             {"mapped", mapped},
                             {"put_outside", put_outside},
                             {"kept_for_an_update", kept_for_an_update},
                             {"updates_of_a_product", updates_of_a_product},
                             {"exchanged", exchanged},
                             {"corners", corners},
                             {"two_states", [] { return hidden_markov(2, 30); }},
                             {"many_states", [] { return hidden_markov(9, 20); }},
                             {"left_to_right", [] { return left_to_right(3, 40, 0.5); }},
                             {"far_states", [] { return left_to_right(4, 40, 300); }},
                             {"weighted_moves", [] { return weighted_moves(1); }},
                             {"heavy_moves", [] { return weighted_moves(900); }}};

class DensityControl : public testing::TestWithParam<std::string> {};

// Which of a test's densities are tried: one in so many for each commit.
uint64_t one_in(const std::string& id) { return device(id).info().kind == DeviceKind::software ? 7 : 4; }

TEST_P(DensityControl, InALane) {
  uint64_t number = 0;
  for (const DensityCase& one : cases)
    if (is_in_share(number++, one_in(GetParam())))
      compare_density(one.make(), one.name, GetParam(), Placement::lane, DType::f64, 1e-10);
}
TEST_P(DensityControl, OnATeam) {
  uint64_t number = 1;
  for (const DensityCase& one : cases)
    if (is_in_share(number++, one_in(GetParam())))
      compare_density(one.make(), one.name, GetParam(), Placement::team, DType::f64, 1e-10);
}
TEST_P(DensityControl, StatesThatAreLetGo) {
  for (const int64_t length : {40, 131}) {
    compare_density(let_go(length), "let_go", GetParam(), Placement::team, DType::f64, 1e-10);
    compare_density(let_go_of_each(length), "let_go_of_each", GetParam(), Placement::team, DType::f64, 1e-10);
  }
}
TEST_P(DensityControl, LongSteps) {
  // A software device takes long to compile them.
  const bool is_slow = device(GetParam()).info().kind == DeviceKind::software;
  for (const int64_t n : is_slow ? std::vector<int64_t>{11} : std::vector<int64_t>{11, 29})
    compare_density(long_steps(n), "long_steps", GetParam(), Placement::team, DType::f64, 1e-10);
}
TEST_P(DensityControl, TilesInsideOfSteps) {
  const int64_t rows = device(GetParam()).info().kind == DeviceKind::software ? 37 : 301;
  compare_density(descent(rows, 41), "descent", GetParam(), Placement::team, DType::f64, 1e-10);
}
TEST_P(DensityControl, InSinglePrecision) {
  uint64_t number = 0;
  for (const DensityCase& one : {cases[0], cases[4], cases[7], cases[8], cases[10], cases[13], cases[15]})
    for (const Placement placement : {Placement::lane, Placement::team})
      if (is_in_share(number++, one_in(GetParam())))
        compare_density(one.make(), one.name, GetParam(), placement, DType::f32, 5e-4);
}

// Loops that keep some of their states: blocks of equal lengths, steps left over, sums inside of blocks and
// outputs that others read whole, loops in both directions, states in memory, slices that are variables.
TEST_P(DensityControl, InBlocks) {
  // A software device takes minutes to compile all of them.
  const bool is_slow = device(GetParam()).info().kind == DeviceKind::software;
  uint64_t number = 0;
  for (const DensityCase& one : is_slow ? std::span(cases).subspan(2, 2) : std::span(cases))
    for (const Placement placement : {Placement::lane, Placement::team})
      if (is_in_share(number++, is_slow ? 4 : 5))
        compare_density(one.make(), one.name, GetParam(), placement, DType::f64, 1e-10, 9, 1);
}

// A step asks whether its sums by parts hold, and has no other choice.
TEST(SplitExponents, OfForwardAlgorithms) {
  const auto has_choice = [](const Model& model) {
    const sampling::Density density = sampling::make_density(stats::state_of(model), DType::f64);
    for (const Tensor& x : graph::reachable(Tensors{density.value}, true)) {
      if (graph::node_of(x).op != graph::Op::scan) continue;
      for (const Tensor& inner : graph::reachable(graph::about(x).functions[0]->results, true))
        if (graph::node_of(inner).op == graph::Op::cond) return true;
    }
    return false;
  };
  for (const int64_t states : {2, 3, 5, 8}) EXPECT_TRUE(has_choice(hidden_markov(states, 10))) << states;
  EXPECT_TRUE(has_choice(left_to_right(3, 10, 1)));
  EXPECT_TRUE(has_choice(weighted_moves(1)));
  EXPECT_FALSE(has_choice(hidden_markov(9, 10)));  // a product with a matrix, rather
  EXPECT_FALSE(has_choice(garch(10)));
}

INSTANTIATE_TEST_SUITE_P(Devices, DensityControl, testing::ValuesIn(device_ids()), test_name);

}  // namespace
}  // namespace adit::test
