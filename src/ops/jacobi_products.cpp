#include "ops/jacobi_products.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ops/jacobi_blocks.hpp"
#include "ops/matmul.hpp"

namespace adit::ops::jacobi_products {

using namespace kernel;
using jacobi_blocks::Phase;
using jacobi_blocks::State;

namespace {

// Of each step and matrix, f32: what the step is made with, as the one before it found.
struct Control {
  static constexpr uint32_t alpha = 0, norm = 1,  // of w, as it was
      alpha_before = 2, sum_before = 3,           // alpha and the root of w's sum of squares, a step ago
      best = 4, bad = 5,                          // the least that was left, and steps since then
      outcome = 6, count = 7,                     // steps that were made
      limit = 8, words = 9;
};
struct Outcome {
  static constexpr uint32_t none = 0, found = 1, failed = 2;
};
// Of each row of a step: sums of squares of w, of r - 1, and of what is left, whose largest is the last.
constexpr uint32_t measures = 4;

constexpr double steepest = 0.8;  // the norm that alpha w may have, by an estimate that is up to 1.4 too low
constexpr double half_unit = 1e-3;  // by the root of n: what rounding to 16 bits leaves in s
constexpr double too_small = 1.5;   // times the limit: not turned
constexpr double smooth = 4;        // times the limit: angles of less are taken with caution
constexpr float enough = 16;        // times the limit is left in the end
// Rows of a team, which all need the eigenvalues: few where teams are few.
constexpr uint32_t rows_of_team(uint32_t size) { return size <= 512 ? 1 : size <= 1024 ? 2 : 4; }

// The matrix times the vectors is turned as they are, beside them, and made anew after so many steps.
constexpr uint32_t fresh = 4;

// Which of its two buffers the vectors are in.
Value count_parity(Value count) { return convert(count, Type::u32) & 1; }

struct Stage {
  Type type = Type::f32;  // of the vectors
  bool is_last = true;
  uint32_t steps = 0;
  uint32_t latest() const { return steps + 1; }  // the control after the last step that was taken
};

struct Shape {
  uint32_t n = 0, size = 0;
  uint64_t batch = 1;
};

uint32_t lanes_for(uint32_t wide) { return wide <= 128 ? 128 : 256; }

class Writer {
 public:
  Writer(const char* name, const Shape& shape) : shape_(shape), k_(name, Team::many(lanes_for(shape.size))) {
    team_ = k_.team(Type::u64);
  }

 protected:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value number(double x) { return k_.constant(Type::f32, x); }
  Array read(const char* name, Type type = Type::f32) { return k_.buffer(name, type, Access::read); }
  Array written(const char* name, Type type = Type::f32) { return k_.buffer(name, type, Access::write); }
  Value at(Value row, Value column) const {
    return (which_ * shape_.size + convert(row, Type::u64)) * shape_.size + convert(column, Type::u64);
  }
  Value control_at(Value step, uint32_t what) const {
    return (convert(step, Type::u64) * shape_.batch + which_) * Control::words + what;
  }

  const Shape& shape_;
  Builder k_;
  Value team_, which_;
};

// A team a row: the vectors before the first step of a stage, and what that step is made with.
class Start : Writer {
 public:
  Start(const char* name, const Shape& shape, const Stage& stage)
      : Writer(name, shape), stage_(stage), type_(stage.type) {
    which_ = team_ / shape.size;
    row_ = convert(team_ % shape.size, Type::u32);
  }

  // Buffers: limits, vectors, control.
  Program identity() {
    const Array limits = read("limits"), to = written("to", type_), control = written("control");
    put_identity(to);
    begin(control, limits[which_], first_alpha(), 0.5 * shape_.size, number(Outcome::none));
    return k_.finish();
  }

