#include "graph/build/einsum_subscripts.hpp"

#include <algorithm>
#include <array>

#include "graph/build/arguments.hpp"

namespace adit::graph {

namespace subscripts {

constexpr int letters = 52;
constexpr int most_labels = letters + max_rank;

[[noreturn]] void wrong(const std::string& message) { fail("einsum", "subscripts", message); }

int label_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  wrong(fmt::format("expected letters, commas, \"...\" and \"->\", got '{}'", c));
}
char name_of_label(int label) { return static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26); }

// The labels of one term; where the ellipsis stands, if there is one.
struct Term {
  std::vector<int> labels;
  int ellipsis = -1;
};

Term read_term(std::string_view text) {
  Term term;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ' ') continue;
    if (text[at] != '.') {
      term.labels.push_back(label_of(text[at]));
      continue;
    }
    if (text.substr(at, 3) != "..." || term.ellipsis >= 0)
      wrong(fmt::format("expected at most one \"...\" a term, got \"{}\"", text));
    term.ellipsis = static_cast<int>(term.labels.size());
    at += 2;
  }
  return term;
}

// What was left over in each operand, in front of which letter.
std::vector<int> with_ellipsis(const Term& term, int axes) {
  std::vector<int> labels = term.labels, others;
  for (int axis = axes - 1; axis >= 0; --axis) others.push_back(letters + axis);
  if (term.ellipsis >= 0) labels.insert(labels.begin() + term.ellipsis, others.begin(), others.end());
  return labels;
}

class Reading {
 public:
  Reading(std::string_view text, std::span<const Shape> shapes) : shapes_(shapes) {
    made_.extents.assign(most_labels, 1);
    const size_t arrow = text.find("->");
    read_operands(text.substr(0, arrow));
    find_extents();
    if (arrow == std::string_view::npos)
      make_result();
    else
      read_result(text.substr(arrow + 2));
  }

  Subscripts take() { return std::move(made_); }

 private:
  void read_operands(std::string_view text) {
    std::vector<Term> terms;
    for (size_t start = 0; start <= text.size();) {
      const size_t end = std::min(text.find(',', start), text.size());
      terms.push_back(read_term(text.substr(start, end - start)));
      start = end + 1;
    }
    if (terms.size() != shapes_.size())
      wrong(fmt::format("expected a term for each of {} operands, got {}", shapes_.size(), terms.size()));
    for (size_t i = 0; i < terms.size(); ++i) {
      const int more = shapes_[i].size() - static_cast<int>(terms[i].labels.size());
      if (more < 0 || (more > 0 && terms[i].ellipsis < 0))
        wrong(fmt::format("expected a letter for each axis of operand {}, of shape {}, got {}", i,
                          to_string(shapes_[i]), terms[i].labels.size()));
      if (terms[i].ellipsis >= 0) ellipsis_axes_ = std::max(ellipsis_axes_, more);
      made_.operands.push_back(with_ellipsis(terms[i], more));
    }
  }

  // An extent of 1 repeats, as in NumPy, but not within an operand.
  void find_extents() {
    for (size_t i = 0; i < made_.operands.size(); ++i) {
      std::array<int64_t, most_labels> own;
      own.fill(-1);
      for (int axis = 0; axis < shapes_[i].size(); ++axis) {
        const int label = made_.operands[i][static_cast<size_t>(axis)];
        const auto at = static_cast<size_t>(label);
        const int64_t extent = shapes_[i][axis];
        int64_t& known = made_.extents[at];
        const bool same = own[at] < 0 ? known == extent || known == 1 || extent == 1 : own[at] == extent;
        if (!same)
          fail("einsum", fmt::format("operand {}", i),
               fmt::format("expected extent {} along axis {}{}, got shape {}", own[at] < 0 ? known : own[at],
                           axis, label < letters ? fmt::format(" ('{}')", name_of_label(label)) : "",
                           to_string(shapes_[i])));
        own[at] = extent;
        if (extent != 1) known = extent;
      }
    }
  }

  void make_result() {
    std::array<int, letters> times{};
    for (const std::vector<int>& labels : made_.operands)
      for (const int label : labels)
        if (label < letters) ++times[static_cast<size_t>(label)];
    Term term;
    term.ellipsis = 0;
    for (int label = 0; label < letters; ++label)
      if (times[static_cast<size_t>(label)] == 1) term.labels.push_back(label);
    made_.result = with_ellipsis(term, ellipsis_axes_);
  }

  void read_result(std::string_view text) {
    const Term term = read_term(text);
    if (term.ellipsis < 0 && ellipsis_axes_ > 0)
      wrong("expected \"...\" in the result, since operands have axes there, got none");
    for (const int label : term.labels) {
      if (std::count(term.labels.begin(), term.labels.end(), label) > 1)
        wrong(fmt::format("expected each letter once in the result, got '{}' again", name_of_label(label)));
      const bool known = std::any_of(made_.operands.begin(), made_.operands.end(), [&](const auto& labels) {
        return std::find(labels.begin(), labels.end(), label) != labels.end();
      });
      if (!known)
        wrong(fmt::format("expected letters of operands in the result, got '{}'", name_of_label(label)));
    }
    made_.result = with_ellipsis(term, ellipsis_axes_);
  }

  std::span<const Shape> shapes_;
  Subscripts made_;
  int ellipsis_axes_ = 0;
};

}  // namespace subscripts

Subscripts read_subscripts(std::string_view text, std::span<const Shape> shapes) {
  return subscripts::Reading(text, shapes).take();
}

}  // namespace adit::graph
