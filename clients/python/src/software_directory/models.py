"""The API's record types, for your own annotations."""

from ._generated import models
from ._generated.models import *  # the names are the generator's

__all__ = models.__all__