  // The matrix without the mean of its eigenvalues, so that 16 bits tell them apart. Buffers: matrix, limits,
  // vectors, control, halves.
  Program halves() {
    const Array matrix = read("matrix"), limits = read("limits"), to = written("to", type_),
                control = written("control"), half = written("halves", type_);
    const Value sum =
        k_.reduce(word(shape_.n), Reduction::add, [&](Value j) { return matrix[at(j, j)].get(); });
    const Value mean = sum * (1.0 / shape_.n);
    k_.each(word(shape_.size), [&](Value j) {
      const Value x = matrix[at(row_, j)];
      half[at(row_, j)] = convert(select(row_ == j && j < shape_.n, x - mean, x), type_);
    });
    put_identity(to);
    const Value root = limits[which_].get() * (2 / std::numeric_limits<float>::epsilon());
    const Value apart = max(fma(root, root, -(mean * mean)), root.like(0));
    begin(control, sqrt_device(apart) * (half_unit / std::sqrt(shape_.n)), first_alpha(), 0.5 * shape_.size,
          number(Outcome::none));
    return k_.finish();
  }

  // The vectors of another stage. Buffers: its even and odd ones, its control, limits, vectors, control.
  Program wider(const Stage& before) {
    const Array even = read("even", before.type), odd = read("odd", before.type), past = read("past"),
                limits = read("limits"), to = written("to", type_), control = written("control");
    const auto copy = [&](const Array& from) {
      k_.each(word(shape_.size), [&](Value j) { to[at(row_, j)] = convert(from[at(row_, j)].get(), type_); });
    };
    k_.if_(
        count_parity(past[control_at(word(before.latest()), Control::count)]) == 0, [&] { copy(even); },
        [&] { copy(odd); });
    const Value outcome = past[control_at(word(before.latest()), Control::outcome)];
    begin(control, limits[which_], 0.4, 2,
          select(outcome == Outcome::failed, outcome, number(Outcome::none)));
    return k_.finish();
  }

 private:
  double first_alpha() const { return steepest / (0.5 * shape_.size); }  // w is not larger, whatever it is
  void put_identity(const Array& to) {
    k_.each(word(shape_.size),
            [&](Value j) { to[at(row_, j)] = convert(select(row_ == j, number(1), number(0)), type_); });
  }
  // Nothing is to be found where a number of the matrix is none: the results will be such.
  void begin(const Array& control, Value limit, double alpha, double norm, Value outcome) {
    k_.if_(row_ == 0, [&] {
      k_.once([&] {
        const auto put = [&](uint32_t what, Value x) {
          for (const uint32_t step : {0U, stage_.latest()}) control[control_at(word(step), what)] = x;
        };
        for (const uint32_t what : {Control::alpha_before, Control::sum_before, Control::bad, Control::count})
          put(what, number(0));
        put(Control::alpha, number(alpha));
        put(Control::norm, number(norm));
        put(Control::best, number(1e30));
        put(Control::limit, limit);
        put(Control::outcome, select(is_nan(limit), number(Outcome::found), outcome));
      });
    });
  }

  const Stage& stage_;
  Type type_;
  Value row_;
};

// A team some rows: what the vectors are multiplied by, and how much is left. Buffers: s, r, control, turns,
// measures, lengths (the eigenvalues). Number: the step.
class Turns : Writer {
 public:
  Turns(const Shape& shape, Type type) : Writer("jacobi_turns_at_once", shape), type_(type) {
    s_ = read("s"), r_ = read("r"), control_ = read("control");
    turns_ = written("turns", type), measures_ = written("measures"), lengths_ = written("lengths");
    step_ = k_.scalar("step", Type::u32);
    values_ = k_.shared(Type::f32, shape.size), squares_ = k_.shared(Type::f32, shape.size);
    const uint32_t teams = shape.size / rows_of_team(shape.size);
    which_ = team_ / teams;
    first_ = convert(team_ % teams, Type::u32) * rows_of_team(shape.size);
  }

  Program build() {
    const auto known = [&](uint32_t what) { return control_[control_at(step_, what)].get(); };
    k_.if_(known(Control::outcome) == Outcome::none, [&] {
      alpha_ = known(Control::alpha), limit_ = known(Control::limit);
      k_.each(word(shape_.size), [&](Value j) {
        const Value square = r_[at(j, j)];
        squares_[j] = square;
        values_[j] = s_[at(j, j)].get() / square;
      });
      for (uint32_t i = 0; i < rows_of_team(shape_.size); ++i) row(first_ + i);
    });
    return k_.finish();
  }

