// JSON from outside.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace adit {

// Nothing that is read here nests deeper; whoever walks a document may go down by recursion.
inline constexpr int deepest_json = 100;

inline bool nests_too_deep(std::string_view text) {
  int depth = 0;
  bool in_word = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_word && c == '\\')
      ++i;
    else if (c == '"')
      in_word = !in_word;
    else if (!in_word && (c == '[' || c == '{') && ++depth > deepest_json)
      return true;
    else if (!in_word && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

// Discarded where the text is no JSON, or nests too deep.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text) {
  if (nests_too_deep(text)) return Json(nlohmann::detail::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

}  // namespace adit
