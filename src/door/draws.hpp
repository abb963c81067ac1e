// Draws behind their handle.
#pragma once

#include <map>

#include <adit/draws.hpp>

#include "door/handles.hpp"

struct adit_draws {
  std::shared_ptr<const adit::Draws> draws;
  // What the caller looks at lives here, as long as the handle.
  std::map<std::string, std::vector<adit_variable>, std::less<>> groups;
  std::map<std::string, std::vector<double>, std::less<>> numbers;
  mutable std::mutex mutex;  // of what is made at its first use
  mutable std::optional<adit::Summary> summary;
  mutable std::vector<adit_summary_row> rows;
  mutable std::optional<std::vector<std::string>> warnings;
  mutable std::vector<const char*> warning_texts;
};

namespace adit::door {

std::unique_ptr<adit_draws> draws_of(std::shared_ptr<const Draws> draws);

}  // namespace adit::door
