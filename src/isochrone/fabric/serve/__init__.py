# SPDX-License-Identifier: BSD-3-Clause
"""A server that answers for a fabric: routes in lines over TCP, all of it in JSON over HTTP."""
