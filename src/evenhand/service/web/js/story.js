// The demo's story: before evenhand, the first flags, what was learned, the flags stopping, what it cost.

import { call, deskPath, session } from "./api.js";
import { $, el, show } from "./dom.js";
import { showError } from "./banners.js";
import { count, named, percent } from "./format.js";
import { masthead } from "./masthead.js";
import { bar } from "./meters.js";
import { number } from "./dashboard/words.js";

const FEATURES = 5; // bars of what was learned

async function begin() {
  masthead();
  const person = await session();
  const story = await call("GET", "/story/numbers");
  masthead({ person, desk: story.desk });
  const { desk, metric } = await call("GET", deskPath(story.desk, "/window"));
  show($("#story"), [before(story), firstFlags(story, desk.rounds.flagged), learned(story, metric), stopping(story, desk), cost(story)].map(chapter));
  $("#story").setAttribute("aria-busy", "false");
  for (const [id, path] of [["#to-review", "/review/"], ["#to-desk", "/desks/"]]) {
    $(id).href = path + encodeURIComponent(story.desk);
    $(id).hidden = false;
  }
}

const chapter = ({ title, figure, words, picture }) => el("li", { class: "card" }, el("h2", {}, title), el("p", { class: "figure" }, el("b", { class: "number" }, figure)), el("p", {}, words), picture);

/** Bars with a label before and a value after; shares of the largest value. */
function bars(rows, words, kind = () => "") {
  const most = Math.max(...rows.map(([, value]) => value), 1e-9);
  return el("ul", { class: "story-bars" }, rows.map(([label, value], i) => el("li", {}, el("span", {}, label), bar(kind(i), value / most), el("b", { class: "number" }, words(value)))));
}

const pairs = (value) => number(Math.round(10 * value) / 10, value < 10 && value > 0 ? 1 : 0);

function before({ candidates, capacity, pairs: all, unfair_before: unfair }) {
  return {
    title: "Before evenhand", figure: `${pairs(unfair)} of ${count(all, "pair")}`,
    words: `The highest ${capacity === 1 ? "score" : `${capacity} scores`} of ${candidates} applicants got the ${capacity === 1 ? "loan" : "loans"}, all others nothing. On average, this many pairs of a decision were too similar to be treated that differently.`,
    picture: bars([["all pairs", all], ["unfair pairs", unfair]], pairs),
  };
}

function firstFlags({ unfair_before: before_, unfair_by_block: unfair }, { came, edges }) {
  const first = came.findIndex((n) => n > 0);
  return {
    title: "The first flags", figure: first < 0 ? "no flag yet" : `after ${count(edges[first], "decision")}`,
    words: "Now evenhand draws lots, and keeps the chances of similar people close together. At first it does not know who is similar, so reviewers call some gaps unfair.",
    picture: bars([["unfair pairs before", before_], ["at first", unfair[0] ?? 0]], pairs),
  };
}

function learned({ truth }, { effects, reviews }) {
  const first = effects.toSorted((a, b) => b.value - a.value).slice(0, FEATURES);
  const hits = first.filter(({ name }) => truth[name] > 0).length;
  return {
    title: "What it learned", figure: count(reviews, "answer"),
    words: `From these it learned which differences matter to reviewers. ${hits} of the ${first.length} features with the most weight do matter; striped ones do not.`,
    picture: bars(first.map(({ name, value }) => [named(name), Math.min(value, 1)]), (value) => `${Math.round(100 * value)} points`, (i) => (truth[first[i].name] > 0 ? "" : "second")),
  };
}

function stopping({ ends, unfair_by_block: unfair }, { rounds: { flagged } }) {
  const by = (end) => flagged.came[flagged.edges.findIndex((edge) => edge >= end)] ?? flagged.total;
  const flags = ends.map((end, i) => by(end) - (i ? by(ends[i - 1]) : 0));
  const [first, last] = [ends[0], ends.at(-1) - (ends.at(-2) ?? 0)];
  return {
    title: flags.at(-1) >= flags[0] ? "Fewer unfair pairs" : flags.at(-1) === 0 ? "The flags stop" : "The flags become rare", figure: `${flags[0]} → ${count(flags.at(-1), "flag")}`,
    words: `Flags in the first ${count(first, "decision")}, and in the last ${last} before you came. Unfair pairs in each decision, whether flagged or not:`,
    picture: bars(unfair.map((value, i) => [`up to No. ${ends[i] - 1}`, value]), pairs),
  };
}

function cost({ reward }) {
  const share = reward.before > 0 ? (reward.before - reward.evenhand) / reward.before : 0;
  return {
    title: "What it cost", figure: percent(Math.max(0, share), 0),
    words: `The share of the expected reward given up in the second half of these decisions.${reward.by_lot < reward.evenhand ? " A plain lottery would have earned even less." : ""}`,
    picture: bars([["highest scores", reward.before], ["evenhand", reward.evenhand], ["plain lottery", reward.by_lot]], (value) => number(value)),
  };
}

begin().catch((error) => showError($("#banners"), error));
