# SPDX-License-Identifier: BSD-3-Clause
"""InfiniBand fabrics: their dumps, their routes, their faults, and a server that answers for them."""
