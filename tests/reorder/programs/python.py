# SPDX-License-Identifier: BSD-3-Clause
"""The world by mpi4py: rank 0 says as which ranks all were launched, and how many values were wrong."""

import os

from mpi4py import MPI

world = MPI.COMM_WORLD
launched = next(int(os.environ[name]) for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK") if name in os.environ)
every = world.gather(launched, root=0)
following, before = (world.rank + 1) % world.size, (world.rank - 1) % world.size
wrong = int(world.sendrecv(world.rank, following, source=before) != before)
wrong += world.allgather(world.rank) != list(range(world.size))
wrong += world.Get_attr(MPI.TAG_UB) < 32767
copy = world.Dup()
wrong += copy.rank != world.rank or MPI.Comm.Compare(world, copy) != MPI.CONGRUENT
copy.Free()
total = world.reduce(wrong, root=0)
if world.rank == 0:
    print("launched as", *every)
    print(total, "wrong values", flush=True)
