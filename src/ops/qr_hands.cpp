#include "ops/qr_hands.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "ops/factor_writer.hpp"
#include "ops/hands.hpp"
#include "ops/qr_blocks.hpp"

namespace adit::ops {

using namespace kernel;

namespace qr_by_hands {
namespace {

// Rows from which a panel is cut into blocks, and rows of one. Teams of a block work side by side, but every
// level of the tree costs a kernel or two.
constexpr uint32_t block_rows = 512;

enum Tensors : uint8_t { given, q_factor, r_factor, work, reflections, triangles };

uint64_t bytes_of(const FactorPlan& plan) { return size_of(plan.type) * (plan.complex ? 2 : 1); }

uint32_t most_rows(const FactorPlan& plan, uint32_t width, const Limits& limits) {
  uint32_t rows = 32;
  while (qr_team(plan, width, 2 * rows, limits).rows) rows *= 2;
  return rows;
}

uint32_t up(uint32_t number, uint32_t step) { return (number + step - 1) / step * step; }

// The levels of every panel's tree.
struct Schedule {
  uint32_t width = 0;
  QrShape shape;  // of x
  std::vector<std::vector<QrLevel>> panels;
};

Schedule schedule_of(const FactorPlan& of, const Limits& limits, uint32_t wanted) {
  Schedule made;
  made.width = qr_width(of);
  made.shape = {of.m, of.n, 0, 0};
  const uint32_t width = made.width, fitting = most_rows(of, width, limits);
  const uint32_t most = wanted ? wanted : fitting, block = wanted ? wanted : std::min(block_rows, fitting);
  for (uint32_t start = 0; start < std::min(of.m, of.n); start += width) {
    std::vector<QrLevel> levels;
    uint32_t rows = of.m - start, stride = width;
    while (true) {
      QrLevel level{start, stride, up(rows, 32), 1, 0, 0};
      if (rows > most) {
        level.rows = block;
        level.blocks = (rows + block - 1) / block;
      }
      level.v_first = made.shape.v_rows;
      level.t_first = made.shape.t_count;
      made.shape.v_rows += level.rows * level.blocks;
      made.shape.t_count += level.blocks;
      levels.push_back(level);
      if (level.blocks == 1) break;
      rows = level.blocks * width;
      stride *= block / width;
    }
    made.panels.push_back(levels);
  }
  return made;
}

// An invocation an element: r is the upper part of the work.
Program upper(const FactorPlan& plan, uint32_t columns) {
  Builder k("qr_upper", Team::one());
  const Array h = k.buffer("work", plan.type, Access::read), to = k.buffer("r", plan.type, Access::write);
  const Value at = k.team(Type::u64), column = at % plan.n, row = at / plan.n % columns,
              matrix = at / plan.n / columns;
  const Value from = (matrix * plan.m + min(row, row.like(plan.m - 1))) * plan.n + column;
  const Number x = load_number(h, from, plan.complex);
  store_number(to, at, chosen(row > column, zero_like(x), x, plan.complex), plan.complex);
  return k.finish();
}

// Programs are made once, whoever asks for one.
class Passes {
 public:
  Passes(const FactorPlan& plan, uint32_t columns, const Limits& limits, uint32_t wanted)
      : plan_(plan), columns_(columns), limits_(limits), schedule_(schedule_of(plan, limits, wanted)) {}

