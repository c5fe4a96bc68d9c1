"""The style of a report: light, readable in print."""

STYLE = """
:root { color-scheme: light; --ink: #1b1b1b; --soft: #555; --line: #d0d0d0; --accent: #1f5a99; --pale: #f4f7fb; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; color: var(--ink); background: #fff; }
body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .6rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 0 0 .4rem; }
header p { margin: .1rem 0; } .small { color: var(--soft); font-size: .875rem; }
nav ol { columns: 2; column-gap: 2rem; margin: 1rem 0; padding-left: 1.4rem; }
a { color: var(--accent); overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
caption { text-align: left; font-weight: 600; padding: .2rem 0 .4rem; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; vertical-align: top; text-align: right; }
tbody th { font-weight: 400; } th:first-child { text-align: left; }
thead th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
table.text th, table.text td { text-align: left; overflow-wrap: anywhere; min-width: 4.5rem; }
table.numbers { width: auto; min-width: 18rem; }
table.numbers td { font-variant-numeric: tabular-nums; } table.numbers th:first-child { min-width: 7rem; }
figure { margin: 1rem 0; max-width: 42rem; } svg { width: 100%; height: auto; display: block; }
figcaption { color: var(--soft); font-size: .875rem; }
.letter { border: 1px solid var(--line); background: var(--pale); padding: .8rem 1rem; margin: 1rem 0; }
.letter p { margin: .3rem 0; }
@media (max-width: 40rem) { nav ol { columns: 1; } }
@page { size: A4; margin: 18mm 15mm; @bottom-right { content: counter(page) " / " counter(pages); font-size: 9pt; } }
@media print {
  body { font-size: 10pt; margin: 0; max-width: none; padding: 0; } table { font-size: 8.5pt; }
  table.numbers { font-size: 7.5pt; } table.numbers th, table.numbers td { padding: .2rem .3rem; }
  table.numbers th:first-child { min-width: 4rem; }
  h2 { break-after: avoid; } tr, figure, .letter { break-inside: avoid; } caption { break-after: avoid; }
  table.numbers { width: auto; min-width: 18rem; }
table.numbers td { white-space: normal; } .scroll { overflow: visible; }
}
"""
