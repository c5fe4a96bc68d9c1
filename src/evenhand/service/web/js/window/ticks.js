// Ticks at round numbers.

/** Round numbers from low to high, about as many as wanted. */
export function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const found = [];
  const first = Math.ceil(low / step - 1e-9) + 0; // never -0, which would be written with its sign
  for (let at = first; at * step <= high + step * 1e-9; at += 1) found.push(at * step);
  return found;
}