 private:
  void row(Value row) {
    const Value mine = values_[row], own = squares_[row], zero = number(0);
    const std::vector<Reduction> ops{Reduction::add, Reduction::add, Reduction::add, Reduction::max};
    const std::vector<Value> found = k_.reduce(word(shape_.size), ops, [&](Value j) -> std::vector<Value> {
      const Value beside = row != j, r = r_[at(row, j)], other = values_[j];
      const Value left = select(beside, fma(r * -0.5, mine + other, s_[at(row, j)].get()), zero);
      // Vectors that have become too long are turned less, and shortened with care: a step of Newton and
      // Schulz would overshoot.
      const Value longest = max(own, squares_[j].get()),
                  excess = min(number(0.4) / max(longest - 1, number(0.4)), number(1));
      const Value angle = this->angle(left, other - mine, j < row) * (excess * excess);
      const Value turn = select(abs(left) > limit_ * too_small, angle, zero);
      const Value apart = select(beside, r, r - 1), care = 1 / max(longest - 0.4, number(1));
      turns_[at(row, j)] = convert(fma(alpha_, turn, apart * care * -0.5), type_);
      return {turn * turn, apart * apart, left * left, abs(left)};
    });
    k_.once([&] {
      for (uint32_t i = 0; i < measures; ++i)
        measures_[(which_ * shape_.size + convert(row, Type::u64)) * measures + i] = found[i];
      k_.if_(row < shape_.n, [&] { lengths_[which_ * shape_.n + convert(row, Type::u64)] = mine; });
    });
  }

  // The tangent of the angle that makes `left` zero, `apart` the distance on the diagonal. Where that is
  // zero, which of the two comes first must not depend on whose row it is.
  Value angle(Value left, Value apart, Value is_later) {
    const Value h = left * 2, noise = limit_ * smooth;
    const Value root = sqrt_device(fma(apart, apart, fma(h, h, noise * noise)));
    const Value turned = apart < 0 || (apart == 0 && is_later);
    return select(turned, -h, h) / (abs(apart) + root);
  }

  Type type_;
  Array s_, r_, control_, turns_, measures_, lengths_, values_, squares_;
  Value step_, first_, alpha_, limit_;
};

// A team a matrix: how the next step is made. Buffers: measures, control. Number: the step.
class Judge : Writer {
 public:
  Judge(const Shape& shape, const Stage& stage) : Writer("jacobi_judge", shape), stage_(stage) {
    measures_ = read("measures"), control_ = k_.buffer("control", Type::f32, Access::read_write);
    step_ = k_.scalar("step", Type::u32);
    which_ = team_;
  }

  Program build() {
    k_.if_(
        now(Control::outcome) == Outcome::none, [&] { judge(); },
        [&] {
          k_.once([&] {
            for (uint32_t what = 0; what < Control::words; ++what) next(what, now(what));
          });
        });
    return k_.finish();
  }

 private:
  Value now(uint32_t what) { return control_[control_at(step_, what)]; }
  void next(uint32_t what, Value x) {
    control_[control_at(step_ + 1, what)] = x;
    control_[control_at(word(stage_.latest()), what)] = x;
  }

