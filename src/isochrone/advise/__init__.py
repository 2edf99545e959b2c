# SPDX-License-Identifier: BSD-3-Clause
"""What a program is to gain from a plan, by the profile of a run: its calls and what each kind could save
(``gains``), and what that comes to in words (``verdict``).
"""

from isochrone.advise.gains import Advice, Gain, Kind, advice
from isochrone.advise.verdict import verdict

__all__ = ["Advice", "Gain", "Kind", "advice", "verdict"]
