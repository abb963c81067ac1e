// Everything a user of tensors and models includes.
#pragma once

#include <adit/command.hpp>
#include <adit/constraint.hpp>
#include <adit/control.hpp>
#include <adit/csv.hpp>
#include <adit/device.hpp>
#include <adit/diagnostics.hpp>
#include <adit/distribution.hpp>
#include <adit/dlpack.hpp>
#include <adit/draws.hpp>
#include <adit/dtype.hpp>
#include <adit/einsum.hpp>
#include <adit/error.hpp>
#include <adit/explain.hpp>
#include <adit/io.hpp>
#include <adit/model.hpp>
#include <adit/network.hpp>
#include <adit/ops.hpp>
#include <adit/random.hpp>
#include <adit/sample.hpp>
#include <adit/sample_memory.hpp>
#include <adit/shape.hpp>
#include <adit/tensor.hpp>
#include <adit/transform.hpp>
