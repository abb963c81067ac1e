// The executables that were made, by structure.
#pragma once

#include <memory>

#include "compile/executable.hpp"
#include "compile/structure.hpp"
#include "support/recent.hpp"
#include "support/spin_lock.hpp"

namespace adit {

using Executables = Recent<compile::Key, std::shared_ptr<const compile::Executable>>;

// Those of this process, as many as code_memory() has room for; under their mutex.
Executables& executables();
SpinLock& executables_mutex();

}  // namespace adit