  Factor build() {
    const QrLevel& first = schedule_.panels[0][0];
    if (schedule_.panels.size() == 1 && first.blocks == 1 && columns_ <= schedule_.width &&
        plan_.n <= schedule_.width) {
      whole(first);
      return std::move(made_);
    }
    const QrShape& shape = schedule_.shape;
    const uint64_t number = bytes_of(plan_), width = schedule_.width;
    made_.scratch = {{plan_.batch * plan_.m * plan_.n * number},
                     {plan_.batch * shape.v_rows * width * number},
                     {plan_.batch * shape.t_count * width * width * number}};
    for (const std::vector<QrLevel>& panel : schedule_.panels)
      for (size_t level = 0; level < panel.size(); ++level) factor(panel[level], level);
    made_.passes.push_back(
        {program(upper(plan_, columns_)), plan_.batch * columns_ * plan_.n, {work, r_factor}});
    // From the last panel to the first: columns before a panel are those of the identity still.
    const uint32_t form = program(qr_apply(plan_, schedule_.width, false, limits_));
    uint32_t known = std::numeric_limits<uint32_t>::max();
    for (size_t panel = schedule_.panels.size(); panel-- > 0;) {
      const std::vector<QrLevel>& levels = schedule_.panels[panel];
      for (size_t level = levels.size(); level-- > 0;) {
        const QrLevel& now = levels[level];
        apply(form, now, now.start, columns_, {q_factor, q_factor, reflections, triangles});
        const uint32_t seen = level + 1 == levels.size() ? 0 : schedule_.width;
        made_.passes.back().numbers.insert(made_.passes.back().numbers.end(), {seen, known});
      }
      known = levels[0].start;
    }
    return std::move(made_);
  }

 private:
  uint32_t program(Program made) {
    made_.programs.push_back(std::move(made));
    return static_cast<uint32_t>(made_.programs.size() - 1);
  }

  void whole(const QrLevel& level) {
    const QrTeam team = qr_team(plan_, schedule_.width, plan_.m, limits_);
    FactorPass pass{program(qr_whole(team)),
                    plan_.batch,
                    {given, q_factor, r_factor},
                    qr_numbers(schedule_.shape, level)};
    pass.numbers.push_back(columns_);
    made_.passes.push_back(pass);
  }

  // The panel's own level, and the columns right of it; the first panel's first level reads what is given.
  void factor(const QrLevel& level, size_t depth) {
    const QrTeam team = qr_team(plan_, schedule_.width, level.rows, limits_);
    const auto [found, is_new] = panels_.try_emplace(team.capacity(), 0);
    if (is_new) found->second = program(qr_panel(team));
    const uint8_t from = level.start == 0 && depth == 0 ? given : work;
    const std::vector<uint8_t> buffers{from, work, reflections, triangles};
    made_.passes.push_back(
        {found->second, plan_.batch * level.blocks, buffers, qr_numbers(schedule_.shape, level)});
    const uint32_t end = level.start + schedule_.width;
    if (end >= plan_.n) return;
    if (!update_) update_ = program(qr_apply(plan_, schedule_.width, true, limits_)) + 1;
    apply(update_ - 1, level, end, plan_.n, buffers);
  }

  void apply(uint32_t which, const QrLevel& level, uint32_t first, uint32_t end,
             const std::vector<uint8_t>& buffers) {
    const uint32_t tiles = (end - first + qr_tile - 1) / qr_tile;
    QrShape shape = schedule_.shape;
    shape.columns = end;
    FactorPass pass{which, plan_.batch * level.blocks * tiles, buffers, qr_numbers(shape, level)};
    pass.numbers.insert(pass.numbers.end(), {first, tiles});
    made_.passes.push_back(pass);
  }

  const FactorPlan& plan_;
  uint32_t columns_;
  const Limits& limits_;
  Schedule schedule_;
  Factor made_;
  std::map<uint32_t, uint32_t> panels_;  // by the rows that a team holds
  uint32_t update_ = 0;                  // one more than its number
};

}  // namespace
}  // namespace qr_by_hands

bool has_qr_by_hand(const FactorPlan& plan, const Limits& limits) {
  if (!plan.by_hand || !has_hands(limits)) return false;
  const uint32_t width = qr_width(plan);
  return plan.m > 0 && plan.n > 0 && plan.batch > 0 && qr_team(plan, width, 4 * width, limits).rows &&
         can_apply_qr(plan, width, limits);
}

Factor qr_by_hand(const FactorPlan& plan, uint32_t columns, const Limits& limits, uint32_t most_rows) {
  return qr_by_hands::Passes(plan, columns, limits, most_rows).build();
}

}  // namespace adit::ops
