// The file of a run while it goes, for those who look at a run that did not come to its end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <adit/device.hpp>
#include <adit/draws.hpp>
#include <adit/model.hpp>

#pragma GCC visibility push(default)
namespace adit {

// By its first bytes; false where it cannot be read.
bool is_checkpoint(const std::string& path);
// The name of the model whose run it is; empty where the file does not tell.
std::string model_of_checkpoint(const std::string& path);
// What the run's options said of where the model comes from; empty where they said nothing.
std::string origin_of_checkpoint(const std::string& path);
// How many draws a chain a run could go on from; nothing where there is no state that it could go on from.
std::optional<int64_t> draws_in_checkpoint(const std::string& path);
// `model`: that of the run, with its data; one whose density is another is refused. All whole rows are used.
// Mass matrices are not among the rows and stay empty.
Draws draws_so_far(const std::string& path, const Model& model, const std::shared_ptr<Device>& device);

}  // namespace adit
#pragma GCC visibility pop
