#include "oracle_programs.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace adit::test {

namespace {

std::string oracle_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

// FNV-1a, as programs.py has it.
std::string digest_of(const std::string& text) {
  uint64_t digest = 0xcbf29ce484222325;
  for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", digest);
}

// The rest of a line `// word: rest`.
std::string note(const std::string& text, const std::string& word) {
  const std::string begin = "// " + word + ": ";
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    if (text.compare(at, begin.size(), begin) == 0)
      return text.substr(at + begin.size(), text.find('\n', at) - at - begin.size());
    if (text.find('\n', at) == std::string::npos) break;
  }
  return "";
}

// Bodies by name: what stands between the lines `//// name`.
std::map<std::string, std::string> bodies(const std::string& text) {
  std::map<std::string, std::string> found;
  std::string* body = nullptr;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.size(), text.find('\n', at) + 1);
    const std::string line = text.substr(at, end - at);
    at = end;
    if (line.starts_with("//// ") && line != "//// in 2.21\n") {
      const std::string name = line.substr(5, line.size() - 6);
      if (found.contains(name)) throw std::runtime_error("two programs are " + name);
      body = &found[name];
    } else if (body != nullptr) {
      *body += line;
    }
  }
  return found;
}

OracleProgram program_of(const std::string& name, const std::string& body, const nlohmann::json& recorded) {
  if (!recorded.contains(name)) throw std::runtime_error(name + " is not recorded");
  const nlohmann::json& values = recorded[name];
  if (values["digest"] != digest_of(body))
    throw std::runtime_error(name + " was changed and not recorded again");
  OracleProgram program;
  program.name = name;
  program.text = body.substr(0, body.find("//// in 2.21\n"));
  program.origin = values["origin"];
  program.data = note(program.text, "data");
  if (program.data.empty()) program.data = "{}";
  if (const std::string within = note(program.text, "within"); !within.empty()) {
    if (within.find(", for ") == std::string::npos)
      throw std::runtime_error(name + ": `within` without a reason");
    program.within = std::stod(within);
  }
  const std::string without = note(program.text, "without");
  if (!without.empty() && !without.starts_with("interpreter, for it lacks "))
    throw std::runtime_error(name + ": `without` without a reason");
  program.skips_interpreter = !without.empty();
  for (size_t i = 0; i < values["points"].size(); ++i)
    program.points.push_back({values["points"][i], values["log_densities"].at(i), values["gradients"].at(i)});
  return program;
}

}  // namespace

std::vector<OracleProgram> oracle_programs(const std::string& folder, const std::string& only) {
  const auto recorded = nlohmann::json::parse(oracle_file(std::filesystem::path(folder) / "values.json"));
  std::map<std::string, OracleProgram> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    for (const auto& [name, body] : bodies(oracle_file(entry.path())))
      if ((only.empty() || ("," + only + ",").find("," + name + ",") != std::string::npos) &&
          !found.emplace(name, program_of(name, body, recorded)).second)
        throw std::runtime_error("two programs are " + name);
  }
  std::vector<OracleProgram> programs;
  for (auto& [name, program] : found) programs.push_back(std::move(program));
  return programs;
}

}  // namespace adit::test