  void judge() {
    const std::vector<Reduction> ops{Reduction::add, Reduction::max, Reduction::add,
                                     Reduction::add, Reduction::max, Reduction::max};
    const std::vector<Value> all = k_.reduce(word(shape_.size), ops, [&](Value i) -> std::vector<Value> {
      const Value first = (which_ * shape_.size + convert(i, Type::u64)) * measures;
      const Value turns = measures_[first], apart = measures_[first + 1];
      return {turns, turns, apart, measures_[first + 2].get(), measures_[first + 3].get(), apart};
    });
    k_.once([&] {
      const Value turns = sqrt_device(all[0]), row = sqrt_device(all[1]), apart = sqrt_device(all[2]),
                  left = sqrt_device(all[3]), most = all[4];
      const Value is_sane = left < 1e30 && apart < 1e3;
      // Steps that find less than they should end the stage.
      const Value counts = now(Control::count) >= (stage_.is_last ? 2 : 6),
                  better = left < now(Control::best) * 0.93;
      const Value bad = select(counts && !better, now(Control::bad) + 1, number(0));
      // Many small numbers are more than a few that are not much larger; rounding leaves about n times the
      // limit, and more where some eigenvalues are much larger than the others.
      const Value is_small =
          most <= now(Control::limit) * enough && left <= now(Control::limit) * (2.5 * shape_.n);
      const Value is_near = is_small || (bad >= 2 && row < 0.05);
      put_alpha(turns, apart, sqrt_device(all[5]), stage_.is_last ? is_near : is_near != is_near);
      next(Control::count, now(Control::count) + 1);
      next(Control::limit, now(Control::limit));
      next(Control::bad, bad);
      next(Control::best, select(counts && better, left, now(Control::best)));
      const Value is_found =
          stage_.is_last ? is_near && now(Control::alpha) == 0 && apart < 5e-4 : row < 0.3 || bad >= 4;
      next(Control::outcome, select(is_sane, select(is_found, number(Outcome::found), number(Outcome::none)),
                                    number(Outcome::failed)));
    });
  }

  // `settles`: nothing is left to turn but what is not orthonormal.
  void put_alpha(Value turns, Value apart, Value longest, Value settles) {
    const Value alpha = now(Control::alpha), before = now(Control::alpha_before),
                sum = now(Control::sum_before), old = now(Control::norm);
    const Value tells = before * sum > 0.3;
    const Value seen = min(apart / max(before * before * sum, number(1e-20)), old * 2);
    const Value norm = select(tells, seen, old);
    const Value spread = select(tells, min(apart, norm * norm * (before * before)), number(0));
    const Value counts = now(Control::count) > 2;
    const Value growth = max(norm / old, number(1));  // it may go on growing
    const Value larger =
        select(counts && tells, max(norm * growth * growth, old), max(norm, select(counts, old, norm)));
    const Value safe = max(min(larger, turns * 0.75), number(1e-9));
    const Value grown = select(alpha > 0, alpha * select(counts, number(4), number(16)), number(1)),
                wanted = min(number(steepest) / safe, number(1));
    const Value bounded = min(wanted, grown);
    // A row that has become too long tells more than all of them.
    const Value row =
        select(before > 0 && longest > 0.6, before * sqrt_device(number(0.6) / longest), number(1));
    const Value fair = min(bounded, row);
    const Value careful = select(spread > 0.9, min(fair, alpha * 0.3), fair);
    next(Control::alpha, select(settles, number(0), careful));
    next(Control::norm, norm);
    next(Control::alpha_before, alpha);
    next(Control::sum_before, turns);
  }

  const Stage& stage_;
  Array measures_, control_;
  Value step_;
};

// A team: rotations have nothing to do where all matrices came to an end. Buffers: control of each stage,
// state.
class End : Writer {
 public:
  explicit End(const Shape& shape) : Writer("jacobi_end_of_products", shape) {}
  Program build(const std::vector<Stage>& stages) {
    std::vector<Array> controls;
    for (size_t i = 0; i < stages.size(); ++i) controls.push_back(read(i == 0 ? "control" : "last_control"));
    const Array state = k_.buffer("state", Type::u32, Access::write);
    const auto most = [&](size_t stage, uint32_t what, double beside) {
      return k_.reduce(word(static_cast<uint32_t>(shape_.batch)), Reduction::max, [&](Value i) {
        which_ = convert(i, Type::u64);
        return abs(controls[stage][control_at(word(stages[stage].latest()), what)].get() - number(beside));
      });
    };
    const Value is_open = most(stages.size() - 1, Control::outcome, Outcome::found) > 0;
    k_.once([&] {
      state[word(State::worst)] = bitcast(select(is_open, number(1e30), number(0)), Type::u32);
      state[word(State::phase)] = select(is_open, word(Phase::start), word(Phase::done));
    });
    for (size_t i = 0; i < stages.size(); ++i) {
      const Value count = most(i, Control::count, 0);
      k_.once([&] { state[word(State::steps + static_cast<uint32_t>(i))] = convert(count, Type::u32); });
    }
    return k_.finish();
  }
};

// The passes of all stages.
class Products {
 public:
  Products(Factor& made, uint8_t own, const Shape& shape, const Given& given, const Limits& limits)
      : made_(made), own_(own), shape_(shape), given_(given), limits_(limits) {
    square_ = uint64_t{shape.size} * shape.size;
    s_ = numbers(Type::f32, square_), r_ = numbers(Type::f32, square_);
    measures_ = numbers(Type::f32, uint64_t{shape.size} * measures);
    found.lengths = numbers(Type::f32, shape.n);
  }

