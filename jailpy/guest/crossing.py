"""Both ends of the connection between a program's jail and the jail of its tests, for the driver."""

from folders import Folders
from referee import referee
from serve import serve

#: What nothing that is run afterwards may find under these names.
MODULES = ("asking", "crossing", "folders", "heap", "operators", "referee", "serve", "standins", "unpickling")

__all__ = ["MODULES", "Folders", "referee", "serve"]
