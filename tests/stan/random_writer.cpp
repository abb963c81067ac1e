#include "random_writer.hpp"

#include <fmt/format.h>

namespace adit::test {

std::string ModelWriter::any(std::initializer_list<const char*> words) {
  return words.begin()[pick(words.size())];
}

std::string ModelWriter::number() {
  const int64_t hundredths = between(-190, 190);
  const std::string text = fmt::format("{:.2f}", static_cast<double>(hundredths) / 100);
  return hundredths < 0 ? "(" + text + ")" : text;
}

std::string ModelWriter::fresh(const char* stem) { return fmt::format("{}{}", stem, ++counter_); }

Extent ModelWriter::extent() { return extents_[pick(extents_.size())]; }

Kind ModelWriter::some_kind(bool with_integers) {
  Kind kind;
  kind.form = static_cast<Form>(with_integers ? pick(5) : 1 + pick(4));
  if (chance(3)) kind.form = Form::real;
  for (size_t axes = chance(3) ? 1 + pick(2) : 0; axes > 0; --axes) kind.array.push_back(extent());
  const size_t own = kind.form == Form::matrix ? 2 : kind.form >= Form::vector ? 1 : 0;
  for (size_t i = 0; i < own; ++i) kind.own.push_back(extent());
  return kind;
}

namespace {

std::string joined(const std::vector<Extent>& axes) {
  std::string text;
  for (const Extent& axis : axes) text += (text.empty() ? "" : ", ") + axis.text;
  return text;
}

const char* word_of(Form form) {
  constexpr const char* words[] = {"int", "real", "vector", "row_vector", "matrix"};
  return words[static_cast<size_t>(form)];
}

}  // namespace

std::string ModelWriter::kind_text(const Kind& kind, const std::string& constraint) const {
  std::string text = kind.array.empty() ? "" : "array[" + joined(kind.array) + "] ";
  text += word_of(kind.form) + constraint;
  return kind.own.empty() ? text : text + "[" + joined(kind.own) + "]";
}

std::string ModelWriter::unsized_text(const Kind& kind) const {
  const std::string commas(kind.array.empty() ? 0 : kind.array.size() - 1, ',');
  return (kind.array.empty() ? "" : "array[" + commas + "] ") + word_of(kind.form);
}

void ModelWriter::line(const std::string& text) {
  out_ += std::string(static_cast<size_t>(2 * indent_), ' ') + text + "\n";
}

void ModelWriter::open(const std::string& text) {
  line(text + " {");
  ++indent_;
}

void ModelWriter::close(const std::string& text) {
  --indent_;
  line(text);
}

}  // namespace adit::test
