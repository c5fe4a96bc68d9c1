// The two charts of the window: rounds that were flagged, with the target and the bound, and rewards.

import { show } from "../dom.js";
import { count, percent } from "../format.js";
import { chart } from "./chart.js";
import { number } from "./words.js";

const X = "Decisions";
const FAR = 2.5; // a bound so many times above all else would flatten everything; it is told in words instead

export function roundCharts(place) {
  const flagged = chart({ id: "chart-flagged", title: "Decisions that were called unfair", xName: X });
  const reward = chart({ id: "chart-reward", title: "What chosen people brought", xName: X });
  show(place, flagged.element, reward.element);
  return {
    update(rounds) {
      flagged.update(flaggedData(rounds));
      reward.update(rewardData(rounds));
    },
  };
}

function flaggedData({ decisions, flagged }) {
  const { edges, total, target, allowance, cap } = flagged;
  const lines = [{ name: "Called unfair so far", kind: "main", y: flagged.by_edge, steps: true, from: 0, told: total.toLocaleString("en") }];
  let top = Math.max(total, 4);
  if (target !== null) {
    top = Math.max(top, target * decisions);
    lines.push({ name: `Target, ${percent(target)} of decisions`, kind: "target", y: edges.map((at) => target * at), from: 0, told: number(target * decisions, 1) });
    const bound = allowance + target * decisions;
    const near = bound <= FAR * top;
    const y = near ? edges.map((at) => allowance + target * at) : null;
    lines.push({ name: near ? "Never more than, whoever flags" : "Never more than (above the picture)", kind: "bound", y, from: near ? allowance : undefined, told: number(bound, 0) });
    if (near) top = Math.max(top, bound);
  }
  if (cap !== null) {
    lines.push({ name: "Cap: then only what is proved fair is played", kind: "bound", y: cap <= FAR * top ? edges.map(() => cap) : null, told: String(cap) });
    if (cap <= FAR * top) top = Math.max(top, cap);
  }
  return { x: edges, low: 0, high: top * 1.08, lines, band: null, summary: flaggedWords(decisions, flagged), format: (value) => number(value, Number.isInteger(value) ? 0 : 1) };
}

function flaggedWords(decisions, { total, target, is_capped: capped, by_edge: by }) {
  if (!decisions) return "No decision has been made yet.";
  const half = total - (by[Math.floor((by.length - 1) / 2)] ?? 0);
  const share = `${count(total, "decision was", "decisions were")} called unfair of ${decisions.toLocaleString("en")} (${percent(total / decisions)}), ${half} of them in the later half.`;
  const goal = target === null ? "" : total <= target * decisions ? " That is within the target." : " That is above the target so far; odds are drawn closer together until it is met.";
  return share + goal + (capped ? " The cap is reached: only what is proved fair is played." : "");
}

function rewardData({ reward }) {
  const known = [...reward.low, ...reward.high, ...reward.so_far].filter((value) => value !== null);
  const [low, high] = known.length ? [Math.min(0, ...known), Math.max(0, ...known)] : [0, 1];
  const room = (high - low || 1) * 0.08;
  const lines = [
    { name: "Mean of each span", kind: "second", y: reward.by_span, told: last(reward.by_span) },
    { name: "Mean of all so far", kind: "main", y: reward.so_far, told: last(reward.so_far) },
  ];
  const band = { name: "95% of what each span's mean may be", low: reward.low, high: reward.high };
  return { x: reward.edges, low: low < 0 ? low - room : 0, high: high + room, lines, band, summary: rewardWords(reward), format: (value) => number(value, 2) };
}

const last = (values) => {
  const known = values.findLast((value) => value !== null);
  return known === undefined ? "–" : number(known);
};

function rewardWords({ outcomes, mean, by_span: spans }) {
  if (!outcomes) return "No outcome has been recorded yet.";
  const known = spans.filter((value) => value !== null);
  const change = known.length > 3 ? ` The first span brought ${number(known[0])}, the last one ${number(known.at(-1))}.` : "";
  return `${count(outcomes, "outcome")}, ${number(mean)} on average.${change}`;
}
