// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

/// Adds what maps ranks to the module.
void bind_mapping(nanobind::module_& m);
