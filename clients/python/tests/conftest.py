"""Fixtures for all tests: the stub server, our own server, and the drivers for the clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from driver import DRIVERS, Driver
from server import Server
from stub import Stub

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def stub() -> Iterator[Stub]:
    """A server that follows each test's script."""
    server = Stub()
    yield server
    server.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Our own server, with the repository's exports."""
    started = Server.start()
    yield started
    started.stop()


@pytest.fixture(params=sorted(DRIVERS))
def driver(request: pytest.FixtureRequest) -> Driver:
    """The blocking client, and the asynchronous one on asyncio and on Trio."""
    return DRIVERS[str(request.param)]
