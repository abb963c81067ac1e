// Everything a user of tensors includes.
#pragma once

#include <adit/control.hpp>
#include <adit/device.hpp>
#include <adit/dlpack.hpp>
#include <adit/dtype.hpp>
#include <adit/error.hpp>
#include <adit/explain.hpp>
#include <adit/io.hpp>
#include <adit/ops.hpp>
#include <adit/random.hpp>
#include <adit/shape.hpp>
#include <adit/tensor.hpp>
#include <adit/transform.hpp>
