// A desk beside a system in force: whether it is in shadow mode, and where the two differ.

import { call, deskPath } from "../api.js";
import { el, show } from "../dom.js";
import { count, percent } from "../format.js";
import { tableFrame } from "../tables.js";
import { decisionPath } from "./decision-table.js";
import { both, joined, number, numbered, own } from "./words.js";

const LAST = 100; // decisions compared
const PAUSE = 3000; // minimum milliseconds between two reports
const SHARE = 20; // minimum pause, as a multiple of the time that the last report took
const IN_SHADOW = "In shadow mode: this desk chooses nobody. Another system decides; the desk is told what was done, and learns from it.";
const LIVE = "This desk is live. The report is about the decisions it made in shadow mode before.";
const ESTIMATES = "Rewards are those of the reward model, unfair pairs those whose gap exceeds the distance learned so far: estimates as of now. With few reviews and outcomes they say little.";

/** The mode, beside the name of the desk. */
export function modeChip(place) {
  return { update({ shadow }) { place.hidden = !shadow; } };
}

/** section: hidden unless the desk was ever in shadow mode. all: whether the visitor may see what was learned. */
export function shadowView(section, place, desk, all) {
  const [mode, report] = [el("p"), el("div", { class: "stack" })];
  const folds = [fold("Decisions with the least agreement"), fold("Pairs treated further apart than they are")];
  show(place, mode, report, folds.map(({ element }) => element));
  let [timer, version, pause] = [null, null, 0];
  const read = async () => {
    timer = null;
    const begun = performance.now();
    try {
      const found = await call("GET", deskPath(desk, `/differences?last=${LAST}`));
      draw(report, found);
      folds[0].fill(found.compared ? leastAgreement(found, desk) : []);
      folds[1].fill(found.compared ? worstPairs(found, desk) : []);
      pause = Math.max(PAUSE, SHARE * (performance.now() - begun));
    } catch (error) {
      version = null;
      show(report, el("p", { class: "banner" }, `Could not load the differences: ${error.message}`));
    }
  };
  return {
    update({ shadow, has_shadowed: any, lines, behind }) {
      section.hidden = !any;
      mode.textContent = shadow ? IN_SHADOW : LIVE;
      const now = lines - behind;
      if (!any || !all || now === version) return;
      timer ??= setTimeout(read, pause);
      version = now;
    },
  };
}

function draw(place, report) {
  if (!report.compared) return show(place, el("p", { class: "muted" }, report.sentences.join(" ")));
  show(place, figures(report), tableFrame("The desk and the system in force", sides(report)),
    el("p", { class: "small muted" }, ESTIMATES));
}

function figures(report) {
  const entries = [
    ["Agreement", percent(report.agreement, 0), `in ${count(report.compared, "decision")}`],
    ["Same choice", report.same_choice.toLocaleString("en"), "exactly those who were chosen"],
    ["Reward, desk less system", signed(report.reward_difference), report.reward_uncertainty === null ? "" : `give or take ${number(report.reward_uncertainty)}`],
    ["Outcomes known", report.outcomes.toLocaleString("en"), report.mean_outcome === null ? "" : `mean ${number(report.mean_outcome)}; estimated ${number(report.mean_estimate)}`],
    ["Not told yet", report.untold.toLocaleString("en"), "decisions without an action"],
  ];
  return el("div", { class: "figure-row card", role: "list" }, entries.map(([words, value, note]) =>
    el("div", { class: "figure", role: "listitem" }, el("span", { class: "muted small" }, words), " ", el("b", { class: "number" }, value), " ", el("span", { class: "muted small" }, note))));
}

const signed = (value) => `${value > 0 ? "+" : ""}${number(value)}`;

function sides({ desk, system, reviews }) {
  const rows = [
    ["Estimated reward of a decision", ({ estimated_reward: reward }) => number(reward, 3)],
    [`Unfair pairs, as learned from ${count(reviews, "answer")}`, ({ unfair_pairs: pairs }) => pairs.toLocaleString("en")],
    ["Decisions with an unfair pair", ({ unfair_decisions: decisions }) => decisions.toLocaleString("en")],
    ["Called unfair, of those reviewed", ({ flagged, reviewed }) => `${flagged} of ${reviewed}`],
  ];
  const cell = (value) => el("td", { class: "right number" }, value);
  return el("table", { class: "table" }, el("caption", { class: "visually-hidden" }, "The desk and the system in force"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, el("span", { class: "visually-hidden" }, "Figure")), ["Desk", "System"].map((head) => el("th", { scope: "col", class: "right" }, head)))),
    el("tbody", {}, rows.map(([head, value]) => el("tr", {}, el("th", { scope: "row" }, head), cell(value(desk)), cell(value(system))))));
}

const link = (desk, { decision, number: n }) => el("a", { href: decisionPath(desk, decision) }, numbered(n));
const people = (ids) => (ids.length ? joined(ids.map(own), ", ") : ["nobody"]);

function leastAgreement({ decisions }, desk) {
  return decisions.map((one) => el("li", {}, "Decision ", link(desk, one),
    `, agreement ${percent(one.agreement, 0)}: chosen was `, people(one.chosen), "; the desk would have chosen ", people(one.would_choose), "."));
}

function worstPairs({ pairs }, desk) {
  const whose = { desk: "the desk", system: "the system" };
  return pairs.map((one) => el("li", {}, "Decision ", link(desk, one), `, by ${whose[one.subject]}: `,
    both([one.first, one.second]), `, gap ${percent(one.gap)}, distance ${number(one.distance)}.`));
}

/** A list to open; it stays open when it is filled anew, and is hidden while it is empty. */
function fold(title) {
  const list = el("ul", { class: "sentences" });
  const element = el("details", { class: "fold", hidden: true }, el("summary", {}, title), list);
  return {
    element,
    fill(lines) {
      element.hidden = !lines.length;
      show(list, lines);
    },
  };
}
