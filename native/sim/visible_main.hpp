// SPDX-License-Identifier: BSD-3-Clause
//
// Included before everything else by the programs that SimGrid loads: it looks their main up, as in a
// library, and so must find it although Isochrone's symbols are hidden.
#pragma once

[[gnu::visibility("default")]] int main(int, char**);