  void run(const Stage& stage) {
    const Buffers mine = buffers_of(stage);
    start(stage, mine);
    const uint32_t turns = add(Turns(shape_, stage.type).build()), judge = add(Judge(shape_, stage).build());
    const Product with_matrix = product(stage.type, stage.type, false, false),
                  with_itself = product(stage.type, Type::f32, true, false),
                  onward = product(stage.type, stage.type, false, true);
    const auto passes = [&] { return static_cast<uint32_t>(made_.passes.size()); };
    FactorStage steps{passes(), {}};
    for (uint32_t step = 0; step < stage.steps; ++step) {
      const uint32_t now = step % 2, then = 1 - now;
      const uint8_t v = mine.vectors[now], by_matrix = mine.by_matrix[now];
      const auto times = [&](const Product& by, std::vector<uint8_t> tensors) {
        multiply(by, std::move(tensors), mine.control, step);
      };
      if (step % fresh == 0) times(with_matrix, {mine.matrix, v, by_matrix});
      times(with_itself, {v, v, r_});
      times(with_itself, {v, by_matrix, s_});
      pass(turns, shape_.size / rows_of_team(shape_.size),
           {s_, r_, mine.control, mine.turns, measures_, found.lengths}, step);
      times(onward, {v, mine.turns, mine.vectors[then], v});
      if ((step + 1) % fresh != 0) times(onward, {by_matrix, mine.turns, mine.by_matrix[then], by_matrix});
      pass(judge, 1, {measures_, mine.control}, step);
      steps.ends.push_back(passes() - steps.first);
    }
    made_.stages.push_back(std::move(steps));
    stages_.push_back(stage), past_ = mine;
    controls_.push_back(mine.control);
  }

  void end() {
    controls_.push_back(given_.state);
    made_.passes.push_back({add(End(shape_).build(stages_)), 1, controls_});
    for (int i = 0; i < 2; ++i) found.vectors[i] = past_.vectors[i];
    found.control = past_.control, found.step = stages_.back().latest();
  }

  Found found;

 private:
  struct Buffers {
    uint8_t vectors[2], by_matrix[2], turns, control, matrix;  // two: before and after a step
  };
  // A product of two matrices, whose sums may be split.
  struct Product {
    uint32_t program = 0, sum = 0;
    uint64_t teams = 0, sum_teams = 0;
    uint8_t parts = 0;
    bool is_split = false;
  };

  uint8_t numbers(Type type, uint64_t of_each) { return bytes(shape_.batch * of_each * size_of(type)); }
  uint8_t bytes(uint64_t count) {
    made_.scratch.push_back({count});
    return static_cast<uint8_t>(own_ + made_.scratch.size() - 1);
  }
  uint32_t add(Program program) {
    made_.programs.push_back(std::move(program));
    return static_cast<uint32_t>(made_.programs.size() - 1);
  }
  void pass(uint32_t program, uint64_t teams_of_each, std::vector<uint8_t> buffers, uint32_t step) {
    made_.passes.push_back({program, shape_.batch * teams_of_each, std::move(buffers), {step}});
  }

