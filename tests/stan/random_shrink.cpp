#include "random_shrink.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

namespace adit::test {

namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string text_of_lines(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

int64_t braces_in(const std::string& line) {
  return std::count(line.begin(), line.end(), '{') - std::count(line.begin(), line.end(), '}');
}

// One behind the line that closes what `first` opens; `first` + 1 where it opens nothing.
size_t end_of(const Lines& lines, size_t first) {
  int64_t open = 0;
  for (size_t i = first; i < lines.size(); ++i) {
    open += braces_in(lines[i]);
    if (open <= 0) return i + 1;
  }
  return lines.size();
}

Lines without(const Lines& lines, size_t first, size_t last) {
  Lines rest(lines.begin(), lines.begin() + static_cast<int64_t>(first));
  rest.insert(rest.end(), lines.begin() + static_cast<int64_t>(last), lines.end());
  return rest;
}

// One part of the expressions of a line less: (a OP b) and (c ? a : b) as a or as b.
std::vector<std::string> simpler(const std::string& line) {
  std::vector<std::string> found;
  for (size_t open = 0; open < line.size(); ++open) {
    if (line[open] != '(' && line[open] != ',') continue;
    int depth = 0;
    for (size_t close = open + 1; close < line.size(); ++close) {
      const char c = line[close];
      if (depth == 0 && (c == ')' || c == ',' || c == '|')) {
        const std::string inside = line.substr(open + 1, close - open - 1);
        if (inside.size() > 4) found.push_back(line.substr(0, open + 1) + " 0.5" + line.substr(close));
        if (inside.size() > 4) found.push_back(line.substr(0, open + 1) + " 1" + line.substr(close));
        break;
      }
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      if (depth < 0) break;
    }
  }
  const size_t equals = line.find(" = ");
  if (equals != std::string::npos && line.size() - equals > 8)
    found.push_back(line.substr(0, equals) + " = 0.5;");
  return found;
}

}  // namespace

std::string shrunk(std::string text, const std::function<bool(const std::string&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    Lines lines = lines_of(text);
    for (size_t i = lines.size(); i-- > 0;) {
      if (i >= lines.size() || braces_in(lines[i]) < 0) continue;
      const size_t end = end_of(lines, i);
      Lines rest = without(lines, i, end);
      bool works = fails(text_of_lines(rest));
      if (!works && end > i + 1) {  // what stands in the braces alone
        rest = without(without(lines, end - 1, end), i, i + 1);
        works = fails(text_of_lines(rest));
      }
      for (const std::string& other : works || end > i + 1 ? Lines() : simpler(lines[i])) {
        rest = lines;
        rest[i] = other;
        if ((works = fails(text_of_lines(rest)))) break;
      }
      if (!works) continue;
      lines = std::move(rest);
      smaller = true;
    }
    text = text_of_lines(lines);
  }
  return text;
}

}  // namespace adit::test
