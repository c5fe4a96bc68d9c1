// Numbers as people read them.

/** A share as per cent: as many digits as tell it from 0 and from 100. */
export function percent(share, digits = 1) {
  const value = 100 * share;
  if (value > 0 && value < 10 ** -digits) return `under ${10 ** -digits}%`;
  if (value < 100 && value > 100 - 10 ** -digits) return `over ${100 - 10 ** -digits}%`;
  return `${trimmed(value, digits)}%`;
}

/** How many digits after the point show a pair of odds: two that make up the whole must do so as they are shown, too. */
export function digitsFor(odds, digits) {
  const whole = Math.abs(odds.reduce((sum, one) => sum + one, 0) - 1) < 1e-9;
  const shown = odds.reduce((sum, one) => sum + rounded(one, digits), 0);
  return whole && Math.abs(shown - 100) > 1e-6 ? digits + 1 : digits;
}

/** Odds as per cent, always with so many digits: two numbers beside each other look alike. */
export function oddsInWords(share, digits) {
  const [value, step] = [100 * share, 10 ** -digits];
  if (value > 0 && value < step) return `under ${step}%`;
  if (value < 100 && value > 100 - step) return `over ${(100 - step).toFixed(digits)}%`;
  return `${rounded(share, digits).toFixed(digits)}%`;
}

/** The gap between two odds as they are shown, so that whoever subtracts them finds it. */
export function gapInWords(odds, digits) {
  const [one, other] = odds.map((share) => rounded(share, digits));
  const gap = Math.abs(one - other).toFixed(digits);
  if (Number(gap) === 0 && odds[0] !== odds[1]) return `under ${10 ** -digits} percentage points`;
  return `${gap} percentage point${gap === "1" ? "" : "s"}`;
}

const rounded = (share, digits) => Number((100 * share).toFixed(digits));

function trimmed(value, digits) {
  return Number(value.toFixed(digits)).toLocaleString("en", { maximumFractionDigits: digits });
}

/** A share as percentage points, in words. */
export function points(share) {
  return count(Number((100 * share).toPrecision(3)), "point");
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** A feature's name as people write it. */
export const named = (name) => name.replaceAll("_", " ").trim() || name;
