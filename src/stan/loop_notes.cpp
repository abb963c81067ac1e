#include "stan/loop_notes.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace adit::stan {

namespace {

constexpr size_t most_ways = 6;        // of one loop that are told: a function may be called with many sizes
constexpr size_t most_counted = 4096;  // loops on data, by their rounds

std::string name_of(const Target& target, int slot) {
  if (target.slot == slot) return target.name;
  for (const Target& part : target.parts)
    if (std::string name = name_of(part, slot); !name.empty()) return name;
  return {};
}

std::string place_text(const Program& program, const Place& place) {
  const Source& source = program.sources[place.file];
  const auto line = line_of(source, place.begin).line;
  return place.file == 0 ? fmt::format("line {}", line) : fmt::format("{}, line {}", source.name, line);
}

// The ways that one loop was run, each with how often.
struct LoopWays {
  std::vector<std::pair<std::string, int64_t>> list;
  void add(const std::string& how, int64_t times) {
    const auto same = std::find_if(list.begin(), list.end(), [&](auto& way) { return way.first == how; });
    if (same == list.end())
      list.emplace_back(how, times);
    else
      same->second += times;
  }
};

}  // namespace

void LoopNotes::on_data(const Statement& loop, int64_t rounds) {
  const std::pair which{&loop, rounds};
  if (const auto at = on_data_.find(which); at != on_data_.end())
    ++at->second;
  else if (on_data_.size() < most_counted)
    on_data_[which] = 1;
}

std::vector<std::string> LoopNotes::lines(const Program& program) const {
  // By place: a loop around others ends after them, and is told before.
  std::map<std::pair<uint32_t, uint32_t>, std::pair<Place, LoopWays>> loops;
  const auto ways_of = [&](const Statement& loop) -> LoopWays& {
    auto& [place, ways] = loops[{loop.place.file, loop.place.begin}];
    place = loop.place;
    return ways;
  };
  for (const auto& [which, times] : on_data_)
    ways_of(*which.first).add(fmt::format("{} rounds on data alone, run beforehand", which.second), times);
  for (const Note& note : told_) ways_of(*note.loop).add(note.how, 1);
  std::vector<std::string> lines;
  for (const auto& [key, loop] : loops) {
    const auto& [place, ways] = loop;
    const std::string where = place_text(program, place);
    for (size_t i = 0; i < std::min(ways.list.size(), most_ways); ++i) {
      const auto& [how, times] = ways.list[i];
      lines.push_back(fmt::format("{}: {}{}", where, how, times > 1 ? fmt::format(", {} times", times) : ""));
    }
    if (ways.list.size() > most_ways)
      lines.push_back(fmt::format("{}: and in {} more ways", where, ways.list.size() - most_ways));
  }
  return lines;
}

std::string name_of_written(const Statement& statement, int slot) {
  if (std::string name = name_of(statement.target, slot); !name.empty()) return name;
  for (const StatementPtr* inner : {&statement.body, &statement.otherwise})
    if (*inner)
      if (std::string name = name_of_written(**inner, slot); !name.empty()) return name;
  for (const StatementPtr& inner : statement.statements)
    if (std::string name = name_of_written(*inner, slot); !name.empty()) return name;
  return {};
}

}  // namespace adit::stan
