"""Downloads that aren't held in memory: read chunk by chunk, or written to a file."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Optional

import anyio.to_thread
import httpx

from ._protocol.exchange import Failure, presentable_cause, unanswered

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, ExitStack
    from types import TracebackType

    from ._protocol.messages import Request, Response

Progress = Callable[[int, Optional[int]], None]
"""A function that takes the bytes received so far and the total size, if the response states it."""


class _Streamed:
    """A response whose body hasn't been read yet."""

    response: Response
    """Status and headers; `content` is empty."""
    _request: Request

    def __init__(self, api_key: str | None) -> None:
        """For the client's use only."""
        self._api_key = api_key

    @property
    def size_bytes(self) -> int | None:
        """The total size; `None` if the response doesn't state it or is compressed."""
        length = self.response.headers.get("content-length", "")
        is_encoded = self.response.headers.get("content-encoding", "identity") != "identity"
        return int(length) if length.isascii() and length.isdigit() and not is_encoded else None

    def _raise(self, cause: Exception) -> None:
        failure = unanswered(Failure(cause), self._request, self.response.attempts, self._api_key)
        raise failure from presentable_cause(cause, self._api_key)


class Download(_Streamed):
    """A download in progress. Iterate over it, once, to get its bytes as they arrive, in chunks of any size."""

    def hold(self, request: Request, chunks: Iterator[bytes], opened: ExitStack) -> None:
        """Take ownership of a body, and of whatever has to be closed after it."""
        self._request, self._chunks, self.opened = request, chunks, opened

    def __iter__(self) -> Iterator[bytes]:
        """Read the body; raise an `ApiError` if it's cut off or `timeout` passes without a chunk."""
        try:
            yield from self._chunks
        except httpx.RequestError as cause:
            self._raise(cause)


class AsyncDownload(_Streamed):
    """A download in progress. Iterate over it, once, to get its bytes as they arrive, in chunks of any size."""

    def hold(self, request: Request, chunks: AsyncIterator[bytes], opened: AsyncExitStack) -> None:
        """Take ownership of a body, and of whatever has to be closed after it."""
        self._request, self._chunks, self.opened = request, chunks, opened

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Read the body; raise an `ApiError` if it's cut off or `timeout` passes without a chunk."""
        try:
            async for chunk in self._chunks:
                yield chunk
        except (TimeoutError, httpx.RequestError) as cause:
            self._raise(cause)


class _PartFile:
    """A file next to the target. It replaces the target once it's complete, and is removed otherwise.

    It's created before the request, so a download that can't be stored doesn't use up any quota.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self._path = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        self._file = self._path.open("xb")

    def write(self, chunk: bytes) -> None:
        self._file.write(chunk)

    def finish(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._path.replace(self._target)

    def __enter__(self) -> _PartFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()
        if error is not None:
            self._path.unlink(missing_ok=True)


def save(stream: AbstractContextManager[Download], path: str | os.PathLike[str], on_progress: Progress | None) -> int:
    """Write a download to a file; return its size."""
    received = 0
    with _PartFile(Path(path)) as part, stream as download:
        for chunk in download:
            part.write(chunk)
            received += len(chunk)
            if on_progress is not None:
                on_progress(received, download.size_bytes)
        part.finish()
    return received


async def save_async(
    stream: AbstractAsyncContextManager[AsyncDownload], path: str | os.PathLike[str], on_progress: Progress | None
) -> int:
    """Write a download to a file, on another thread; return its size."""
    received = 0
    with _PartFile(Path(path)) as part:
        async with stream as download:
            async for chunk in download:
                await anyio.to_thread.run_sync(part.write, chunk)
                received += len(chunk)
                if on_progress is not None:
                    on_progress(received, download.size_bytes)
            await anyio.to_thread.run_sync(part.finish)
    return received
