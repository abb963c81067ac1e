// The executables that were made, by structure: the ones used last stay, so that a program with endless new
// shapes does not fill memory.
#pragma once

#include <list>
#include <map>
#include <memory>

#include "compile/executable.hpp"
#include "compile/structure.hpp"

namespace adit {

// Not thread-safe: the graph lock holds it.
class Executables {
 public:
  explicit Executables(size_t most) : most_(most) {}

  // Null where it is not known. What is found counts as used.
  std::shared_ptr<const compile::Executable> find(const compile::Key& key);
  // Lets go of the one that was used longest ago when there are too many.
  void insert(const compile::Key& key, std::shared_ptr<const compile::Executable> executable);
  void set_most(size_t most);
  size_t most() const { return most_; }
  size_t size() const { return places_.size(); }

 private:
  struct Entry {
    compile::Key key;
    std::shared_ptr<const compile::Executable> executable;
  };
  void shrink();

  size_t most_;
  std::list<Entry> entries_;  // used last comes first
  std::map<compile::Key, std::list<Entry>::iterator> places_;
};

// Those of this process, at most 4096; under the graph lock.
Executables& executables();

}  // namespace adit
