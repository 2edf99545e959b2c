// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

/// Adds what ranks do in a collective, and when.
void bind_schedules(nanobind::module_& m);
