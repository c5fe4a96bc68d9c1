// The two charts of the dashboard: flagged decisions with the target and the bound, and rewards. Reviewers get the latter.

import { show } from "../dom.js";
import { count, percent } from "../format.js";
import { lineChart } from "./line-chart.js";
import { number } from "./words.js";

const X = "Decisions made";
const WIDE = 3; // the band of rewards is cut at this multiple of the largest mean
const TICKS = 6;
const FAR = 6; // a limit this many times above all else is named at the upper edge: drawn, it would flatten the rest

export function roundCharts(place, desk, all) {
  const flagged = lineChart({ id: "chart-flagged", file: `${desk}-flagged.png`, title: "Decisions called unfair", note: "Counted when the flag came, by the number of decisions made until then.", xName: X, terms: { main: "called unfair", target: "target", bound: "guaranteed limit" } });
  const reward = lineChart({ id: "chart-reward", file: `${desk}-rewards.png`, title: "Reward of chosen candidates", xName: X, terms: { band: "confidence band" } });
  show(place, all ? flagged.element : null, reward.element);
  return {
    update({ rounds }) {
      if (all) flagged.update(flaggedData(rounds));
      reward.update(rewardData(rounds));
    },
  };
}

function flaggedData({ decisions, flagged }) {
  const { edges, total, target, target_by: targets, bound_by: bounds, start, cap } = flagged;
  const lines = [{ name: "Called unfair so far", short: "Called unfair", kind: "main", y: flagged.came, steps: true, from: 0, value: total.toLocaleString("en") }];
  const most = { now: Math.max(total, 4) };
  if (target !== null) {
    lines.push({ name: `Target, ${percent(target)} of decisions`, short: "Target", kind: "target", y: targets, from: 0, value: number(targets.at(-1) ?? 0, 1) });
    most.now = Math.max(most.now, targets.at(-1) ?? 0);
    if (bounds !== null) lines.push(limit("Guaranteed limit", "bound", bounds, bounds.at(-1) ?? start, most, start));
  }
  if (cap !== null) lines.push(limit("Cap: above it only provably fair chances are used", "cap", edges.map(() => cap), cap, most, cap));
  return { x: edges, low: 0, high: most.now * 1.08, whole: true, lines, band: null, summary: flaggedWords(decisions, flagged), format: (value) => number(value, Number.isInteger(value) ? 0 : 1), tick: (value) => value.toLocaleString("en") };
}

/** A limit: a line, or a label at the upper edge if it is far above. */
function limit(name, kind, y, last, most, from) {
  const value = number(last, 0);
  const short = name.split(",")[0].split(":")[0];
  if (last > FAR * most.now) return { name: `${name} (above the chart)`, kind, y: null, value, above: `${short}: ${value}` };
  most.now = Math.max(most.now, last);
  return { name, short, kind, y, from, value };
}

/** The chart of flags in words. */
export function flaggedWords(decisions, flagged) {
  const { total, target, counts, counted, is_capped: capped, came, edges, target_by: targets } = flagged;
  if (!decisions) return "No decisions yet.";
  const middle = edges.findIndex((edge) => edge >= decisions / 2);
  const later = decisions - edges[middle];
  // As in the chart: by when a flag came, not by its decision.
  const lately = later ? `; ${total - came[middle]} of these flags came during the last ${later.toLocaleString("en")}` : "";
  const share = total ? `${total.toLocaleString("en")} of ${count(decisions, "decision")} called unfair (${percent(total / decisions)})${lately}.` : `None of ${count(decisions, "decision")} called unfair.`;
  const goal = target === null ? "" : (counts === "estimated" ? counted : total) <= targets.at(-1) ? " Within the target." : " Above the target so far; chances are kept closer together until it is met.";
  return share + goal + boundWords(flagged) + (capped ? " The cap is reached: only provably fair chances are used." : "");
}

/** Where the limit comes from. */
function boundWords({ target, counts, counted, start, late }) {
  if (target === null) return "";
  if (counts === "estimated") return ` The target counts each flag by the probability that it is right: ${number(counted, 1)} in all.`;
  const more = late ? ` (${late.toLocaleString("en")} so far)` : "";
  return ` The guaranteed limit holds whoever flags: the target plus ${start}, as many flags as can come before all chances are equal. It rises with each flag that comes without a target or after all chances were made equal${more}.`;
}

function rewardData({ reward }) {
  const known = [...reward.by_span, ...reward.so_far].filter((value) => value !== null);
  const far = [...reward.low, ...reward.high].filter((value) => value !== null);
  // The band of an interval with few outcomes may be so wide that it would flatten everything else: it is cut.
  const reach = WIDE * Math.max(...known.map(Math.abs), 1e-9);
  const all = [0, ...known, ...far.map((value) => Math.max(-reach, Math.min(reach, value)))];
  const [low, high] = known.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
  const room = (high - low || 1) * 0.08;
  const digits = digitsOf(high + room - low);
  const ends = (i) => (reward.low[i] === null ? "" : `(95%: ${number(reward.low[i], digits)} to ${number(reward.high[i], digits)})`);
  const lines = [
    { name: "Mean per interval", short: "This interval", kind: "second", y: reward.by_span, value: last(reward.by_span), more: ends },
    { name: "Mean so far", short: "So far", kind: "main", y: reward.so_far, value: last(reward.so_far) },
  ];
  const band = { name: "95% confidence band", low: reward.low, high: reward.high };
  const format = (value) => number(value, digits);
  return { x: reward.edges, low: low < 0 ? low - room : 0, high: high + room, whole: false, lines, band, summary: rewardWords(reward), format, tick: format };
}

/** Decimal places that distinguish the ticks of a range. */
const digitsOf = (range) => Math.min(9, Math.max(range < 20 ? 2 : 0, Math.ceil(-Math.log10(range / TICKS))));

const last = (values) => {
  const known = values.findLast((value) => value !== null);
  return known === undefined ? "–" : number(known);
};

/** The chart of rewards in words. */
export function rewardWords({ outcomes, mean, by_span: spans, edges }) {
  if (!outcomes) return "No outcomes yet.";
  const known = spans.filter((value) => value !== null);
  const change = known.length > 3 ? ` First interval: ${number(known[0])}; last interval: ${number(known.at(-1))}.` : "";
  const [first, last_] = [edges[0], edges.at(-1) - (edges.at(-2) ?? 0)];
  const longer = last_ > first ? ` Each interval has ${count(first, "decision")}; the last one has ${last_.toLocaleString("en")}, as it includes the one just begun.` : "";
  return `${count(outcomes, "outcome")}, ${number(mean)} on average.${change}${longer}`;
}
