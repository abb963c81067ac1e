// Rows with reductions: sums, softmax, norms. A row is all elements that one result of a reduction is made
// of.
//
// The reductions of a group have levels: level 0 reads tensors alone, level 1 also results of level 0, and so
// on. A kernel goes through the row once a level, then once more to write what is as large as the row.
#pragma once

#include <optional>

#include "compile/launch.hpp"

namespace adit::compile {

// Rows whose elements lie apart: those of the middle axis of a space [outer, lines, inner].
struct Columns {
  int64_t outer = 1, lines = 1, inner = 1;
};

struct RowPlan {
  std::vector<std::vector<const Node*>> levels;  // reductions
  std::vector<const Node*> whole_roots;          // as large as the row, to be stored
  std::vector<const Node*> row_roots;            // one a row, to be stored
  Shape rows;                                    // the space without the reduced axes
  int64_t count = 0, length = 0;                 // of rows; of a row
  bool consecutive = false;                      // a row's elements lie together
  std::optional<Columns> columns;                // none where they do, or where the reduced axes lie apart
};
RowPlan plan_rows(const Group& group, const Partition& partition);

class RowWriter;

// All rows of a group as a piece of a kernel of one team.
class RowsInside {
 public:
  // `may_widen`: a lane may take several elements at once, which other pieces give to lanes one by one.
  RowsInside(const Group& group, Workshop& shop, kernel::Builder& k, Arguments& arguments,
             bool may_widen = true);
  Writer& writer();
  // `keep` is offered the results of a single row, which all lanes know; what it does not take is stored.
  void write(const std::function<bool(const Node&, const Scalar&)>& keep = {});

 private:
  RowPlan plan_;
  bool by_team_ = false;
  kernel::Builder* builder_ = nullptr;
  std::shared_ptr<RowWriter> rows_;
};

// Rows whose elements lie apart, on a GPU: a team takes `columns` rows that lie side by side, and `slices`
// lanes go through each of them, so that what its lanes read lies together. No columns: not so.
struct RowTiles {
  int64_t columns = 0, slices = 0;
  int64_t parts = 1;  // that each row is cut into besides
  int64_t lanes() const { return columns * slices; }
};
RowTiles tiles_for(const Group& group, const RowPlan& plan, const Target& target);

// How rows are cut: by teams along a row, or by tiles, or a lane a part.
struct RowCut {
  int64_t parts = 1;
  bool by_team = false;
  RowTiles tiles;
};

// Splits one level of reductions over many teams, with a second kernel that joins the parts.
std::vector<Launch> split_rows(const Group& group, const RowPlan& plan, Workshop& shop, const RowCut& cut);

// Fixes, before a row is walked, what is the same for all its elements.
void fix_row_values(Writer& writer, const Group& group, const Partition& partition, const Index& row);

}  // namespace adit::compile
