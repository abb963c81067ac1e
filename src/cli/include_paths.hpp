// --include-paths: the folders that #include of a Stan program looks into.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace adit::cli {

// The option of a subcommand: "a,b", and again.
void declare_include_paths(CLI::App& command, std::vector<std::string>& folders);

}  // namespace adit::cli
