#include "stan/data_only.hpp"

#include "stan/copies.hpp"
#include "stan/uses.hpp"

namespace adit::stan {

namespace {

using StatementKind = Statement::Kind;

void add_targets(const Target& target, std::set<int>& slots) {
  if (target.slot >= 0) slots.insert(target.slot);
  for (const Target& part : target.parts) add_targets(part, slots);
}

// What a statement writes itself, without those inside of it.
std::set<int> own_writes(const Statement& s) {
  std::set<int> slots;
  if (s.kind == StatementKind::assign) add_targets(s.target, slots);
  if (s.slot >= 0) slots.insert(s.slot);
  return slots;
}

// What it reads itself. A part of a variable that is replaced leaves the rest of it.
std::set<int> own_reads(const Statement& s, bool& is_random) {
  std::set<int> slots;
  each_own_expression(s, [&](const Expression& e) {
    if (e.kind == Expression::Kind::variable && e.slot >= 0) slots.insert(e.slot);
    is_random = is_random || e.kind == Expression::Kind::target ||
                (e.kind == Expression::Kind::call && e.name.ends_with("_rng"));
  });
  if (s.kind == StatementKind::assign && (s.compound || !s.target.steps.empty()))
    add_targets(s.target, slots);
  return slots;
}

class Taint {
 public:
  explicit Taint(const std::function<bool(int)>& is_known) : is_known_(is_known) {}

  std::set<int> slots;  // that do not follow from data
  bool grew = false;

  void spread(const Statement& s, bool under) {
    bool bad = under;
    const std::set<int> reads = own_reads(s, bad);
    for (const int slot : reads) bad = bad || is_bad(slot);
    if (s.kind == StatementKind::declare) {
      for (const Declaration& declaration : s.declarations) declared_.insert(declaration.slot);
      if (bad)
        for (const Declaration& declaration : s.declarations) add(declaration.slot);
    }
    for (const int slot : own_writes(s)) {
      if (s.kind != StatementKind::assign) declared_.insert(slot);
      if (bad) add(slot);
    }
    if (s.body) spread(*s.body, bad);
    if (s.otherwise) spread(*s.otherwise, bad);
    for (const StatementPtr& inner : s.statements) spread(*inner, under);
  }

 private:
  bool is_bad(int slot) const {
    return slots.contains(slot) || (!declared_.contains(slot) && !is_known_(slot));
  }
  void add(int slot) { grew = slots.insert(slot).second || grew; }

  const std::function<bool(int)>& is_known_;
  std::set<int> declared_;
};

void collect_written(const Statement& s, std::set<int>& slots) {
  slots.merge(own_writes(s));
  for (const Declaration& declaration : s.declarations) slots.insert(declaration.slot);
  if (s.body) collect_written(*s.body, slots);
  if (s.otherwise) collect_written(*s.otherwise, slots);
  for (const StatementPtr& inner : s.statements) collect_written(*inner, slots);
}

// True where the statement writes one of the slots, which then has what it and those around it read.
bool add_sources(const Statement& s, std::set<int>& slots) {
  bool wanted = false;
  if (s.kind == StatementKind::assign)
    for (const int slot : own_writes(s)) wanted = wanted || slots.contains(slot);
  for (const Declaration& declaration : s.declarations) wanted = wanted || slots.contains(declaration.slot);
  if (s.body && add_sources(*s.body, slots)) wanted = true;
  if (s.otherwise && add_sources(*s.otherwise, slots)) wanted = true;
  bool of_list = false;
  for (const StatementPtr& inner : s.statements) of_list = add_sources(*inner, slots) || of_list;
  bool is_random = false;
  if (wanted) slots.merge(own_reads(s, is_random));
  return wanted || of_list;
}

}  // namespace

std::set<int> data_only_slots(const Statement& statement, const std::function<bool(int)>& is_known) {
  Taint taint(is_known);
  do {
    taint.grew = false;
    taint.spread(statement, false);
  } while (taint.grew);
  std::set<int> written;
  collect_written(statement, written);
  for (const int slot : taint.slots) written.erase(slot);
  const std::set<int> own = declared_slots(statement);
  std::erase_if(written, [&](int slot) { return !own.contains(slot) && !is_known(slot); });
  return written;
}

std::set<int> with_sources(const Statement& statement, std::set<int> slots) {
  size_t before = 0;
  do {
    before = slots.size();
    add_sources(statement, slots);
  } while (slots.size() > before);
  return slots;
}

StatementPtr part_that_writes(const Statement& s, const std::set<int>& slots) {
  const auto wants = [&](int slot) { return slots.contains(slot); };
  if (s.kind == StatementKind::assign) {
    for (const int slot : own_writes(s))
      if (wants(slot)) return copy_of(s);
    return nullptr;
  }
  StatementPtr part = shell_of(s);
  if (s.kind == StatementKind::declare) {
    std::erase_if(part->declarations, [&](const Declaration& one) { return !wants(one.slot); });
    return part->declarations.empty() ? nullptr : std::move(part);
  }
  for (const StatementPtr& inner : s.statements)
    if (StatementPtr kept = part_that_writes(*inner, slots)) part->statements.push_back(std::move(kept));
  if (s.body) part->body = part_that_writes(*s.body, slots);
  if (s.otherwise) part->otherwise = part_that_writes(*s.otherwise, slots);
  if (part->statements.empty() && !part->body && !part->otherwise) return nullptr;
  if (s.body && !part->body) {
    part->body = std::make_unique<Statement>();
    part->body->place = s.body->place;
  }
  return part;
}

}  // namespace adit::stan
