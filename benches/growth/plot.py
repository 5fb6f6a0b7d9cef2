"""Plots curves on two logarithmic axes, as an SVG file that is readable on light and dark pages."""

import dataclasses
import html
import math

# The size of a panel's plot area, and the margins for labels, in pixels.
WIDTH, HEIGHT = 300, 190
LEFT, TOP, RIGHT, BOTTOM = 56, 44, 112, 46
COLUMNS = 2
TITLE = 34
STYLE = """
  :root { color-scheme: light dark; --page: #ffffff; --text: #1f2328; --faint: #59636e; --grid: #d8dee4;
          --c0: #0b5fc1; --c1: #a34a00; --c2: #6b3fa0 }
  @media (prefers-color-scheme: dark) { :root { --page: #0d1117; --text: #e6edf3; --faint: #9198a1; --grid: #30363d;
          --c0: #6cb2ff; --c1: #ffa657; --c2: #c9a6ff } }
  .page { fill: var(--page) } text { fill: var(--text); font: 12px system-ui, sans-serif }
  .title { font-size: 15px; font-weight: 600 } .name { font-weight: 600 } .tick, .axis { fill: var(--faint) }
  .grid { stroke: var(--grid) } polyline { fill: none; stroke-width: 2 } .reference { stroke: var(--faint);
  stroke-dasharray: 5 4; stroke-width: 1.5 } .label.reference { fill: var(--faint); stroke: none }
""" + "".join(f"  .c{n} {{ stroke: var(--c{n}) }} .label.c{n}, circle.c{n} {{ fill: var(--c{n}); stroke: none }}\n"
              for n in range(3))


@dataclasses.dataclass
class Curve:
    label: str
    points: list
    # Drawn for comparison, not measured.
    is_reference: bool = False


@dataclasses.dataclass
class Panel:
    title: str
    curves: list


def svg(title, x_label, panels):
    width, height = LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM
    whole = (COLUMNS * width, TITLE + math.ceil(len(panels) / COLUMNS) * height)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole[0]} {whole[1]}" role="img" '
             f'aria-label="{html.escape(title)}">', f"<style>{STYLE}</style>",
             f'<rect class="page" width="{whole[0]}" height="{whole[1]}"/>',
             f'<text class="title" x="{LEFT}" y="24">{html.escape(title)}</text>']
    for number, one in enumerate(panels):
        x, y = number % COLUMNS * width + LEFT, TITLE + number // COLUMNS * height + TOP
        parts += [f'<g transform="translate({x} {y})">', *panel(one, x_label), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def panel(one, x_label):
    xs = [x for curve in one.curves for x, _ in curve.points]
    ys = [y for curve in one.curves for _, y in curve.points]
    x_axis, y_axis = Axis(min(xs), max(xs), 0, WIDTH), Axis(min(ys), max(ys), HEIGHT, 0)
    yield f'<text class="name" x="0" y="-12">{html.escape(one.title)}</text>'
    for value in y_axis.ticks():
        at = y_axis.place(value)
        yield f'<line class="grid" x1="0" y1="{at:.1f}" x2="{WIDTH}" y2="{at:.1f}"/>'
        yield f'<text class="tick" x="-8" y="{at + 4:.1f}" text-anchor="end">{number(value, 1e3)}</text>'
    for value in x_axis.ticks():
        at = x_axis.place(value)
        yield f'<line class="grid" x1="{at:.1f}" y1="0" x2="{at:.1f}" y2="{HEIGHT}"/>'
        yield f'<text class="tick" x="{at:.1f}" y="{HEIGHT + 17}" text-anchor="middle">{number(value, 1e3)}</text>'
    yield f'<text class="axis" x="{WIDTH / 2}" y="{HEIGHT + 35}" text-anchor="middle">{html.escape(x_label)}</text>'
    labels, colour = [], 0
    for curve in one.curves:
        kind = "reference" if curve.is_reference else f"c{colour}"
        colour += not curve.is_reference
        places = [(x_axis.place(x), y_axis.place(y)) for x, y in curve.points]
        yield f'<polyline class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>'
        if not curve.is_reference:
            yield from (f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places)
        labels.append((places[-1][1] + 4, kind, curve))
    # Labels at the ends of the curves, stacked if they're close together.
    above = -math.inf
    for y, kind, curve in sorted(labels, key=lambda label: label[0]):
        above = max(y, above + 14)
        last = number(curve.points[-1][1])
        text = curve.label if curve.is_reference else f"{curve.label} {last}"
        yield f'<text class="label {kind}" x="{WIDTH + 8}" y="{above:.1f}">{html.escape(text)}</text>'


class Axis:
    """A logarithmic axis with a small margin at both ends."""

    def __init__(self, least, most, start, end):
        room = max((most / least) ** 0.06, 1.15)
        self.least, self.most, self.start, self.end = least / room, most * room, start, end

    def place(self, value):
        share = math.log(value / self.least) / math.log(self.most / self.least)
        return self.start + share * (self.end - self.start)

    def ticks(self):
        decades = range(math.floor(math.log10(self.least)), math.ceil(math.log10(self.most)) + 1)
        steps = [1] if math.log10(self.most / self.least) > 1.8 else [1, 2, 5]
        values = (step * 10.0**decade for decade in decades for step in steps)
        return [value for value in values if self.least <= value <= self.most]


def number(value, thousands_from=1e4):
    if value >= 1e6:
        return f"{value / 1e6:.3g} M"
    if value >= thousands_from:
        return f"{value / 1e3:.3g} k"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"
