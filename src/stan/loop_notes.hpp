// How the loops of a program were run, for people who wonder what became of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stan/syntax.hpp"

namespace adit::stan {

class LoopNotes {
 public:
  // "800 rounds together". Who begins again in another way cuts what was told since.
  void tell(const Statement& loop, std::string how) { told_.push_back({&loop, std::move(how)}); }
  size_t size() const { return told_.size(); }
  void cut(size_t size) { told_.resize(size); }
  // A loop on data alone, which may run millions of times: only counted.
  void on_data(const Statement& loop, int64_t rounds);

  // One line a loop and a way, in the order of the program: "line 12: 800 rounds together, 3 times".
  std::vector<std::string> lines(const Program& program) const;

 private:
  struct Note {
    const Statement* loop = nullptr;
    std::string how;
  };
  std::vector<Note> told_;
  std::map<std::pair<const Statement*, int64_t>, int64_t> on_data_;  // how often, by rounds
};

// Of a variable that a statement writes, by its slot; empty where it writes none such.
std::string name_of_written(const Statement& statement, int slot);

}  // namespace adit::stan
