"""The only package that touches Linux. One kernel facility a module; it imports nothing from above but plain data."""
