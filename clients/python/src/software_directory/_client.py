"""The blocking client."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from ._caller import Caller
from ._environment import api_key_or_default, base_url_or_default
from ._generated.resources import (
    AttributesResource,
    CategoriesResource,
    ChangesResource,
    ExportsResource,
    GlossaryResource,
    Operations,
    ReviewsResource,
    SearchResource,
    SoftwareResource,
)
from ._http import default_transport, over_client, over_transport
from ._protocol.cache import Cache
from ._protocol.messages import raw_call
from ._protocol.settings import (
    DEFAULT_GENERATION_CHANGE,
    DEFAULT_MAX_CONNECTIONS,
    DEFAULT_MAX_RETRIES,
    DEFAULT_MAX_RETRY_AFTER_SECONDS,
    DEFAULT_TIMEOUT_SECONDS,
    UNCHANGED,
    Settings,
    Unchanged,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    import httpx

    from ._protocol.generations import GenerationChange
    from ._protocol.messages import ParameterValue, Response
    from ._protocol.settings import OnRetry

ClientT = TypeVar("ClientT", bound="SoftwareDirectory")


class SoftwareDirectory(Operations):
    """A client of a software directory.

        with SoftwareDirectory(api_key="sd_live_…", base_url="https://directory.example") as client:
            for product in client.software.list(category="audit-management"):
                print(product["name"])

    It may be shared between threads. Close it, or use it in a `with` statement, to give its connections back.
    """

    software: SoftwareResource
    attributes: AttributesResource
    categories: CategoriesResource
    reviews: ReviewsResource
    glossary: GlossaryResource
    search: SearchResource
    exports: ExportsResource
    changes: ChangesResource
    _transport: httpx.BaseTransport | None

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float | None = DEFAULT_TIMEOUT_SECONDS,
        max_retries: int = DEFAULT_MAX_RETRIES,
        max_retry_after: float = DEFAULT_MAX_RETRY_AFTER_SECONDS,
        max_connections: int = DEFAULT_MAX_CONNECTIONS,
        generation_change: GenerationChange = DEFAULT_GENERATION_CHANGE,
        cache_max_bytes: int = 0,
        on_retry: OnRetry | None = None,
        transport: httpx.BaseTransport | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        """Set a client up; nothing is sent yet.

        api_key, base_url: The key, and the address of the directory; by default those of the environment variables
            `SOFTWARE_DIRECTORY_API_KEY` and `SOFTWARE_DIRECTORY_URL`.
        timeout: Seconds for each attempt, see the README for what exactly it bounds; `None` is no limit.
        max_retries: Attempts after the first.
        max_retry_after: The longest `Retry-After` in seconds that is waited for; a longer one is raised at once.
        max_connections: Requests in flight at once. The others wait for their turn before their timeout starts. With a
            transport or HTTP client of yours: the size of its pool.
        generation_change: What an iteration does where the directory's data changes under it: `"restart"` reads the
            list again and yields the items that weren't yielded yet, `"raise"` raises `GenerationChangedError`,
            `"ignore"` goes on. Pages are never read again: `"restart"` raises the error there.
        cache_max_bytes: The size of the cache of responses, 0 is none. While the server's data stays the same, a
            repeated call is answered from it at no cost to the key's quota. Downloads aren't cached.
        on_retry: A function that is called with a `Retry` before the wait for another attempt. What it raises ends the
            call.
        transport, http_client: A transport (closed with the client) or an HTTP client (yours to close) for proxies,
            certificates of your own, or tests.

        Raises `ValueError` for settings that can't work.
        """
        settings = Settings(
            api_key=api_key_or_default(api_key),
            base_url=base_url_or_default(base_url),
            timeout_seconds=timeout,
            max_retries=max_retries,
            max_retry_after_seconds=max_retry_after,
            max_connections=max_connections,
            generation_change=generation_change,
            cache_max_bytes=cache_max_bytes,
            on_retry=on_retry,
        )
        if transport is not None and http_client is not None:
            raise ValueError("pass either transport or http_client, not both")
        if http_client is None:
            if transport is None:
                transport = default_transport(settings.base_url, max_connections)
            self._transport = transport
            send = over_transport(transport)
        else:
            self._transport = None
            send = over_client(http_client)
        self._bind(Caller(settings, send, threading.BoundedSemaphore(max_connections), Cache(cache_max_bytes)))

    def get(
        self,
        path: str,
        query: Mapping[str, ParameterValue] | None = None,
        *,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Request any path below the base URL, with the key, retries and errors of the other calls.

        The answer is returned as it came, whatever its body is. A 304 to an `If-None-Match` of yours is no error.

        path: Starts with a slash, such as `/v1/software`; the ids in it are percent-encoded by you.
        query: Parameters; `None` leaves one out, several values repeat it.
        extra_headers: Headers to send beside the client's own.
        """
        return self._caller.send(raw_call(path, query, extra_headers))

    def with_options(
        self,
        *,
        timeout: float | Unchanged | None = UNCHANGED,
        max_retries: int | Unchanged = UNCHANGED,
        max_retry_after: float | Unchanged = UNCHANGED,
        generation_change: GenerationChange | Unchanged = UNCHANGED,
        on_retry: OnRetry | Unchanged | None = UNCHANGED,
    ) -> SoftwareDirectory:
        """Return a client with other settings over the same connections, such as a longer timeout for one download."""
        settings = self._caller.settings.changed(
            timeout_seconds=timeout,
            max_retries=max_retries,
            max_retry_after_seconds=max_retry_after,
            generation_change=generation_change,
            on_retry=on_retry,
        )
        other = SoftwareDirectory.__new__(type(self))
        other._transport = None
        other._bind(self._caller.with_settings(settings))
        return other

    def close(self) -> None:
        """Give the connections back, but for those of an `http_client` that was passed in."""
        if self._transport is not None:
            self._transport.close()

    def __enter__(self: ClientT) -> ClientT:
        """Return the client itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Show the address, never the key."""
        return f"{type(self).__name__}(base_url={self._caller.settings.base_url!r})"

    def _bind(self, caller: Caller) -> None:
        self._caller = caller
        self.software = SoftwareResource(caller)
        self.attributes = AttributesResource(caller)
        self.categories = CategoriesResource(caller)
        self.reviews = ReviewsResource(caller)
        self.glossary = GlossaryResource(caller)
        self.search = SearchResource(caller)
        self.exports = ExportsResource(caller)
        self.changes = ChangesResource(caller)
