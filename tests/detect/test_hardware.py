# SPDX-License-Identifier: BSD-3-Clause
"""hwloc's XML tells which ranks share a socket, a cache, a core."""

from __future__ import annotations

import socket

import pytest

from isochrone.detect.hardware import cpu_sets, hardware_partitions
from isochrone.files import Place

HERE = socket.gethostname().partition(".")[0]

XML = """<?xml version="1.0" encoding="UTF-8"?>
<topology version="2.0"><object type="Machine" os_index="0" cpuset="0x000000ff">
  <object type="Package" os_index="0" cpuset="0x0000000f">
    <object type="NUMANode" os_index="0" cpuset="0x0000000f"/>
    <object type="L3Cache" cpuset="0x00000003">
      <object type="Core" cpuset="0x00000001"/><object type="Core" cpuset="0x00000002"/></object>
    <object type="L3Cache" cpuset="0x0000000c">
      <object type="Core" cpuset="0x00000004"/><object type="Core" cpuset="0x00000008"/></object>
  </object>
  <object type="Package" os_index="1" cpuset="0x000000f0">
    <object type="L3Cache" cpuset="0x00000030"/><object type="L3Cache" cpuset="0x000000c0"/>
  </object></object></topology>"""


def places(*cpus: str | None, host: str = HERE, signature: str = "here") -> list[Place]:
    return [Place(host, text, signature) for text in cpus]


def test_ranks_are_grouped_by_the_objects_that_hold_their_cpus():
    found = hardware_partitions(places("0", "1", "3", "7"), XML)
    assert found["socket"] == [(HERE, 0), (HERE, 0), (HERE, 0), (HERE, 1)]
    assert found["l3"] == [(HERE, 0), (HERE, 0), (HERE, 1), (HERE, 3)]


def test_ranks_that_span_two_caches_are_not_grouped_by_cache():
    found = hardware_partitions(places("0-3", "4-7"), XML)
    assert found["socket"] == [(HERE, 0), (HERE, 1)]
    assert "l3" not in found


def test_hosts_with_the_hardware_of_this_one_are_built_like_it():
    found = hardware_partitions([*places("0"), *places("0", host="elsewhere")], XML)
    assert found["socket"] == [(HERE, 0), ("elsewhere", 0)]


def test_of_other_hardware_nothing_is_known():
    assert hardware_partitions([*places("0"), *places("0", host="elsewhere", signature="other")], XML) == {}


def test_of_ranks_that_are_not_bound_nothing_is_known():
    assert hardware_partitions(places("0", None), XML) == {}


def test_masks_of_several_words_are_read_from_the_highest():
    found = cpu_sets('<topology><object type="Core" cpuset="0x00000001,0x00000003"/></topology>')
    assert found == {"core": [frozenset({0, 1, 32})]}


@pytest.mark.parametrize("xml", ["", "<topology", "<topology><object type='Core' cpuset='zz'/></topology>"])
def test_damaged_xml_is_no_hardware(xml):
    assert cpu_sets(xml) == {}
