// The certificate of each pair: proven, likely, unproven or not attempted, and the reviews that prove it.

import { call, deskPath, Unreachable } from "../api.js";
import { el, show } from "../dom.js";
import { count, percent } from "../format.js";
import { meaningOf } from "../glossary.js";
import { tableFrame } from "../tables.js";
import { LATER } from "./binding-pairs.js";
import { decisionPath } from "./decision-table.js";
import { calledBy } from "./flags.js";
import { both, number, numbered, own, pointsOf } from "./words.js";

const FIRST = 25;
const STATUS = {
  called: { mark: "⚑", words: "called unfair", meaning: "flagged by a reviewer, and not proven fair" },
  proved: { mark: "✓", words: "proven fair", meaning: "every metric consistent with the reviews allows this gap" },
  likely: { mark: "≈", words: "likely fair", meaning: "not proven, but fair with a probability of at least 95%" },
  unproven: { mark: "?", words: "unproven", meaning: "none of these: review these pairs first" },
  "not attempted": { mark: "…", words: "not attempted", meaning: "the time was too short to look for a proof" },
};
const ORDER = ["called", "unproven", "not attempted", "likely", "proved"];

/** A button that computes the certificate, and what that may take. n: candidates; seconds: the budget of the search. */
export function offerProofs(place, desk, id, flags, n, seconds) {
  const pairs = (n * (n - 1)) / 2;
  if (!pairs) return show(place, el("p", {}, "A single candidate: there are no pairs to prove."));
  const start = async () => {
    place.setAttribute("aria-busy", "true");
    show(place, el("p", { class: "muted", role: "status" }, "Computing proofs …"));
    await showProofs(place, desk, id, flags).catch((error) => show(place, el("p", { class: "banner" }, `Could not load the certificate: ${error.message}`), button));
    place.setAttribute("aria-busy", "false");
  };
  const button = el("button", { class: "button", type: "button", id: "prove", onclick: start }, "Compute the certificate");
  show(place, el("p", { class: "row" }, button, el("span", { class: "small muted" }, `${count(pairs, "pair")}; at most ${count(seconds, "second")} to look for proofs`), meaningOf("certificate")));
}

/** flags: from `flagsOf`. */
async function showProofs(place, desk, id, flags) {
  const { pairs: all, promise, erased } = await retrying(() => call("GET", deskPath(desk, `/decisions/${encodeURIComponent(id)}/proofs`)));
  place.setAttribute("aria-busy", "false");
  const file = el("p", {}, el("a", { class: "button small", href: deskPath(desk, `/decisions/${encodeURIComponent(id)}/certificate`), download: true }, "Certificate (JSON)"));
  if (!all.length) return show(place, el("p", {}, erased.length ? "All pairs have somebody who was erased: there is nothing to prove any more." : "A single candidate: there are no pairs to prove."), file);
  const known = all.map((pair) => withFlags(pair, flags.on(pair.first, pair.second)));
  const pairs = known.toSorted((a, b) => (b.status === "called") - (a.status === "called") || b.binding - a.binding || ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || b.gap - a.gap);
  const body = el("tbody", {}, pairs.slice(0, FIRST).map((pair) => line(pair, desk)));
  const more = pairs.length > FIRST && el("button", { class: "button small", type: "button", onclick: (event) => { show(body, pairs.map((pair) => line(pair, desk))); event.target.remove(); } }, `Show all ${count(pairs.length, "pair")}`);
  return show(place, counts(known),
    tableFrame("Table of the certificate", el("table", { class: "table" },
      el("caption", { class: "visually-hidden" }, "The certificate of each pair"),
      el("thead", {}, el("tr", {}, ["Pair", "Gap", "Proven distance", "Status", "Based on"].map((head, i) => el("th", { scope: "col", class: i === 1 || i === 2 ? "right" : null }, head)))), body)),
    more || null,
    file,
    el("p", { class: "small muted" }, "Based on all reviews so far. Anybody can check it without this service: evenhand.certificates.check shares no code with the certifier."),
    promise && el("p", { class: "promise" }, promise, " ", el("span", { class: "small muted" }, "This is about the desk as a whole, now; the check of a certificate does not cover it.")));
}

async function retrying(attempt) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Unreachable) || tries > 8) throw error;
      await new Promise((resolve) => { setTimeout(resolve, 1000); });
    }
  }
}

/** A pair with its flags. A flag counts unless the pair is proven fair. */
const withFlags = (pair, by) => ({ ...pair, by, status: by.length && pair.status !== "proved" ? "called" : pair.status });

function counts(pairs) {
  const how = (name) => pairs.filter((pair) => pair.status === name).length;
  return el("ul", { class: "proof-counts legend" }, Object.entries(STATUS).filter(([name]) => !["called", "not attempted"].includes(name) || how(name)).map(([name, { meaning }]) =>
    el("li", {}, status(name), el("b", { class: "number" }, String(how(name))), el("span", { class: "muted" }, meaning))));
}

const status = (name, words = STATUS[name].words) => el("span", { class: `status ${name.replace(" ", "-")}` }, el("span", { "aria-hidden": "true" }, STATUS[name].mark), el("span", {}, words));

function line(pair, desk) {
  const equal = pair.gap < 1e-9;
  return el("tr", {},
    el("th", { scope: "row", class: "who" }, both([pair.first, pair.second]), pair.binding && el("span", { class: "block" }, el("span", { class: "chip" }, "at the limit"))),
    el("td", { class: "right number" }, equal ? "none" : pointsOf(pair.gap)),
    el("td", { class: "right number" }, equal ? "–" : `${number(pair.bound, 3)}`),
    el("td", {}, statusOf(pair, equal)),
    el("td", { class: "resting" }, equal ? "Equal chances are fair by definition." : evidence(pair, desk)));
}

const MOST = 0.999; // what is not proven is not said to be certain

/** The status of a pair. Beside a flag the certificate's probability is an upper bound, not an estimate: left out. */
function statusOf({ status: name, by, probability }, equal) {
  if (name === "called") return status(name, calledBy(by));
  const flag = by.length > 0 && el("span", { class: "block small muted" }, calledBy(by), equal ? "; flags on equal chances are not counted" : "");
  return [status(name), name !== "proved" && el("span", { class: "block small muted" }, `fair with a probability of ${percent(Math.min(probability, MOST), 0)}`), flag];
}

function evidence(pair, desk) {
  if (pair.status === "not attempted") return el("span", { class: "muted" }, "no proof was looked for; reviews of similar pairs give an estimate");
  if (!pair.evidence.length) return el("span", { class: "muted" }, "no review proves a distance; reviews of similar pairs give an estimate, not a proof");
  const what = pair.status === "proved" ? count(pair.evidence.length, "review") : `${count(pair.evidence.length, "review")}, not sufficient for a proof`;
  return el("details", { class: "fold" }, el("summary", {}, what), el("ul", { class: "evidence" }, pair.evidence.map((quote) => el("li", {},
    quote.reviewer === null ? "Somebody" : own(quote.reviewer), " called ", quote.names ? [both(quote.names), " "].flat() : "two people in an interview ",
    el("b", {}, quote.unfair ? "unfair" : "acceptable"), ` at ${pointsOf(quote.gap)}`,
    quote.decision && [" (", el("a", { href: decisionPath(desk, quote.decision) }, numbered(quote.number)), ")"], `, weight ${number(quote.weight)}`, quote.is_later && `, ${LATER}`))));
}
