// Reviewers: what they have done, how steady they are and how far they agree, and how often each is thought to err.

import { el, show } from "../dom.js";
import { count, percent } from "../format.js";
import { tableFrame } from "../frames.js";
import { liveRows } from "./rows.js";
import { ago, both, number, own } from "./words.js";

const HEADS = ["Reviewer", "Answers", "Unfair", "Acceptable", "Other", "Taken back", "Seconds each", "Same when asked twice", "Estimated error rate", "Last"];

const FEW = 10; // pairs: of fewer, kappa says next to nothing, and is left out
const COUNTED = "Here every pair that somebody called unfair counts, in interviews and when asked twice too. “Called unfair” at the top counts decisions, each once; flags on equal odds are not counted there.";

export function reviewersView(place) {
  let view = null;
  return {
    update({ people, agreement, consistency, errors_are_learned: learned }) {
      if (!people.length) {
        if (!place.hasChildNodes()) show(place, el("p", { class: "muted" }, "Nobody has reviewed this desk's decisions yet."));
        return;
      }
      view ??= begun(place, learned);
      view(people, agreement, consistency);
    },
  };
}

/** Everything is put in its place once, and filled with each news: a fold that is open stays open. */
function begun(place, learned) {
  const [sentence, body, list] = [el("p"), el("tbody"), el("ul", { class: "sentences" })];
  const fold = el("details", { class: "fold" }, el("summary", {}, "Agreement of each two"), list);
  const frame = table(body, learned);
  show(place, sentence, frame, el("p", { class: "small muted" }, COUNTED),
    learned ? null : el("p", { class: "small muted" }, "This desk takes the error of its reviewers as given, so none is estimated. Open a desk with reviewer_error none to have it learned."));
  const fill = liveRows(body, (person) => JSON.stringify(person.name), (person) => line(person, learned));
  return (people, agreement, consistency) => {
    sentence.textContent = together(agreement, consistency);
    fill(people.map((person) => ({ ...person, ago: person.last === null ? "–" : ago(person.last) })));
    if (!agreement.between.length) fold.remove();
    else if (!fold.isConnected) frame.after(fold);
    show(list, agreement.between.map(betweenTwo));
  };
}

/** What reviewers are like together, in a sentence or two. */
export function together({ pairs, share, kappa }, { repeats, same }) {
  const agreed = pairs
    ? `On ${count(pairs, "pair")} two or more people judged, they agree in ${percent(share, 0)} of cases${unsaid(pairs, kappa) ? "" : ` (Fleiss’ kappa ${number(kappa)}: ${kappaWords(kappa)})`}.`
    : "No pair has been judged by two people yet, so nothing can be said about agreement.";
  const steady = repeats
    ? `Asked a second time without notice, people answered as before ${same} of ${repeats} times.`
    : "No pair has been asked twice yet.";
  return `${agreed} ${steady}`;
}

const unsaid = (pairs, kappa) => kappa === null || pairs < FEW;

function kappaWords(kappa) {
  if (kappa < 0) return "less than chance";
  if (kappa >= 0.8) return "almost perfect agreement";
  if (kappa >= 0.6) return "much more than chance";
  if (kappa >= 0.3) return "more than chance";
  return kappa > 0.05 ? "little more than chance" : "no more than chance";
}

function table(body, learned) {
  const heads = HEADS.filter((head) => learned || head !== "Estimated error rate");
  return tableFrame("Table of reviewers",
    el("table", { class: "table" },
      el("caption", { class: "visually-hidden" }, "What each reviewer has done"),
      el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: i && i < heads.length - 1 ? "right" : null }, head)))),
      body));
}

function line(person, learned) {
  const cell = (text) => el("td", { class: "right number" }, text);
  const { consistency, error } = person;
  return el("tr", {},
    el("th", { scope: "row", class: "who" }, person.name === null ? "without a name" : own(person.name)),
    cell(person.answers.toLocaleString("en")), cell(String(person.unfair)), cell(String(person.acceptable)),
    cell(String(person.unsure + person.skip + person.conflict)), cell(String(person.withdrawn)),
    cell(person.median_seconds === null ? "–" : number(person.median_seconds, 1)),
    cell(consistency.repeats ? `${consistency.same} of ${consistency.repeats}` : "–"),
    learned && el("td", { class: "right number" }, error === null ? "–" : [percent(error.rate, 0), el("span", { class: "block small muted" }, `${percent(error.lower, 0)} to ${percent(error.upper, 0)}`), error.misleads && el("span", { class: "chip marked" }, "not listened to")]),
    el("td", {}, person.ago));
}

function betweenTwo({ reviewers, pairs: n, same, kappa }) {
  return el("li", {}, both(reviewers.map((name) => name ?? "somebody without a name")), `: the same on ${same} of ${count(n, "pair")}${unsaid(n, kappa) ? "" : `, Cohen’s kappa ${number(kappa)}`}.`);
}
