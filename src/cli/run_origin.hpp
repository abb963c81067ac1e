// Where the model of a run came from, as its checkpoint keeps it: who looks at a run that was killed makes
// the model again.
#pragma once

#include <optional>
#include <string>

#include <adit/model.hpp>

namespace adit::cli {

// Of a Stan program and its data, as JSON: whole paths, so that the folder may be looked at from anywhere.
// Empty where a path is no UTF-8, which JSON cannot tell.
std::string origin_text(const std::string& program, const std::string& data,
                        const std::vector<std::string>& include_paths, uint64_t seed);

// The model again, from such a text; none where it names no program. `where` begins the errors: the program
// or its data may be gone. That the data have changed since is said on standard error.
std::optional<Model> model_of_origin(const std::string& where, const std::string& text);

}  // namespace adit::cli
