// What is dear to compute and is needed again when a CPU goes through a row once more: the exponentials of a
// softmax, which are summed first and divided then. They stay in memory of the kernel's own.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "compile/rows.hpp"

namespace adit::compile {

// Passes through a row are its levels, and then that which writes what is as large as the row.
class KeptRow {
 public:
  KeptRow() = default;
  KeptRow(const Group& group, const RowPlan& plan, const Partition& partition, bool by_team,
          kernel::Builder& k);

  // Element `r` in pass `pass`: what earlier passes kept stands for itself from now on.
  void find(Writer& writer, int pass, Value r) const;
  // And what this pass is to keep is kept.
  void keep(Writer& writer, int pass, Value r, const Index& at) const;
  // True where a pass is few instructions an element.
  bool is_short(int pass) const { return lengths_.empty() || lengths_[static_cast<size_t>(pass)] <= 16; }

 private:
  struct Kept {
    const Node* node = nullptr;
    int first = 0;  // the pass that computes it
    kernel::Array cells;
  };
  std::vector<Kept> all_;
  std::vector<double> lengths_;  // of the code of each pass
};

}  // namespace adit::compile
