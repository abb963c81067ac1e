// Joins groups that share a space.
#include <algorithm>
#include <map>
#include <set>

#include "compile/partition_steps.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Kind;
using graph::Op;

namespace {

// Joins groups that share a space, so that what one computes the other finds in registers.
class Merger {
 public:
  Merger(std::vector<Group> groups, const Partition& partition, const Target& target)
      : groups_(std::move(groups)),
        partition_(partition),
        target_(target),
        reads_(groups_.size()),
        sizes_(groups_.size()) {
    for (size_t g = 0; g < groups_.size(); ++g)
      for (const Node* root : groups_[g].roots) owner_[root] = g;
    for (size_t g = 0; g < groups_.size(); ++g) {
      find_reads(g);
      for_each_inside(groups_[g], partition_,
                      [&](const Node& node, Reading) { sizes_[g] += code_length(node); });
    }
  }

  std::vector<Group> run() {
    for (size_t g = 0; g < groups_.size(); ++g) {
      bool changed = true;
      while (changed) {
        changed = false;
        const std::vector<size_t> before = producers(g);
        for (auto p = before.rbegin(); p != before.rend() && !changed; ++p) changed = try_merge(*p, g);
      }
    }
    merge_siblings();
    return ordered();
  }

 private:
  using Reads = std::map<const Node*, std::set<Reading>>;

  void find_reads(size_t g) {
    Reads& reads = reads_[g];
    reads.clear();
    for_each_read(groups_[g], partition_,
                  [&](const Node& node, Reading reading) { reads[&node].insert(reading); });
  }

