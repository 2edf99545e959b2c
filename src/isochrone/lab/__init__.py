# SPDX-License-Identifier: BSD-3-Clause
"""Labs: real MPI libraries between hosts that are namespaces of this machine, on an emulated network.

`isochrone-lab` (``native/lab``) is one lab: it makes the hosts and moves their packets. What is here
describes labs, starts and stops them, and launches MPI programs in them.
"""
