"""Never reads its input."""

print("not read")
