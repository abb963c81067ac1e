// The texts in C++ sources: what src/stan may say, and what programs tests hold.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace adit::stan {

struct SourceText {
  std::string text;
  std::string caller;  // the function whose argument it is, past fmt::format; empty: none
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Reads C++ just well enough: texts that stand side by side are one.
class SourceTexts {
 public:
  explicit SourceTexts(std::string code) : code_(std::move(code)) {
    while (at_ < code_.size()) step();
    end_text();
  }
  std::vector<SourceText> all;

 private:
  static bool is_word(char c) { return isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; }

  void step() {
    const char c = code_[at_];
    if (code_.compare(at_, 2, "//") == 0) {
      at_ = std::min(code_.find('\n', at_), code_.size());
    } else if (code_.compare(at_, 3, "R\"(") == 0) {
      const size_t end = code_.find(")\"", at_);
      add(code_.substr(at_ + 3, end - at_ - 3));
      at_ = end + 2;
    } else if (c == '"') {
      plain_text();
    } else if (isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else {
      end_text();
      word_or_mark();
    }
  }

  void plain_text() {
    std::string found;
    for (++at_; code_[at_] != '"'; ++at_) {
      if (code_[at_] != '\\') {
        found += code_[at_];
        continue;
      }
      const char next = code_[++at_];
      found += next == 'n' ? '\n' : next == 't' ? '\t' : next;
    }
    ++at_;
    add(found);
  }

  void word_or_mark() {
    const char c = code_[at_];
    if (c == '\'') {
      const size_t length = code_[at_ + 1] == '\\' ? 4 : 3;
      at_ += at_ + length <= code_.size() && code_[at_ + length - 1] == '\'' ? length : 1;
      return;
    }
    if (is_word(c)) {
      const size_t begin = at_;
      while (at_ < code_.size() && is_word(code_[at_])) ++at_;
      last_ = code_.substr(begin, at_ - begin);
      return;
    }
    if (c == '(' || c == '[' || c == '{') callers_.push_back(last_);
    if ((c == ')' || c == ']' || c == '}') && !callers_.empty()) callers_.pop_back();
    if (c != '.' && c != '<' && c != '>' && c != '&' && c != '*') last_.clear();
    ++at_;
  }

  void add(const std::string& text) { has_ = true, text_ += text; }

  void end_text() {
    if (!has_) return;
    std::string caller;
    for (const std::string& name : callers_)
      if (!name.empty() && name != "fmt::format" && name != "if" && name != "for") caller = name;
    all.push_back({text_, caller});
    text_.clear();
    has_ = false;
  }

  std::string code_, last_, text_;
  std::vector<std::string> callers_;
  size_t at_ = 0;
  bool has_ = false;
};

// The fixed parts of a format, in order: "expected {}, got {}" has two.
inline std::vector<std::string> fixed_parts(const std::string& format) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    const bool is_twice = i + 1 < format.size() && format[i + 1] == c;
    if ((c == '{' || c == '}') && is_twice) {
      parts.back() += c, ++i;
    } else if (c == '{' && format.find('}', i) != std::string::npos && format.find('}', i) <= i + 6) {
      i = format.find('}', i);
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

inline bool is_said(const std::string& said, const std::vector<std::string>& parts) {
  size_t at = 0;
  for (const std::string& part : parts) {
    at = said.find(part, at);
    if (at == std::string::npos) return false;
    at += part.size();
  }
  return true;
}

}  // namespace adit::stan
