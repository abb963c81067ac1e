#include "compile/columns.hpp"

#include <algorithm>

#include "compile/serial.hpp"
#include "compile/totals.hpp"

namespace adit::compile {

using kernel::Builder;
using kernel::Type;

namespace {

// Vectors enough that a loop over them is worth its beginning and its end.
constexpr int64_t long_line = 64;
constexpr int64_t block = 1024, lines_at_once = 8;

class LineWalker {
 public:
  LineWalker(const Group& group, const RowPlan& plan, Workshop& shop, const LinePlan& lines)
      : group_(group),
        plan_(plan),
        shop_(shop),
        lines_(lines),
        width_(plan.columns->inner * lines.together),
        index_type_(index_type_for(group, shop.partition)),
        totals_(plan, shop, plan.columns->outer * lines.parts * width_) {
    const int64_t whole = plan.columns->lines / lines.together;
    chunk_ = (whole + lines.parts - 1) / lines.parts;
    chunk_ = (chunk_ + lines_at_once - 1) / lines_at_once * lines_at_once;
  }

  std::vector<Launch> make() {
    std::vector<Launch> launches;
    launches.push_back(walking());
    launches.push_back(joining());
    return launches;
  }

 private:
  // The first of the sums of an outer place and a part.
  Value sums_at(Writer& writer, Value outer, Value part) const {
    return (part * writer.number(plan_.columns->outer) + outer) * writer.number(width_);
  }

  Launch walking() {
    Builder k(kernel_name(group_, shop_.partition, "lines"), kernel::Team::many(64));
    Arguments arguments(k);
    Writer writer(k, arguments, shop_.partition, group_, index_type_);
    Group reductions_only = group_;
    reductions_only.roots = plan_.levels[0];
    Partition reads_only = shop_.partition;
    reads_only.stored.clear();
    declare_arguments(writer, reductions_only, reads_only);
    for (const Node* memory : totals_.memory)
      cells_.push_back(arguments.tensor(*memory, kernel::Access::read_write));
    const int64_t blocks = (width_ + block - 1) / block, outer_count = plan_.columns->outer;
    const Value team = k.team(index_type_), number = team / writer.number(blocks);
    const Value first = blocks == 1 ? writer.number(0) : team % writer.number(blocks) * writer.number(block);
    const Value outer = outer_count == 1 ? writer.number(0) : number % writer.number(outer_count);
    const Value part = outer_count == 1 ? number : number / writer.number(outer_count);
    const Value slots = sums_at(writer, outer, part) + first;
    const Value from = outer * writer.number(plan_.columns->lines * plan_.columns->inner) + first;
    const Value columns = convert(min(writer.number(block), writer.number(width_) - first), Type::u32);
    k.each(columns, [&](Value i) {
      for (size_t j = 0; j < cells_.size(); ++j)
        cells_[j][slots + convert(i, index_type_)] = totals_.none(k, j);
    });
    const Value whole = writer.number(plan_.columns->lines / lines_.together);
    const Value begin = min(part * writer.number(chunk_), whole);
    const Value end = min(begin + writer.number(chunk_), whole);
    const Value steps = begin + (end - begin) / writer.number(lines_at_once) * writer.number(lines_at_once);
    const auto walk = [&](Value count, Value line, int64_t at_once) {
      k.each(count, [&](Value i) {
        const Value column = convert(i, index_type_);
        add_lines(writer, slots + column, from + line * writer.number(width_) + column, at_once);
      });
    };
    k.for_(begin, steps, writer.number(lines_at_once),
           [&](Value line) { walk(columns, line, lines_at_once); });
    k.for_(steps, end, writer.number(1), [&](Value line) { walk(columns, line, 1); });
    // The last lines, which are not as many as go together.
    if (const int64_t rest = plan_.columns->lines % lines_.together * plan_.columns->inner; rest > 0) {
      const Value left = select(part == writer.number(lines_.parts - 1) && first < writer.number(rest),
                                min(writer.number(rest) - first, writer.number(block)), writer.number(0));
      walk(convert(left, Type::u32), whole, 1);
    }
    return {k.finish(), static_cast<uint64_t>(lines_.parts * outer_count * blocks), arguments.bindings()};
  }

