"""A report as one HTML page: no other file, no network, no script; printed, every section stands by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from evenhand.report.content import Block, Bullets, Drawing, Letter, ReportSection, ReportTable
from evenhand.report.style import STYLE

if TYPE_CHECKING:
    from evenhand.report.audit import AuditReport

LINK = re.compile(r"(https://[^\s)]*[^\s).,;])")


def page(report: AuditReport, sections: Sequence[ReportSection]) -> str:
    """The whole page."""
    figures = report.figures
    title = escape(f"Audit report of desk {figures.desk}")
    contents = "".join(f'<li><a href="#{one.id}">{escape(one.title)}</a></li>' for one in sections)
    body = "\n".join(map(_section, sections))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{STYLE}</style></head>\n'
        f"<body><header><h1>{title}</h1><p>{escape(figures.period.words)}</p>"
        f'<p class="small">Made by evenhand {escape(report.code)} from the ledger alone.</p></header>\n'
        f'<nav aria-label="Contents"><ol>{contents}</ol></nav>\n<main>{body}</main></body></html>\n'
    )


def _section(one: ReportSection) -> str:
    blocks = "\n".join(map(_block, one.blocks))
    return f'<section id="{one.id}"><h2>{escape(one.title)}</h2>\n{blocks}</section>'


def _block(block: Block) -> str:
    if isinstance(block, ReportTable):
        return _table(block)
    if isinstance(block, Bullets):
        return f"<ul>{''.join(f'<li>{_text(item)}</li>' for item in block.items)}</ul>"
    if isinstance(block, Drawing):
        return f"<figure>{block.svg}<figcaption>{escape(block.caption)}</figcaption></figure>"
    if isinstance(block, Letter):
        lines = "".join(f"<p>{escape(line)}</p>" for line in block.lines)
        return f'<article class="letter"><h3>{escape(block.title)}</h3>{lines}</article>'
    return f"<p>{_text(block)}</p>"


def _table(block: ReportTable) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in block.head)
    rows = "\n".join(_row(row) for row in block.rows)
    kind = "text" if block.is_text else "numbers"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(block.caption)}"><table class="{kind}">'
        f"<caption>{escape(block.caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(row: Sequence[str]) -> str:
    first, *rest = row
    return f'<tr><th scope="row">{_text(first)}</th>{"".join(f"<td>{_text(cell)}</td>" for cell in rest)}</tr>'


def _text(text: str) -> str:
    """Escaped, with addresses as links."""
    return LINK.sub(r'<a href="\1">\1</a>', escape(text, quote=False))
