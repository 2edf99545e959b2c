# SPDX-License-Identifier: BSD-3-Clause
"""The same answers in JSON over HTTP, Prometheus's metrics, and a page that draws the fabric."""

from __future__ import annotations

import asyncio
import json
from html import escape
from importlib import resources
from math import isfinite
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, Field

import isochrone
from isochrone.fabric.routes import ENDINGS, PROTOCOL_VERSION, UNREACHABLE
from isochrone.fabric.serve import metrics
from isochrone.fabric.serve.lines import Counts
from isochrone.fabric.serve.snapshot import Snapshot
from isochrone.fabric.serve.watch import Watched

MOST_BODY_BYTES = 1 << 20
_MOST_NAME = 256
_MOST_DIGITS = 10
_MOST_ERRORS = 10
# A cell has two or four bytes in the answer to a line, and in JSON it is an object of Python's on the way.
MOST_HOSTS = 512
# The page loads nothing from elsewhere, and nothing of the dumps can become a script.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}

_WORDS = "A host, or a GUID with 0x."
Source = Annotated[str, Query(alias="from", max_length=_MOST_NAME, description=_WORDS)]
Target = Annotated[str, Query(max_length=_MOST_NAME, description=_WORDS)]


class Step(BaseModel):
    """A switch on the way."""

    switch: str
    name: str
    in_port: int
    out_port: int


class RouteAnswer(BaseModel):
    """The switches between two hosts; ``speed`` in Gb/s of the slowest cable, 0 where one's is not known."""

    generation: int
    hops: int
    path: list[Step]
    speed: float


class Hosts(BaseModel):
    """Of a matrix; each once."""

    hosts: list[Annotated[str, Field(max_length=_MOST_NAME)]] = Field(min_length=1, max_length=MOST_HOSTS)


class MatrixAnswer(BaseModel):
    """[from, to]; None where no route arrives, and for a speed that is not known or of a host to itself."""

    generation: int
    hosts: list[str]
    hops: list[list[int | None]]
    speed: list[list[float | None]]


def application(watched: Watched, counts: Counts) -> FastAPI:
    """The HTTP face of a server."""
    app = FastAPI(
        title="Isochrone fabric",
        version=isochrone.__version__,
        summary="Routes through an InfiniBand fabric.",
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
    )
    collected = metrics.registry(watched, counts)
    one_matrix = asyncio.Lock()

    @app.exception_handler(RequestValidationError)
    async def _wrong(request: Request, error: RequestValidationError) -> Response:
        # Without what was sent: not all of it can be written as JSON.
        told = [{key: each[key] for key in ("type", "loc", "msg")} for each in error.errors()[:_MOST_ERRORS]]
        return JSONResponse({"detail": told}, 422)

    @app.middleware("http")
    async def _bounded(request: Request, call_next: Any) -> Response:
        length = request.headers.get("content-length", "0")
        is_number = length.isascii() and length.isdigit() and len(length) < _MOST_DIGITS
        if request.headers.get("transfer-encoding") or not is_number or int(length) > MOST_BODY_BYTES:
            return JSONResponse({"detail": f"send at most {MOST_BODY_BYTES} bytes"}, 413, _HEADERS)
        response: Response = await call_next(request)
        response.headers.update(_HEADERS)
        return response

    @app.get("/route", responses={404: {"description": "No such host, or no route"}})
    def route(source: Source, to: Target) -> RouteAnswer:
        """The switches and ports that packets pass from one host to another."""
        return _route(watched.current, source, to)

    @app.get("/hops", responses={404: {"description": "No such host, or no route"}})
    def hops(source: Source, to: Target) -> dict[str, int]:
        """How many switches are between two hosts."""
        return {"hops": _route(watched.current, source, to).hops}

    @app.get("/speed", responses={404: {"description": "No such host, or no route"}})
    def speed(source: Source, to: Target) -> dict[str, float]:
        """Gb/s of data over the slowest cable between two hosts; 0 where one's is not known."""
        return {"speed": _route(watched.current, source, to).speed}

    # What is returned is no model: to check each cell would take much longer than to find it.
    @app.post(
        "/matrix",
        response_model=None,
        responses={200: {"model": MatrixAnswer}, 404: {"description": "No such host"}},
    )
    async def matrix(asked: Hosts) -> Response:
        """Hops and speeds between all of some hosts, each named once. Lines take more hosts."""
        async with one_matrix:
            text = await run_in_threadpool(_matrix, watched.current, asked.hosts)
        return Response(text, media_type="application/json")

    @app.get("/health", responses={503: {"description": "The newest dumps cannot be used"}})
    def health(response: Response) -> dict[str, Any]:
        """Whether all is well. An older generation answers while there is an alarm."""
        now, alarm = watched.current, watched.alarm
        response.status_code = 200 if alarm is None else 503
        return {
            "ok": alarm is None,
            "alarm": alarm,
            "generation": now.told.generation,
            "serial": now.serial,
            **now.told.counts,
        }

    @app.get("/version")
    def version() -> dict[str, Any]:
        """What answers, and which generation of the fabric."""
        return {
            "isochrone": isochrone.__version__,
            "protocol": PROTOCOL_VERSION,
            "generation": watched.current.told.generation,
        }

    @app.get("/findings")
    def findings() -> dict[str, Any]:
        """What is wrong with the fabric, and what is missing in its dumps."""
        told = watched.current.told
        return {"generation": told.generation, "findings": told.findings, "remarks": told.remarks}

    @app.get("/fabric")
    def fabric() -> dict[str, Any]:
        """Switches, hosts, and the cables between switches."""
        now = watched.current
        return {"generation": now.told.generation, "serial": now.serial, **now.told.drawing}

    @app.get("/metrics", include_in_schema=False)
    def prometheus() -> Response:
        return Response(metrics.page(collected), media_type=metrics.CONTENT_TYPE)

    @app.get("/", include_in_schema=False)
    def page() -> HTMLResponse:
        return HTMLResponse(_asset("page.html"))

    @app.get("/page.js", include_in_schema=False)
    def script() -> Response:
        return Response(_asset("page.js"), media_type="text/javascript")

    @app.get("/page.css", include_in_schema=False)
    def style() -> Response:
        return Response(_asset("page.css"), media_type="text/css")

    @app.get("/api", include_in_schema=False)
    def api() -> HTMLResponse:
        return HTMLResponse(_api_page(app.openapi()))

    return app


