// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

/// Adds routes through fabrics to the module.
void bind_fabric(nanobind::module_& m);
