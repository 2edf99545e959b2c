# SPDX-License-Identifier: BSD-3-Clause
"""Broadcasts by mpi4py, of objects and of memory. Rank 0 prints how many arrived wrong on all ranks."""

from mpi4py import MPI

world = MPI.COMM_WORLD
wrong = 0
for turn in range(10):
    root = turn % world.size
    sent = {"turn": turn, "word": "x" * 100 * turn}
    wrong += world.bcast(sent if world.rank == root else None, root=root) != sent
    data = bytearray(bytes([turn]) * 1000 if world.rank == root else 1000)
    world.Bcast([data, MPI.BYTE], root=root)
    wrong += data != bytes([turn]) * 1000
total = world.reduce(wrong, root=0)
if world.rank == 0:
    print(total, "wrong values", flush=True)