def _matrix(now: Snapshot, hosts: list[str]) -> str:
    """A ``MatrixAnswer`` as JSON."""
    vertices = [_vertex(now, name) for name in hosts]
    if len(set(vertices)) < len(vertices):
        raise HTTPException(422, "a host is named twice; name each once")
    hops = now.routes.hops(vertices)
    rates = now.routes.rates(vertices)
    told = {
        "generation": now.told.generation,
        "hosts": hosts,
        "hops": [[None if cell == UNREACHABLE else cell for cell in row] for row in hops.tolist()],
        "speed": [
            [round(cell, 3) if cell and isfinite(cell) else None for cell in row] for row in rates.tolist()
        ],
    }
    return json.dumps(told, allow_nan=False)


def _vertex(now: Snapshot, name: str) -> int:
    found = now.service.find(name)
    if found < 0:
        raise HTTPException(404, f"{name!r} is not on this fabric")
    return found


def _route(now: Snapshot, source: str, target: str) -> RouteAnswer:
    ending, hops, rate = now.routes.route(_vertex(now, source), _vertex(now, target))
    if ending != 0:
        raise HTTPException(404, f"the route from {source!r} to {target!r} {ENDINGS[ending]}")
    wiring = now.told.wiring
    return RouteAnswer(
        generation=now.told.generation,
        hops=len(hops),
        path=[
            Step(switch=f"0x{wiring.guids[at]:016x}", name=wiring.labels[at], in_port=into, out_port=out)
            for at, into, out in hops
        ],
        speed=round(rate, 3) if rate != float("inf") else 0.0,
    )


def _asset(name: str) -> str:
    return resources.files("isochrone.fabric.serve").joinpath("assets", name).read_text("utf-8")


def _api_page(openapi: dict[str, Any]) -> str:
    """The endpoints as a table."""
    rows = []
    for path, methods in openapi["paths"].items():
        for method, told in methods.items():
            names = ", ".join(parameter["name"] for parameter in told.get("parameters", ()))
            rows.append(
                f"<tr><td><code>{escape(method.upper())} {escape(path)}</code></td><td>{escape(names)}</td>"
                f"<td>{escape(told.get('description', ''))}</td></tr>"
            )
    return _asset("api.html").replace("<!-- rows -->", "\n".join(rows))
