"""Both ends of the connection between a program's jail and the jail of its tests, for the driver."""

from folders import Folders
from project import beside, project
from referee import referee
from serve import serve

#: What nothing that is run afterwards may find under these names.
MODULES = (
    *("crossing", "folders", "heap", "modules", "operators"),
    *("project", "referee", "serve", "standins"),
)

__all__ = ["MODULES", "Folders", "beside", "project", "referee", "serve"]