  void add_lines(Writer& writer, Value slot, Value element, int64_t at_once) {
    const Writer::Scope scope(writer);
    Builder& k = writer.builder();
    std::vector<Value> sums;
    for (const kernel::Array& cell : cells_) sums.push_back(cell[slot]);
    for (int64_t step = 0; step < at_once; ++step) {
      const Index at(k, group_.full, element + writer.number(step * width_));
      size_t j = 0;
      for (const Node* node : plan_.levels[0])
        for (const Value part : contributions(*node, writer.read(graph::node_of(node->operands[0]), at))) {
          sums[j] = combine(totals_.reductions[j], sums[j], part);
          ++j;
        }
    }
    for (size_t j = 0; j < cells_.size(); ++j) cells_[j][slot] = sums[j];
  }

  // Then an invocation a column.
  Launch joining() {
    Builder k(kernel_name(group_, shop_.partition, "join"), kernel::Team::one(64));
    Arguments arguments(k);
    Writer writer(k, arguments, shop_.partition, group_, index_type_);
    declare_arguments(writer, group_, shop_.partition);
    std::vector<kernel::Array> cells;
    for (const Node* memory : totals_.memory)
      cells.push_back(arguments.tensor(*memory, kernel::Access::read));
    const Value row_number = k.team(index_type_);
    const int64_t inner = plan_.columns->inner, outer = plan_.columns->outer, together = lines_.together;
    // Without a division where one will do, so that neighbours read neighbours.
    const Value first =
        outer == 1 || together == 1
            ? row_number
            : row_number / writer.number(inner) * writer.number(width_) + row_number % writer.number(inner);
    const Value of_a_part = writer.number(outer * width_);
    const auto body = [&](Value part) {
      std::vector<Value> sums;
      for (int64_t line = 0; line < together; ++line)
        for (size_t j = 0; j < cells.size(); ++j) {
          const Value sum = cells[j][part * of_a_part + first + writer.number(line * inner)];
          if (line == 0)
            sums.push_back(sum);
          else
            sums[j] = combine(totals_.reductions[j], sums[j], sum);
        }
      return sums;
    };
    const std::vector<Value> totals =
        loop_totals(k, writer.number(lines_.parts), totals_.reductions, totals_.types, body);
    fix_totals(writer, plan_.levels[0], totals);
    const Index row(k, plan_.rows, row_number);
    std::vector<Scalar> values;
    for (const Node* root : plan_.row_roots) values.push_back(writer.read(*root, row.reshaped(root->shape)));
    for (size_t i = 0; i < values.size(); ++i)
      writer.store(*plan_.row_roots[i], row.reshaped(plan_.row_roots[i]->shape), values[i]);
    return {k.finish(), static_cast<uint64_t>(plan_.count), arguments.bindings()};
  }

  const Group& group_;
  const RowPlan& plan_;
  Workshop& shop_;
  const LinePlan lines_;
  const int64_t width_;  // of the lines that are walked
  const Type index_type_;
  Totals totals_;
  int64_t chunk_ = 0;  // lines of a part
  std::vector<kernel::Array> cells_;
};

}  // namespace

std::optional<LinePlan> lines_for(const RowPlan& plan, const Target& target) {
  if (target.gpu || !plan.columns || !plan.whole_roots.empty() || plan.levels.size() != 1) return {};
  const auto [outer, lines, inner] = *plan.columns;
  LinePlan found;
  if (inner < long_line) found.together = (long_line + inner - 1) / inner;
  const int64_t whole = lines / found.together;
  // Columns that fill a vector are walked one by one where they are short.
  if (whole < lines_at_once || (columns_of_a_team(plan, target) > 0 && lines < 128)) return {};
  found.parts = std::clamp<int64_t>(whole / 64, 1, std::max<int64_t>(1, 64 / outer));
  return found;
}

std::vector<Launch> line_launches(const Group& group, const RowPlan& plan, Workshop& shop,
                                  const LinePlan& lines) {
  return LineWalker(group, plan, shop, lines).make();
}

int64_t columns_of_a_team(const RowPlan& plan, const Target& target) {
  constexpr int64_t of_a_vector = 8, most = 256;
  return target.gpu || !plan.columns || plan.columns->inner < of_a_vector
             ? 0
             : std::min(plan.columns->inner, most);
}

}  // namespace adit::compile