  Buffers buffers_of(const Stage& stage) {
    Buffers mine{};
    for (uint8_t& each : mine.vectors) each = numbers(stage.type, square_);
    for (uint8_t& each : mine.by_matrix) each = numbers(stage.type, square_);
    mine.turns = numbers(stage.type, square_);
    mine.control = numbers(Type::f32, uint64_t{stage.latest() + 1} * Control::words);
    mine.matrix = stage.type == Type::f16 ? numbers(stage.type, square_) : given_.matrix;
    return mine;
  }
  void start(const Stage& stage, const Buffers& mine) {
    const uint8_t to = mine.vectors[0];
    const auto row = [&](Program program, std::vector<uint8_t> buffers) {
      made_.passes.push_back({add(std::move(program)), shape_.batch * shape_.size, std::move(buffers)});
    };
    if (!stages_.empty())
      row(Start("jacobi_wider_vectors", shape_, stage).wider(stages_.back()),
          {past_.vectors[0], past_.vectors[1], past_.control, given_.limit, to, mine.control});
    else if (stage.type == Type::f16)
      row(Start("jacobi_halves", shape_, stage).halves(),
          {given_.matrix, given_.limit, to, mine.control, mine.matrix});
    else
      row(Start("jacobi_first_vectors", shape_, stage).identity(), {given_.limit, to, mine.control});
  }

  // A second pass for the sums of a split k takes about as long as the first at these sizes.
  MatmulTiling tiling_for(const MatmulShape& of) const {
    MatmulTiling tiling = choose_tiling(of, limits_);
    if (tiling.split_k == 1 || of.m > 512 || tiling.method != MatmulMethod::tiled) return tiling;
    tiling.block_m = tiling.block_n = tiling.block_k = 32;
    tiling.part_m = 4, tiling.part_n = 2, tiling.stages = 2, tiling.pad = 0;
    tiling.ahead = tiling.early = false, tiling.split_k = 1;
    return tiling;
  }

  // `onward`: what it is multiplied from the left is added. Number: the step.
  Product product(Type type, Type result, bool turned, bool onward) {
    MatmulShape of;
    of.type = type, of.result = result;
    of.m = of.n = of.k = shape_.size;
    of.batch = static_cast<uint32_t>(shape_.batch);
    of.a_stride = of.b_stride = square_;
    of.transpose_a = turned;
    const MatmulTiling tiling = tiling_for(of);
    Array control, before;
    Value step;
    MatmulHooks hooks;
    hooks.declare_condition = [&](Builder& k) {
      control = k.buffer("control", Type::f32, Access::read);
      step = k.scalar("step", Type::u32);
    };
    hooks.condition = [&](Builder&, Value batch) {
      const Value at = convert(step, Type::u64) * shape_.batch + convert(batch, Type::u64);
      return control[at * Control::words + Control::outcome].get() == Outcome::none;
    };
    if (onward) {
      hooks.declare = [&](Builder& k) { before = k.buffer("before", type, Access::read); };
      hooks.epilogue = [&](Builder&, Value sum, Value batch, Value row, Value column) {
        const Value line = convert(batch, Type::u64) * shape_.size + convert(row, Type::u64);
        return sum + convert(before[line * shape_.size + convert(column, Type::u64)].get(), Type::f32);
      };
    }
    Product made;
    made.is_split = tiling.split_k > 1;
    made.program = add(matmul_program(of, tiling, hooks));
    made.teams = matmul_teams(of, tiling);
    if (!made.is_split) return made;
    made.parts = bytes(matmul_workspace_bytes(of, tiling));
    made.sum = add(matmul_sum_program(of, tiling, hooks));
    made.sum_teams = matmul_sum_teams(of);
    return made;
  }
  // Tensors: a, b, the result and those of the hooks.
  void multiply(const Product& by, std::vector<uint8_t> tensors, uint8_t control, uint32_t step) {
    tensors.push_back(control);
    if (!by.is_split) {
      made_.passes.push_back({by.program, by.teams, std::move(tensors), {step}});
      return;
    }
    made_.passes.push_back({by.program, by.teams, {tensors[0], tensors[1], by.parts, control}, {step}});
    tensors.erase(tensors.begin());
    tensors[0] = by.parts;
    made_.passes.push_back({by.sum, by.sum_teams, std::move(tensors), {step}});
  }

