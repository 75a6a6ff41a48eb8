"""A page of HTML in one file: nothing is fetched, nothing runs, light or dark, as narrow as a phone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root{color-scheme:light dark;--ink:#1d2326;--soft:#5d676c;--rule:#d9dee0;--paper:#fff;--card:#f5f7f7;
--good:#1a6ea5;--bad:#b34700;--other:#667075;--l0:#1a6ea5;--l1:#b34700;--l2:#00785a;--l3:#a3447c;
--l4:#8a6100;--l5:#4a5fc1;--l6:#7a5230;--l7:#5d676c}
@media(prefers-color-scheme:dark){:root{--ink:#e4e9eb;--soft:#9aa5aa;--rule:#353d41;--paper:#15191b;
--card:#1e2427;--good:#6fb3e0;--bad:#f0954a;--other:#8f9aa0;--l0:#6fb3e0;--l1:#f0954a;--l2:#4cc9a4;
--l3:#e39ac3;--l4:#e6b84d;--l5:#a3b1f5;--l6:#cfa07a;--l7:#9aa5aa}}
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem;color:var(--ink);
background:var(--paper);overflow-wrap:anywhere}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin:2rem 0 .3rem}p{margin:.3rem 0}
article{border-top:1px solid var(--rule);margin-top:1rem}code{background:var(--card);padding:0 .2rem}
.soft{color:var(--soft)}.facts{display:flex;flex-wrap:wrap;gap:.7rem;margin:1rem 0}
.facts div{background:var(--card);border-radius:.5rem;padding:.4rem .9rem;font-size:.85rem}
.facts b{display:block;font-size:1.25rem}
.wide{overflow-x:auto;margin:.6rem 0}table{border-collapse:collapse;font-size:.85rem;white-space:nowrap}
td,th{padding:.2rem .6rem;text-align:right;border-bottom:1px solid var(--rule)}
td.name,th.name{text-align:left}tr.tie td:first-child{color:var(--good);font-weight:700}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,23rem),1fr));gap:1.5rem}
figure{margin:0;min-width:0}figcaption{font-weight:600;margin-bottom:.3rem}
svg{width:100%;max-width:32rem;height:auto;display:block;overflow:visible;font:11px system-ui,sans-serif}
svg text{fill:var(--ink)}svg .small{font-size:9.5px;fill:var(--soft)}.grid{stroke:var(--rule);fill:none}
.axis{stroke:var(--soft);fill:none}.bar{stroke-width:2;fill:none}.thick{stroke-width:5;fill:none}
circle.good{fill:var(--good)}circle.other{fill:var(--paper);stroke:var(--other);stroke-width:1.6}
circle.part{fill:var(--l2);fill-opacity:.6}path.good{stroke:var(--good)}path.other{stroke:var(--other)}
.diagonal{stroke:var(--soft);stroke-dasharray:4 4}
rect{stroke:var(--rule)}rect.right{fill:var(--good)}rect.wrong{fill:var(--bad)}
svg text.deep{fill:var(--paper)}
polyline{fill:none;stroke-width:2}.band{stroke:none;fill-opacity:.15}svg text.name{font-weight:600}
""" + "".join(
    f"polyline.line{n}{{stroke:var(--l{n})}}polygon.line{n},svg text.line{n}{{fill:var(--l{n})}}\n"
    for n in range(8)
)


def document(title: str, body: Iterable[str]) -> str:
    """The whole page, below its title as a heading."""
    head = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}</style></head>'
    )
    return f"{head}<body><main><h1>{escape(title)}</h1>{''.join(body)}</main></body></html>\n"


def facts(named: Iterable[tuple[str, str]]) -> str:
    """A row of cards, each a name and a value."""
    return f'<div class="facts">{"".join(f"<div>{name}<b>{value}</b></div>" for name, value in named)}</div>'


def figures(captioned: Iterable[tuple[str, str]]) -> str:
    """Plots below their captions, side by side where there is room."""
    plots = "".join(
        f"<figure><figcaption>{escape(said)}</figcaption>{plot}</figure>" for said, plot in captioned
    )
    return f'<div class="plots">{plots}</div>'


def table(heads: Sequence[str], names: int, rows: Iterable[tuple[Sequence[str], bool]]) -> str:
    """A table whose first columns are names and whose others are numbers; rows may be marked as ties."""

    def cells(tag: str, values: Sequence[str]) -> str:
        kinds = [' class="name"' if number < names else "" for number in range(len(values))]
        return "".join(
            f"<{tag}{kind}>{escape(value)}</{tag}>" for kind, value in zip(kinds, values, strict=True)
        )

    opened = {True: '<tr class="tie">', False: "<tr>"}
    body = "".join(f"{opened[tie]}{cells('td', row)}</tr>" for row, tie in rows)
    return f'<div class="wide"><table><tr>{cells("th", heads)}</tr>{body}</table></div>'
