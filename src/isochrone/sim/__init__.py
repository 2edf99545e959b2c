# SPDX-License-Identifier: BSD-3-Clause
"""Simulated clusters: their description, the placement of ranks, and running the native programs on them.

A cluster is a YAML file (``description.py`` says what it holds; ``systems/`` has those that come along).
``load_system`` makes a frozen ``System`` of it, ``truth`` says which levels a survey should find there, and
``SimTarget`` runs the same native code as on a real cluster, compiled for SimGrid's SMPI.
"""
