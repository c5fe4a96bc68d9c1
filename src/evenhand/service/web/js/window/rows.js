// Rows of a live table: what did not change stays the element it was, so that focus, a click and a selection survive news.

/** A function that shows records as rows of a table's body: keyOf(record) names a row, draw(record) makes one. */
export function liveRows(body, keyOf, draw) {
  let shown = new Map(); // by key: {text, row}
  return (records) => {
    const next = new Map(records.map((record) => {
      const [key, text] = [keyOf(record), JSON.stringify(record)];
      const before = shown.get(key);
      return [key, { text, row: before === undefined ? draw(record) : text === before.text ? before.row : changed(before.row, draw(record)) }];
    }));
    for (const [key, { row }] of shown) {
      if (next.has(key)) continue;
      // A row that somebody stands on stays, at the end, until they leave it.
      if (row.contains(document.activeElement)) next.set(key, shown.get(key));
      else row.remove();
    }
    inOrder(body, [...next.values()].map(({ row }) => row));
    shown = next;
  };
}

/** The same row with those of its cells replaced that differ. */
function changed(row, fresh) {
  [...fresh.cells].forEach((cell, i) => { if (!row.cells[i].isEqualNode(cell)) row.cells[i].replaceWith(cell); });
  return row;
}

/** Puts rows in this order; those that stand right already are not touched. */
function inOrder(body, rows) {
  let at = body.firstElementChild;
  for (const row of rows) {
    if (row === at) at = at.nextElementSibling;
    else body.insertBefore(row, at);
  }
}
