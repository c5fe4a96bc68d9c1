// The two charts of the window: rounds that were flagged, with the target and the bound, and rewards.

import { show } from "../dom.js";
import { count, percent } from "../format.js";
import { chart } from "./chart.js";
import { number } from "./words.js";

const X = "Decisions";
const AT = "Decisions made: %{x:,d}"; // the heading of a readout
const WIDE = 3; // the band of rewards is drawn as far as so many times the greatest mean
const TICKS = 6; // at most, up the side
const FAR = 6; // a limit so many times above all else would flatten everything: it is told at the upper edge instead

export function roundCharts(place, desk) {
  const flagged = chart({ id: "chart-flagged", file: `${desk}-flagged.png`, title: "Decisions that were called unfair", note: "Counted when the flag came, by the number of decisions made until then.", xName: X });
  const reward = chart({ id: "chart-reward", file: `${desk}-rewards.png`, title: "Reward of those chosen", xName: X });
  show(place, flagged.element, reward.element);
  return {
    update(rounds) {
      flagged.update(flaggedData(rounds));
      reward.update(rewardData(rounds));
    },
  };
}

function flaggedData({ decisions, flagged }) {
  const { edges, total, target, target_by: targets, bound_by: bounds, start, cap } = flagged;
  const lines = [{ name: "Called unfair by then", short: "Called unfair", kind: "main", y: flagged.came, steps: true, from: 0, told: total.toLocaleString("en") }];
  const most = { now: Math.max(total, 4) };
  if (target !== null) {
    lines.push({ name: `Target, ${percent(target)} of decisions`, short: "Target", kind: "target", y: targets, from: 0, told: number(targets.at(-1) ?? 0, 1) });
    most.now = Math.max(most.now, targets.at(-1) ?? 0);
    lines.push(limit("Promised limit", "bound", bounds, bounds.at(-1) ?? start, most, start));
  }
  if (cap !== null) lines.push(limit("Cap: then only what is proved fair is played", "cap", edges.map(() => cap), cap, most, cap));
  return { x: edges, low: 0, high: most.now * 1.08, lines, band: null, summary: flaggedWords(decisions, flagged), format: (value) => number(value, Number.isInteger(value) ? 0 : 1), tickFormat: ",d", at: AT };
}

/** A line that nothing may cross: drawn, or told at the upper edge of the picture if it is far above it. */
function limit(name, kind, y, last, most, from) {
  const told = number(last, 0);
  const short = name.split(",")[0].split(":")[0];
  if (last > FAR * most.now) return { name: `${name} (above the picture)`, kind, y: null, told, above: `${short}: ${told}` };
  most.now = Math.max(most.now, last);
  return { name, short, kind, y, from, told };
}

/** The picture of flags in words. */
export function flaggedWords(decisions, flagged) {
  const { total, target, is_capped: capped, came, edges, target_by: targets } = flagged;
  if (!decisions) return "No decision has been made yet.";
  const middle = edges.findIndex((edge) => edge >= decisions / 2);
  const later = decisions - edges[middle];
  // As the picture has it: by when a flag came, not by the decision that it was on.
  const lately = later ? `; ${total - came[middle]} of these flags came while the last ${later.toLocaleString("en")} were made` : "";
  const share = total ? `${count(total, "decision was", "decisions were")} called unfair of ${decisions.toLocaleString("en")} (${percent(total / decisions)})${lately}.` : noneOf(decisions);
  const goal = target === null ? "" : total <= targets.at(-1) ? " That is within the target." : " That is above the target so far; odds are drawn closer together until it is met.";
  return share + goal + boundWords(flagged) + (capped ? " The cap is reached: only what is proved fair is played." : "");
}

const noneOf = (decisions) => (decisions === 1 ? "The only decision was not called unfair." : `None of ${decisions.toLocaleString("en")} decisions was called unfair.`);

/** Where the limit comes from, so that nobody has to believe it. */
function boundWords({ target, start, late }) {
  if (target === null) return "";
  const more = late ? `: by ${late.toLocaleString("en")} so far` : "";
  return ` The promised limit holds whoever flags: the target and ${start} more, as many as can come before all odds are equal. It rises with each flag that comes without a target or after all odds were made equal${more}.`;
}

function rewardData({ reward }) {
  const known = [...reward.by_span, ...reward.so_far].filter((value) => value !== null);
  const far = [...reward.low, ...reward.high].filter((value) => value !== null);
  // The band of a stretch with two or three outcomes may be so wide that nothing else would be seen: it is cut off then.
  const reach = WIDE * Math.max(...known.map(Math.abs), 1e-9);
  const all = [0, ...known, ...far.map((value) => Math.max(-reach, Math.min(reach, value)))];
  const [low, high] = known.length ? [Math.min(...all), Math.max(...all)] : [0, 1];
  const room = (high - low || 1) * 0.08;
  const digits = digitsOf(high + room - low);
  const ends = (i) => (reward.low[i] === null ? "" : `(95%: ${number(reward.low[i], digits)} to ${number(reward.high[i], digits)})`);
  const lines = [
    { name: "Mean per stretch of decisions", short: "This stretch", kind: "second", y: reward.by_span, told: last(reward.by_span), more: ends },
    { name: "Mean of all so far", short: "All so far", kind: "main", y: reward.so_far, told: last(reward.so_far) },
  ];
  const band = { name: "95% of what each stretch's mean may be", low: reward.low, high: reward.high };
  return { x: reward.edges, low: low < 0 ? low - room : 0, high: high + room, lines, band, summary: rewardWords(reward), format: (value) => number(value, digits), tickFormat: `,.${digits}f`, at: AT };
}

/** Digits after the point that tell the ticks of a range apart. */
const digitsOf = (range) => Math.min(9, Math.max(range < 20 ? 2 : 0, Math.ceil(-Math.log10(range / TICKS))));

const last = (values) => {
  const known = values.findLast((value) => value !== null);
  return known === undefined ? "–" : number(known);
};

/** The picture of rewards in words. */
export function rewardWords({ outcomes, mean, by_span: spans, edges }) {
  if (!outcomes) return "No outcome has been recorded yet.";
  const known = spans.filter((value) => value !== null);
  const change = known.length > 3 ? ` The first stretch brought ${number(known[0])}, the last one ${number(known.at(-1))}.` : "";
  const [first, last_] = [edges[0], edges.at(-1) - (edges.at(-2) ?? 0)];
  const longer = last_ > first ? ` A stretch has ${count(first, "decision")}; the last one has ${last_.toLocaleString("en")}, for what has just begun is counted with what was before.` : "";
  return `${count(outcomes, "outcome")}, ${number(mean)} on average.${change}${longer}`;
}
