// Our own form of a shape and a workload (docs/shapes.md), from the tree that TOML or JSON gave.
#pragma once

#include "read/fields.h"
#include "tilewright/read.h"

namespace tilewright::read {

/// The shape of a file with a [shape] table, and its workload when it has a [workload] table.
ShapeFile read_own_shape(const Value& root, Report& report);

}  // namespace tilewright::read
