"""The asynchronous client."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ._async_caller import AsyncCaller
from ._environment import api_key_or_default, base_url_or_default
from ._generated.async_resources import (
    AsyncAttributesResource,
    AsyncCategoriesResource,
    AsyncChangesResource,
    AsyncExportsResource,
    AsyncGlossaryResource,
    AsyncOperations,
    AsyncReviewsResource,
    AsyncSearchResource,
    AsyncSoftwareResource,
)
from ._http import default_async_transport, over_async_client, over_async_transport
from ._limiter import AsyncLimiter
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

ClientT = TypeVar("ClientT", bound="AsyncSoftwareDirectory")


class AsyncSoftwareDirectory(AsyncOperations):
    """An asynchronous client for a software directory, for asyncio and Trio.

        async with AsyncSoftwareDirectory(api_key="sd_live_…", base_url="https://directory.example") as client:
            async for product in client.software.list(category="audit-management"):
                print(product["name"])

    It can be shared between tasks. To release its connections, close it or use it in an `async with` statement.
    """

    software: AsyncSoftwareResource
    attributes: AsyncAttributesResource
    categories: AsyncCategoriesResource
    reviews: AsyncReviewsResource
    glossary: AsyncGlossaryResource
    search: AsyncSearchResource
    exports: AsyncExportsResource
    changes: AsyncChangesResource
    _transport: httpx.AsyncBaseTransport | None

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
        transport: httpx.AsyncBaseTransport | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Create a client. Nothing is sent yet.

        api_key, base_url: The key, which a public API doesn't need, and the directory's address; by default, the
            environment variables `SOFTWARE_DIRECTORY_API_KEY` and `SOFTWARE_DIRECTORY_URL`.
        timeout: Seconds for each attempt, from connecting to the last byte of the body; `None` for no limit.
        max_retries: Attempts after the first.
        max_retry_after: The longest `Retry-After`, in seconds, to wait for; a longer one is raised as an error at once.
        max_connections: Requests in flight at once. Others wait for their turn before their timeout starts. If you pass
            your own transport or HTTP client, set this to the size of its pool.
        generation_change: What an iteration does if the directory's data changes meanwhile. `"restart"` reads the list
            again and yields the items that it hasn't yielded yet, `"raise"` raises `GenerationChangedError`, and
            `"ignore"` continues. Iterating over pages never restarts: there, `"restart"` raises the error.
        cache_max_bytes: The response cache's size; 0 for no cache. As long as the server's data doesn't change, a
            repeated call is served from the cache and doesn't count against the key's quota. Downloads aren't cached.
        on_retry: A function that's called with a `Retry` before the wait for another attempt. If it raises, the call
            ends.
        transport, http_client: A transport (closed with the client) or an HTTP client (yours to close), for proxies,
            your own certificates, or tests.

        Raises `ValueError` for invalid settings.
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
                transport = default_async_transport(settings.base_url, max_connections)
            self._transport = transport
            send = over_async_transport(transport)
        else:
            self._transport = None
            send = over_async_client(http_client)
        self._bind(AsyncCaller(settings, send, AsyncLimiter(max_connections), Cache(cache_max_bytes)))

    async def get(
        self,
        path: str,
        query: Mapping[str, ParameterValue] | None = None,
        *,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Request any path below the base URL, with the same key, retries and errors as other calls.

        The response is returned as is, whatever its body. If you send `If-None-Match`, a 304 isn't an error.

        path: Starts with a slash, such as `/v1/software`. Percent-encode any ids in it.
        query: Parameters. `None` leaves one out, and several values repeat it.
        extra_headers: Headers to send in addition to the client's own.
        """
        return await self._caller.send(raw_call(path, query, extra_headers))

    def with_options(
        self,
        *,
        timeout: float | Unchanged | None = UNCHANGED,
        max_retries: int | Unchanged = UNCHANGED,
        max_retry_after: float | Unchanged = UNCHANGED,
        generation_change: GenerationChange | Unchanged = UNCHANGED,
        on_retry: OnRetry | Unchanged | None = UNCHANGED,
    ) -> AsyncSoftwareDirectory:
        """Return a client with different settings on the same connections, such as a longer timeout for a download."""
        settings = self._caller.settings.changed(
            timeout_seconds=timeout,
            max_retries=max_retries,
            max_retry_after_seconds=max_retry_after,
            generation_change=generation_change,
            on_retry=on_retry,
        )
        other = AsyncSoftwareDirectory.__new__(type(self))
        other._transport = None
        other._bind(self._caller.with_settings(settings))
        return other

    async def aclose(self) -> None:
        """Release the connections, except those of an `http_client` that you passed in."""
        if self._transport is not None:
            await self._transport.aclose()

    async def __aenter__(self: ClientT) -> ClientT:
        """Return the client itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close it."""
        await self.aclose()

    def __repr__(self) -> str:
        """Show the address, never the key."""
        return f"{type(self).__name__}(base_url={self._caller.settings.base_url!r})"

    def _bind(self, caller: AsyncCaller) -> None:
        self._caller = caller
        self.software = AsyncSoftwareResource(caller)
        self.attributes = AsyncAttributesResource(caller)
        self.categories = AsyncCategoriesResource(caller)
        self.reviews = AsyncReviewsResource(caller)
        self.glossary = AsyncGlossaryResource(caller)
        self.search = AsyncSearchResource(caller)
        self.exports = AsyncExportsResource(caller)
        self.changes = AsyncChangesResource(caller)
