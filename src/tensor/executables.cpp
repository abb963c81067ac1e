#include "tensor/executables.hpp"

namespace adit {

std::shared_ptr<const compile::Executable> Executables::find(const compile::Key& key) {
  const auto it = places_.find(key);
  if (it == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, it->second);
  return it->second->executable;
}

void Executables::insert(const compile::Key& key, std::shared_ptr<const compile::Executable> executable) {
  if (const auto it = places_.find(key); it != places_.end()) entries_.erase(it->second);
  entries_.push_front({key, std::move(executable)});
  places_[key] = entries_.begin();
  shrink();
}

void Executables::set_most(size_t most) {
  most_ = most;
  shrink();
}

void Executables::shrink() {
  while (entries_.size() > most_) {
    places_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

Executables& executables() {
  static Executables known(4096);
  return known;
}

}  // namespace adit
