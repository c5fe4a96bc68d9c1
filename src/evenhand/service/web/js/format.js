// Numbers as people read them.

/** A share as per cent: as many digits as tell it from 0 and from 100. */
export function percent(share, digits = 1) {
  const value = 100 * share;
  if (value > 0 && value < 10 ** -digits) return `under ${10 ** -digits}%`;
  if (value < 100 && value > 100 - 10 ** -digits) return `over ${100 - 10 ** -digits}%`;
  return `${trimmed(value, digits)}%`;
}

export function points(share, digits = 1) {
  const value = trimmed(100 * share, digits);
  return `${value} percentage point${value === "1" ? "" : "s"}`;
}

function trimmed(value, digits) {
  return Number(value.toFixed(digits)).toLocaleString("en", { maximumFractionDigits: digits });
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** A feature's name as people write it. */
export const named = (name) => name.replaceAll("_", " ").trim() || name;
