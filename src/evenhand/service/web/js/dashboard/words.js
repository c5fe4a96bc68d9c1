// Names, times and numbers for the dashboard.

import { el } from "../dom.js";
import { named } from "../format.js";

const SMALLEST = 1e-9; // anything smaller is rounding
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}](?:[^\p{Script=Latin}]*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}])?/gu;

/** Text written by users: its direction does not affect the text around it. */
export const own = (text) => el("bdi", {}, text);

/** The same where there is no markup, as in a title: between invisible marks. */
export const isolated = (text) => `\u2068${text}\u2069`;

export const both = ([first, second]) => [own(first), " and ", own(second)];

export const joined = (things, between) => things.flatMap((thing, i) => (i ? [between, thing] : [thing])).flat();

/** A sentence of the service with readable feature names, as nodes. */
export function readable(sentence, names) {
  const some = names.filter((name) => name.includes("_"));
  const text = some.reduce((words, name) => words.replaceAll(name, named(name)), sentence);
  return separated(text.charAt(0).toUpperCase() + text.slice(1));
}

/** Text of the service as nodes, with right-to-left parts isolated. */
export function separated(text) {
  const whole = minus(text);
  const found = [...whole.matchAll(RIGHT_TO_LEFT)];
  const starts = [0, ...found.map((match) => match.index + match[0].length)];
  return starts.flatMap((start, i) => [whole.slice(start, found[i]?.index), found[i] && own(found[i][0])]).filter(Boolean);
}

/** Hyphens before numbers as minus signs. */
export const minus = (text) => text.replace(/(?<![\p{L}\p{N}_.−-])-(?=\.?\d)/gu, "−");

/** A decision by its number in the ledger and in downloads: the first is No. 0. */
export const numbered = (which) => `No. ${which.toLocaleString("en")}`;

/** A number with this many decimal places; smaller ones with two significant digits. */
export function number(value, digits = 2) {
  const size = Math.abs(value);
  const clean = size < SMALLEST ? 0 : value; // never -0.00
  const shown = clean !== 0 && size < 10 ** -digits ? 1 - Math.floor(Math.log10(size)) : digits;
  return minus(clean.toLocaleString("en", { minimumFractionDigits: shown, maximumFractionDigits: shown }));
}

/** The same in a column: two places for all. */
export const aligned = (value) => number(Math.round(100 * value) / 100);

/** A distance in percentage points; from 1 on it is no limit. */
export function pointsOf(value) {
  if (value === null || value >= 1) return "no limit";
  const points = 100 * value;
  const text = points >= 9.95 || points === 0 ? points.toFixed(0) : points < 0.1 ? "under 0.1" : points.toFixed(1);
  return `${text} point${text === "1" ? "" : "s"}`;
}

const TIME = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const ZONED = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" });

/** The time, with the day unless it is today. */
export function moment(text) {
  const then = new Date(text);
  const today = then.toDateString() === new Date().toDateString();
  return today ? TIME.format(then) : `${DAY.format(then)}, ${TIME.format(then)}`;
}

export function ago(text) {
  const seconds = Math.max(0, (Date.now() - new Date(text).getTime()) / 1000);
  if (seconds < 90) return seconds < 2 ? "just now" : `${Math.round(seconds)} seconds ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} minutes ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} hours ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

const timeElement = (text, words) => el("time", { datetime: text, title: text }, words);

export const time = (text) => timeElement(text, moment(text));

/** The time with day and zone. */
export const fullTime = (text) => timeElement(text, `${DAY.format(new Date(text))}, ${ZONED.format(new Date(text))}`);
