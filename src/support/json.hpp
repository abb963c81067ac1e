// JSON from outside.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include <adit/text.hpp>

namespace adit {

// Discarded where the text is no JSON, or nests too deep.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text) {
  if (nests_too_deep(text)) return Json(nlohmann::detail::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

}  // namespace adit
