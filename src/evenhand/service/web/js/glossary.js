// The glossary: a term of art is a button that opens its meaning, by mouse, keyboard and touch; Escape closes it.
// It follows its term when the page moves or grows, and closes when the term leaves the window.

import { el } from "./dom.js";

export const MEANINGS = {
  chance: "How likely a candidate is to be chosen. The desk draws lots with these chances.",
  gap: "The difference between two candidates’ chances, in percentage points.",
  distance: "How different two candidates are, in the eyes of the reviewers. It limits the gap between their chances.",
  metric: "What measures the distance between any two candidates. Nobody can write it down; the desk learns it from answers.",
  "called unfair": "Decisions in which a reviewer called the gap of some pair unfair: flags. Each decision counts once; flags on equal chances do not count.",
  "flags left": "How many more decisions can ever be called unfair: a proved number, if each decision is reviewed before the next. Flags on decisions made before an earlier flag was processed come on top. It is proved with up to five features and reviewers who apply a rule; with more features only for some learners.",
  "at the limit": "A pair whose gap is as wide as its distance allows. Such pairs keep the chances from being more rewarding.",
  "cost of fairness": "The expected reward given up so that similar people have similar chances.",
  "without fairness": "The chance that a candidate would have if only the expected reward counted.",
  "expected reward": "What the desk expects to earn from a candidate if chosen, by its best estimate.",
  "optimistic reward": "The expected reward plus its uncertainty. The desk optimises this, so that it also learns about people it knows little of.",
  reward: "What was observed after a candidate was chosen.",
  certificate: "For each pair: whether the reviews so far prove its gap fair. Anybody can check it without this service.",
  "proven distance": "The largest distance that the reviews prove for a pair. A gap up to it is fair.",
  target: "The share of decisions that may be called unfair. Above it the desk keeps chances closer together until it is met.",
  "guaranteed limit": "The target plus the flags that can come before all chances are equal. It holds whoever flags.",
  "confidence band": "With 95% confidence the true mean lies within the band.",
  "plausible range": "Where the true value lies, as far as the answers tell.",
  "best estimate": "For two people who differ in this one feature as much as possible: how many percentage points their chances may differ. While it is unsure, and after flags, the desk keeps chances closer together than this.",
  "to review": "Answers wanted from reviewers. Some pairs need two.",
  "answers used": "Answers that the desk has learned from, without passed, repeated and withdrawn ones.",
  agreement: "How often two reviewers gave the same answer on the same pair. Kappa corrects for agreement by chance.",
  consistency: "How often a reviewer gave the same answer when a pair was shown again without notice.",
  "error rate": "How often a reviewer’s answer is wrong, as estimated from all answers.",
  group: "All candidates with the same value of an attribute. The attribute may be one that the desk never learns from.",
  ledger: "The record of all that happened at this desk. Nothing in it can be changed unnoticed.",
  hash: "A fingerprint of the whole ledger up to here. Keep a copy elsewhere: if the ledger is cut short, it no longer fits.",
  interview: "Questions about hypothetical chances, to learn who is alike before decisions are made.",
  matrix: "The distance of two people is √(z′Gz), where z is the difference of their features as numbers. The diagonal of G shows single features; other entries show whether two add up (+) or compensate for each other (−).",
};

let [serial, open] = [0, null];

/** A question mark that shows the meaning of `name`, beside words that do something else. */
export function meaningOf(name) {
  const place = term(name, "?");
  place.firstChild.setAttribute("aria-label", `What “${name}” means`);
  place.firstChild.classList.add("mark");
  return place;
}

/** A term of art: `words` as a button that shows the meaning of `name`. */
export function term(name, words = name.charAt(0).toUpperCase() + name.slice(1)) {
  const meaning = MEANINGS[name];
  if (meaning === undefined) throw new Error(`no such term: ${name}`);
  serial += 1;
  const id = `meaning-${serial}`;
  const note = el("span", { class: "meaning", role: "note", id, hidden: true }, meaning);
  const button = el("button", { class: "term", type: "button", "aria-expanded": "false", "aria-controls": id, onclick: () => (note.hidden ? reveal(button, note) : close()) }, words);
  return el("span", { class: "term-place" }, button, note);
}

function reveal(button, note) {
  close();
  open = { button, note };
  note.hidden = false;
  button.setAttribute("aria-expanded", "true");
  button.setAttribute("aria-describedby", note.id);
  place(button, note);
}

/** Below the term, within the window. */
function place(button, note) {
  const [at, wide] = [button.getBoundingClientRect(), document.documentElement.clientWidth];
  note.style.left = `${Math.max(8, Math.min(at.left, wide - note.offsetWidth - 8))}px`;
  const below = at.bottom + 6;
  note.style.top = `${below + note.offsetHeight > window.innerHeight ? Math.max(8, at.top - note.offsetHeight - 6) : below}px`;
}

export function close() {
  if (open === null) return;
  open.note.hidden = true;
  open.button.setAttribute("aria-expanded", "false");
  open.button.removeAttribute("aria-describedby");
  open = null;
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || open === null) return;
  open.button.focus();
  close();
});
document.addEventListener("pointerdown", ({ target }) => { if (open && !open.note.contains(target) && !open.button.contains(target)) close(); });
document.addEventListener("focusin", ({ target }) => { if (open && target !== open.button && !open.note.contains(target)) close(); });
for (const what of ["scroll", "resize"]) addEventListener(what, follow, { passive: true, capture: true });

function follow() {
  if (open === null) return;
  const at = open.button.getBoundingClientRect();
  if (at.bottom < 0 || at.top > window.innerHeight) close();
  else place(open.button, open.note);
}
