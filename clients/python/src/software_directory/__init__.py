"""Client for the Software Directory API.

    from software_directory import SoftwareDirectory

    with SoftwareDirectory(api_key="sd_live_…", base_url="https://directory.example") as client:
        for product in client.software.list(q="audit"):
            print(product["name"], product["website"])

Records are plain dicts with typed keys (`TypedDict`, see `software_directory.models`). Members that a newer server adds
are simply there, and records can go straight into JSON, a database or a data frame.
"""

from . import models
from ._async_client import AsyncSoftwareDirectory
from ._client import SoftwareDirectory
from ._downloads import AsyncDownload, Download
from ._errors import (
    ApiConnectionError,
    ApiError,
    ApiTimeoutError,
    AuthenticationError,
    GenerationChangedError,
    GoneError,
    InvalidRequestError,
    InvalidResponseError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
)
from ._pages import (
    AsyncChangesPage,
    AsyncHistoryPage,
    AsyncPage,
    AsyncPager,
    AsyncReviewPage,
    AsyncSearchPage,
    ChangesPage,
    HistoryPage,
    Page,
    ReviewPage,
    SearchPage,
)
from ._protocol.messages import Response
from ._protocol.retry import Retry
from ._version import __version__

__all__ = [
    "ApiConnectionError",
    "ApiError",
    "ApiTimeoutError",
    "AsyncChangesPage",
    "AsyncDownload",
    "AsyncHistoryPage",
    "AsyncPage",
    "AsyncPager",
    "AsyncReviewPage",
    "AsyncSearchPage",
    "AsyncSoftwareDirectory",
    "AuthenticationError",
    "ChangesPage",
    "Download",
    "GenerationChangedError",
    "GoneError",
    "HistoryPage",
    "InvalidRequestError",
    "InvalidResponseError",
    "NotFoundError",
    "Page",
    "PermissionDeniedError",
    "RateLimitError",
    "Response",
    "Retry",
    "ReviewPage",
    "SearchPage",
    "ServerError",
    "SoftwareDirectory",
    "__version__",
    "models",
]
