// Words for the window: names, times, numbers.

import { named } from "../format.js";

/** A sentence of the service with the names of features as people write them. */
export function readable(sentence, names) {
  const some = names.filter((name) => name.includes("_"));
  const text = some.reduce((told, name) => told.replaceAll(name, named(name)), sentence);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function number(value, digits = 2) {
  const told = Number(value.toFixed(digits)) === 0 ? 0 : value; // never -0.00
  return told.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A distance as percentage points; from 1 on it is no limit at all. */
export function pointsOf(value) {
  if (value === null || value >= 1) return "no limit";
  const points = 100 * value;
  const text = points >= 10 || points === 0 ? points.toFixed(0) : points < 0.1 ? "under 0.1" : points.toFixed(1);
  return `${text} point${text === "1" ? "" : "s"}`;
}

const TIME = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

/** A moment: the time if it was today, else the day too. */
export function moment(text) {
  const then = new Date(text);
  const today = then.toDateString() === new Date().toDateString();
  return today ? TIME.format(then) : `${DAY.format(then)}, ${TIME.format(then)}`;
}

/** How long ago a moment was. */
export function ago(text) {
  const seconds = Math.max(0, (Date.now() - new Date(text).getTime()) / 1000);
  if (seconds < 90) return seconds < 2 ? "just now" : `${Math.round(seconds)} seconds ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} minutes ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} hours ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

export function time(text) {
  const element = document.createElement("time");
  element.dateTime = text;
  element.title = text;
  element.textContent = moment(text);
  return element;
}
