"""Ends well."""

print("done")
