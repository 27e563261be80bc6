"""A bar chart as SVG text, on a logarithmic axis. No dependency."""

from __future__ import annotations

import math
from html import escape

_LEFT, _WIDTH, _ROW, _TOP = 130, 560, 24, 40


def bars(title: str, rows: list[tuple[str, float, float]]) -> str:
    """One bar a row: (name, value, end of the thin line behind it)."""
    values = [value for _, low, high in rows for value in (low, high) if value > 0]
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    step = _WIDTH / max(1, last - first)

    def at(value: float) -> float:
        return _LEFT + (math.log10(value) - first) * step

    bottom = _TOP + _ROW * len(rows)
    parts = [f'<text x="{_LEFT}" y="20" font-weight="bold">{escape(title)}</text>']
    for power in range(first, last + 1):
        x = at(10.0**power)
        parts.append(f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{_TOP - 8}" y2="{bottom}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.0f}" y="{bottom + 16}" text-anchor="middle">{10.0**power:g}</text>')
    for index, (name, low, high) in enumerate(rows):
        y = _TOP + index * _ROW
        end, far = at(low), at(high)
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="{max(1.0, end - _LEFT):.1f}" height="16" fill="#47a"/>')
        parts.append(f'<line x1="{end:.1f}" x2="{far:.1f}" y1="{y + 8}" y2="{y + 8}" stroke="#47a" stroke-width="2"/>')
        parts.append(f'<text x="{far + 6:.1f}" y="{y + 12}">{low:.2f}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 70}" height="{bottom + 28}" '
        f'font-family="sans-serif" font-size="12">\n' + "\n".join(parts) + "\n</svg>\n"
    )