  Factor& made_;
  uint8_t own_;
  const Shape& shape_;
  const Given& given_;
  const Limits& limits_;
  uint64_t square_ = 0;
  uint8_t s_ = 0, r_ = 0, measures_ = 0;
  std::vector<Stage> stages_;
  std::vector<uint8_t> controls_;
  Buffers past_{};
};

bool has_halves(const Limits& limits) {
  const MatrixShape wanted{16, 16, 16, Type::f16, Type::f32};
  const auto& all = limits.cooperative_matrices;
  return limits.storage16 && std::find(all.begin(), all.end(), wanted) != all.end();
}

}  // namespace

// The eigenvalues lie in shared memory.
bool has_products(const FactorPlan& plan, uint32_t size, const Limits& limits) {
  return plan.type == Type::f32 && !plan.complex && size % 8 == 0 &&
         uint64_t{size} * 8 + 4096 <= limits.shared_bytes && plan.batch * size < uint64_t{1} << 31;
}

Found add(Factor& made, uint8_t own, const FactorPlan& plan, uint32_t size, const Given& given,
          const Limits& limits) {
  const Shape shape{plan.n, size, plan.batch};
  Products products(made, own, shape, given, limits);
  // Of random matrices: 22 of 128 columns, 27 of 256, 33 of 512, 42 of 1024, then 6 to 12 with 32 bits.
  const auto likely = static_cast<uint32_t>(12 + 3 * std::bit_width(size - 1));
  if (has_halves(limits)) products.run({.type = Type::f16, .is_last = false, .steps = likely});
  products.run({.type = Type::f32, .steps = has_halves(limits) ? 20 : likely + 12});
  products.end();
  return products.found;
}

Program chosen_lengths(const FactorPlan& plan, uint32_t size) {
  Builder k("jacobi_lengths", Team::one(128));
  const Array matrix = k.buffer("matrix", plan.type, Access::read),
              found = k.buffer("found", plan.type, Access::read),
              state = k.buffer("state", Type::u32, Access::read),
              to = k.buffer("to", plan.type, Access::write);
  const Value at = k.team(Type::u64), which = at / plan.n, i = at % plan.n;
  k.if_(
      state[k.constant(Type::u32, State::times)].get() == 0, [&] { to[at] = found[at].get(); },
      [&] { to[at] = matrix[(which * size + i) * size + i].get(); });
  return k.finish();
}

Program chosen_vectors(const FactorPlan& plan, uint32_t size, const Found& found) {
  Builder k("jacobi_ordered", Team::many(lanes_for(plan.n)));
  const auto read = [&](const char* name, Type type) { return k.buffer(name, type, Access::read); };
  const Array turned = read("turned", plan.type), even = read("even", plan.type),
              odd = read("odd", plan.type), control = read("control", Type::f32),
              ranks = read("ranks", Type::u32), scale = read("scale", plan.type),
              state = read("state", Type::u32), to = k.buffer("to", plan.type, Access::write);
  const Value team = k.team(Type::u64), which = team / plan.n, row = team % plan.n;
  const Value by = scale[which];  // NaN where a number was none
  const auto copy = [&](const Array& from, bool in_rows) {
    k.each(k.constant(Type::u32, plan.n), [&](Value j) {
      const Value column = convert(j, Type::u64),
                  rank = convert(ranks[which * plan.n + column].get(), Type::u64);
      const Value down = in_rows ? column : row, right = in_rows ? row : column;
      const Value x = from[(which * size + down) * size + right];
      to[team * plan.n + rank] = select(is_nan(by), by, x);
    });
  };
  const Value count = control[(which + uint64_t{found.step} * plan.batch) * Control::words + Control::count];
  k.if_(
      state[k.constant(Type::u32, State::times)].get() != 0, [&] { copy(turned, true); },
      [&] {
        k.if_(
            count_parity(count) == 0, [&] { copy(even, false); }, [&] { copy(odd, false); });
      });
  return k.finish();
}

}  // namespace adit::ops::jacobi_products
