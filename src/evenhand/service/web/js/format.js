// Numbers as people read them.

/** A share as per cent, with enough digits to distinguish it from 0 and from 100. */
export function percent(share, digits = 1) {
  const value = 100 * share;
  if (value > 0 && value < 10 ** -digits) return `under ${10 ** -digits}%`;
  if (value < 100 && value > 100 - 10 ** -digits) return `over ${100 - 10 ** -digits}%`;
  return `${Number(value.toFixed(digits)).toLocaleString("en", { maximumFractionDigits: digits })}%`;
}

/** How many decimal places show two probabilities: if they add up to 1, the rounded ones must add up to 100%. */
export function digitsFor(probabilities, digits) {
  const whole = Math.abs(probabilities.reduce((sum, one) => sum + one, 0) - 1) < 1e-9;
  const shown = probabilities.reduce((sum, one) => sum + rounded(one, digits), 0);
  return whole && Math.abs(shown - 100) > 1e-6 ? digits + 1 : digits;
}

/** A probability as per cent with a fixed number of decimal places, so that numbers side by side look alike. */
export function chance(share, digits) {
  const [value, step] = [100 * share, 10 ** -digits];
  if (value > 0 && value < step) return `under ${step}%`;
  if (value < 100 && value > 100 - step) return `over ${(100 - step).toFixed(digits)}%`;
  return `${rounded(share, digits).toFixed(digits)}%`;
}

/** The gap between two probabilities as they are displayed: the difference of the rounded numbers. */
export function gapInWords(probabilities, digits) {
  const [one, other] = probabilities.map((share) => rounded(share, digits));
  const gap = Math.abs(one - other).toFixed(digits);
  if (Number(gap) === 0 && probabilities[0] !== probabilities[1]) return `under ${10 ** -digits} percentage points`;
  return `${gap} percentage point${gap === "1" ? "" : "s"}`;
}

const rounded = (share, digits) => Number((100 * share).toFixed(digits));

/** A share in percentage points. */
export const points = (share) => count(Number((100 * share).toPrecision(3)), "point");

export const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/** A feature's name as people write it. */
export const named = (name) => name.replaceAll("_", " ").trim() || name;
