"""The types of the API's records, for annotations of your own."""

from ._generated import models
from ._generated.models import *  # the names are the generator's

__all__ = models.__all__