  // Oldest first, each once.
  std::vector<size_t> producers(size_t g) const {
    std::vector<size_t> found;
    for (const auto& [node, places] : reads_[g])
      if (const auto it = owner_.find(node); it != owner_.end() && it->second != g)
        found.push_back(it->second);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  // May `from` need `what`, through any other group? Where the way is long the answer is yes: groups so far
  // apart gain nothing from each other. The numbers of nodes tell nothing here: an old group may wait for a
  // young one through a group that holds nodes of both ages.
  bool depends(size_t from, size_t what, bool directly_too) const {
    constexpr size_t most_looked_at = 256;
    std::unordered_set<size_t> seen;
    std::vector<size_t> open;
    for (const size_t p : producers(from)) {
      if (p == what && directly_too) return true;
      if (p != what) open.push_back(p);
    }
    while (!open.empty()) {
      const size_t next = open.back();
      open.pop_back();
      if (next == what) return true;
      if (!seen.insert(next).second) continue;
      if (seen.size() > most_looked_at) return true;
      for (const size_t p : producers(next)) open.push_back(p);
    }
    return false;
  }

  bool rows_can_grow(const Group& rows) const {
    // A few long rows are split over many teams; then nothing else can ride along.
    return rows.row_length() <= 16384 || rows.row_count() >= 256;
  }

  // May `c`, which reads results of `p`, be computed with it?
  bool joins(const Group& p, const Group& c, Group& joint, const Reads& reads) const {
    joint = c;
    if (takes_epilogue(p) && c.form == Group::Form::loop) {
      joint.form = Group::Form::kernel;
      for (const Node* root : c.roots)
        if (element_count(root->shape) != element_count(p.roots[0]->shape) || !is_float(root->type))
          return false;
      return c.roots.size() <= 3 && all_reads(p, reads, {Reading::whole});
    }
    if (p.form == Group::Form::kernel || c.form == Group::Form::kernel) return false;
    // Sums along rows mostly stay inside of the kernel, and so do not count as much.
    const size_t most_roots = p.form == Group::Form::rows ? 12 : 8;
    if (p.roots.size() + c.roots.size() > most_roots) return false;
    if (p.form == Group::Form::loop && c.form == Group::Form::loop) {
      if (element_count(p.roots[0]->shape) != element_count(c.roots[0]->shape)) return false;
      return all_reads(p, reads, {Reading::whole});
    }
    if (p.form != Group::Form::rows) return false;
    joint.form = Group::Form::rows;
    joint.full = p.full;
    joint.axes = p.axes;
    if (c.form == Group::Form::rows) return p.full == c.full && p.axes == c.axes && rows_can_grow(p);
    const Shape& shape = c.roots[0]->shape;
    for (const Node* root : c.roots)
      if (!(root->shape == shape)) return false;
    if (shape == p.full && element_count(shape) != p.row_count()) return rows_can_grow(p);
    return element_count(shape) == p.row_count();
  }

  // A product on a GPU goes on with its sums before it stores them.
  bool takes_epilogue(const Group& p) const {
    return target_.gpu && p.form == Group::Form::kernel && p.roots.size() == 1 && p.roots[0]->op == Op::dot &&
           is_float(p.roots[0]->type);
  }

  bool all_reads(const Group& p, const Reads& reads, const std::set<Reading>& allowed) const {
    for (const Node* root : p.roots)
      if (const auto it = reads.find(root); it != reads.end())
        for (const Reading reading : it->second)
          if (!allowed.contains(reading)) return false;
    return true;
  }

  bool try_merge(size_t p, size_t c) {
    Group joint;
    if (sizes_[p] + sizes_[c] > most_code) return false;
    if (!joins(groups_[p], groups_[c], joint, reads_[c])) return false;
    // In rows the places are judged in the joint space.
    if (joint.form == Group::Form::rows) {
      Reads reads;
      for_each_read(joint, partition_,
                    [&](const Node& node, Reading reading) { reads[&node].insert(reading); });
      for (const Node* root : groups_[p].roots) {
        const auto it = reads.find(root);
        if (it == reads.end()) continue;
        const bool is_whole = root->shape == joint.full && graph::row_of(root->op).kind != Kind::reduction;
        for (const Reading reading : it->second)
          if (reading != (is_whole ? Reading::whole : Reading::row)) return false;
      }
    }
    if (depends(c, p, false)) return false;
    absorb(p, c, std::move(joint));
    return true;
  }

  void absorb(size_t p, size_t c, Group joint) {
    joint.roots.insert(joint.roots.end(), groups_[p].roots.begin(), groups_[p].roots.end());
    std::sort(joint.roots.begin(), joint.roots.end(),
              [](const Node* a, const Node* b) { return a->number < b->number; });
    groups_[c] = std::move(joint);
    groups_[p].roots.clear();
    reads_[p].clear();
    sizes_[c] += std::exchange(sizes_[p], 0);
    for (const Node* root : groups_[c].roots) owner_[root] = c;
    find_reads(c);
  }

  // Loops over equally many elements that read the same tensors, or are small: one launch.
  void merge_siblings() {
    std::map<int64_t, std::vector<size_t>> by_size;
    for (size_t g = 0; g < groups_.size(); ++g)
      if (!groups_[g].roots.empty() && groups_[g].form == Group::Form::loop)
        by_size[element_count(groups_[g].roots[0]->shape)].push_back(g);
    for (auto& [size, members] : by_size) {
      if (members.size() > 64) continue;
      for (size_t i = 0; i < members.size(); ++i)
        for (size_t j = i + 1; j < members.size(); ++j) {
          const size_t a = members[i], b = members[j];
          if (groups_[a].roots.empty() || groups_[b].roots.empty()) continue;
          if (groups_[a].roots.size() + groups_[b].roots.size() > 8) continue;
          if (size > 65536 && !share_a_read(a, b)) continue;
          if (reads_[a].size() + reads_[b].size() > 24) continue;
          if (sizes_[a] + sizes_[b] > most_code) continue;
          if (depends(b, a, true) || depends(a, b, true)) continue;
          absorb(a, b, groups_[b]);
        }
    }
  }

  bool share_a_read(size_t a, size_t b) const {
    for (const auto& [node, places] : reads_[a])
      if (node->op != Op::number && reads_[b].contains(node)) return true;
    return false;
  }

  // Each behind what it reads, and otherwise as they are. Without recursion: a chain may be as long as it
  // likes.
  std::vector<Group> ordered() {
    enum class State : uint8_t { untouched, waits, placed };
    std::vector<State> states(groups_.size(), State::untouched);
    std::vector<Group> result;
    std::vector<size_t> open;
    for (size_t first = 0; first < groups_.size(); ++first) {
      open.push_back(first);
      while (!open.empty()) {
        const size_t g = open.back();
        if (groups_[g].roots.empty() || states[g] != State::untouched) {
          open.pop_back();
          if (states[g] == State::waits) {
            states[g] = State::placed;
            result.push_back(std::move(groups_[g]));
          }
          continue;
        }
        states[g] = State::waits;
        const std::vector<size_t> before = producers(g);
        for (auto p = before.rbegin(); p != before.rend(); ++p)
          if (states[*p] == State::untouched) open.push_back(*p);
      }
    }
    return result;
  }

  std::vector<Group> groups_;
  const Partition& partition_;
  const Target& target_;
  std::unordered_map<const Node*, size_t> owner_;
  std::vector<Reads> reads_;   // by group
  std::vector<double> sizes_;  // of their code; what several compute counts for each
};

}  // namespace

std::vector<Group> merged(std::vector<Group> groups, const Partition& partition, const Target& target) {
  return Merger(std::move(groups), partition, target).run();
}

}  // namespace adit::compile
