"""The version of this package, read by the build and sent in `User-Agent`."""

__version__ = "0.1.0"
