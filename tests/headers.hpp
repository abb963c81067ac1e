// What is compiled once for all tests. A test still includes what it uses. Nothing of ours stands here: names
// of the public headers would clash with those inside, and each change would compile all tests again.
#pragma once
#include <gtest/gtest.h>

#include "support/headers.hpp"
