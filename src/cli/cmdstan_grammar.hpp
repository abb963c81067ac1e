// CmdStan's words: which nests in which, and what values they take.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace adit::cli {

struct CmdStanCall {
  std::string model, method;  // no method: help was asked for
  // What was given, by its place: "sample.num_samples", "sample.adapt.delta", "sample.hmc.nuts.max_depth",
  // "data.file". Numbers are in range, and choices among those there are.
  std::map<std::string, std::string> values;
  std::vector<std::string> rest;  // from the first word that begins with "-": the command's own options

  bool has(const std::string& place) const { return values.contains(place); }
  // What was given, or else `otherwise`.
  std::string value(const std::string& place, const std::string& otherwise) const;
  bool is_true(const std::string& place, bool otherwise) const;
};

// Of a program and the words that follow it, in CmdStan's nesting: a word belongs to the innermost group that
// is open and knows it, and closes those inside. Throws UsageError, with the nearest word or the right place.
CmdStanCall read_cmdstan(const std::vector<std::string>& words);

}  // namespace adit::cli
