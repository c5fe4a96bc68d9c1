// Where the labels of links go: between bars, beside their link, on no other label or link. A label without room is left
// out: the table has the same numbers.

const HIGH = 20; // pixels, with the outline
const LETTER = 7.8; // pixels of an average letter, at most
const BESIDE = 7; // pixels from a link

/** {words, x, y} of the labels that have room. lines: [{words, x1, y1, x2, y2}] from top to bottom; strips: [{top, bottom}]. */
export function placed(lines, strips, { left, right }) {
  const taken = [];
  for (const line of lines) {
    const box = choices(line, strips).find((one) => one.left >= left && one.right <= right && taken.every((other) => !overlap(one, other)) && lines.every((other) => !crosses(other, one)));
    if (box) taken.push(box);
  }
  return taken.map(({ words, left: x, bottom }) => ({ words, x, y: bottom - 6 }));
}

/** Places beside a link, those near its middle first. */
function choices({ words, x1, y1, x2, y2 }, strips) {
  const [middle, width] = [(y1 + y2) / 2, LETTER * words.length];
  const along = strips.filter(({ top, bottom }) => top >= y1 && bottom <= y2).map(({ top, bottom }) => (top + bottom) / 2);
  return along.toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle)).flatMap((y) => {
    const reach = y2 > y1 ? Math.abs((x2 - x1) / (y2 - y1)) * (HIGH / 2) : 0; // how far the link moves across beside the label
    const x = x1 + ((y - y1) / (y2 - y1)) * (x2 - x1);
    return [x + reach + BESIDE, x - reach - BESIDE - width].map((from) => ({ words, left: from, right: from + width, top: y - HIGH / 2, bottom: y + HIGH / 2 }));
  });
}

const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Whether a link passes through a box, or too close to it. */
function crosses({ x1, y1, x2, y2 }, { left, right, top, bottom }) {
  const [from, to] = [Math.max(y1, top), Math.min(y2, bottom)];
  if (from > to) return false;
  const xs = y1 === y2 ? [x1, x2] : [from, to].map((y) => x1 + ((y - y1) / (y2 - y1)) * (x2 - x1));
  return Math.min(...xs) < right + 4 && Math.max(...xs) > left - 4;
}
