// Attributes of operations, and options: [{name, value}] as adit_attribute.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <adit/c.h>

#include "call.hpp"

namespace adit::nif {

class Attributes {
 public:
  Attributes(Call& call, std::string_view argument, Term list);
  size_t size() const { return list_.size(); }
  const adit_attribute* data() const { return list_.data(); }
  const std::vector<std::shared_ptr<adit_function>>& functions() const { return functions_; }

 private:
  void read_value(Call& call, std::string_view argument, Term value, adit_attribute& to);
  void read_numbers(Call& call, std::string_view argument, Term value, adit_attribute& to);

  std::vector<adit_attribute> list_;
  std::vector<std::shared_ptr<adit_function>> functions_;
};

}  // namespace adit::nif
