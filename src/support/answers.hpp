// Questions about a graph whose answers follow from those to others, without recursion: a chain of a million
// operations would leave the stack, and operands that are shared would be looked at again for each path.
#pragma once

#include <algorithm>
#include <vector>

namespace adit {

// Puts the answer to `first` into `known`, and those to all that it follows from, each once. `ask(question,
// want)` calls `want` with the others that the question's answer needs; those are known when `make(question)`
// makes it. They are answered in the order in which they are wanted, as a recursion would.
template <class Question, class Known, class Ask, class Make>
void answer(const Question& first, Known& known, const Ask& ask, const Make& make) {
  std::vector<Question> open{first};
  while (!open.empty()) {
    const Question question = open.back();
    if (known.contains(question)) {
      open.pop_back();
      continue;
    }
    const size_t before = open.size();
    ask(question, [&](const Question& other) {
      if (!known.contains(other)) open.push_back(other);
    });
    if (open.size() > before) {
      std::reverse(open.begin() + static_cast<std::ptrdiff_t>(before), open.end());
      continue;
    }
    known.insert_or_assign(question, make(question));
    open.pop_back();
  }
}

}  // namespace adit
