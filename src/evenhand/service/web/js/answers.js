// The answers below a pair: buttons with their keys, and an optional reason and note.

import { $, el } from "./dom.js";

export const ANSWERS = {
  unfair: { label: "Unfair", keys: ["u"], kind: "judgement", past: "unfair" },
  acceptable: { label: "Acceptable", keys: ["a"], kind: "judgement", past: "acceptable" },
  unsure: { label: "Unsure", keys: ["n", "?"], kind: "aside", past: "unsure" },
  skip: { label: "Skip", keys: ["s"], kind: "aside", past: "skipped" },
  alike: { label: "Alike", keys: ["a"], kind: "judgement", past: "alike" },
  left: { label: "Left first", keys: ["l"], kind: "judgement", past: "left first" },
  right: { label: "Right first", keys: ["r"], kind: "judgement", past: "right first" },
  conflict: { label: "Conflict of interest", keys: ["c"], kind: "aside", past: "conflict of interest" },
};

const ABOUT_THE_GAP = ["gap", "small"];

export const REASONS = [
  ["alike", "They are alike in what matters"],
  ["different", "They differ in what matters"],
  ["gap", "The gap is out of proportion"],
  ["small", "The gap is too small to matter"],
  ["irrelevant", "An attribute counts that should not"],
  ["missing", "Something I need to know is not shown"],
  ["other", "Another reason: see my note"],
];

/** Buttons for these answers; answer(name) is called when one is pressed. Double clicks and held keys count once: the
 * next pair appears while the button is still pressed. */
export function answerButtons(names, answer) {
  const ignoreHeld = (event) => { if (event.repeat && ["Enter", " "].includes(event.key)) event.preventDefault(); };
  return el("div", { class: "answers", role: "group", "aria-label": "Your answer", onkeydown: ignoreHeld }, names.map((name) => {
    const { label, keys, kind } = ANSWERS[name];
    return el("button", {
      class: `button ${kind}`, type: "button", id: `answer-${name}`, "aria-keyshortcuts": keys.join(" "),
      onclick: (event) => { if (event.detail <= 1) answer(name); },
    }, label, el("kbd", { "aria-hidden": "true" }, keys[0]));
  }));
}

/** Every key of any answer; which answer it gives depends on what is asked. */
export const ANSWER_KEYS = [...new Set(Object.values(ANSWERS).flatMap(({ keys }) => keys))];

/** The answer among these names that a key gives. */
export const answerOf = (key, names) => names.find((name) => ANSWERS[name].keys.includes(key));

/** An answer in the past tense; ratings: of the left and the right person, if it was one. */
export const past = (name, ratings = null) => (ratings ? `rated ${ratings.join(" and ")}` : ANSWERS[name].past);

export function remarksForm() {
  const reasons = el("select", { class: "input", id: "reason" },
    el("option", { value: "" }, "No reason"), REASONS.map(([value, text]) => el("option", { value }, text)));
  const note = el("textarea", { class: "input", id: "note", rows: "2", maxlength: "2000" });
  return el("details", { class: "fold", id: "remarks" }, el("summary", {}, "Add a reason or note"),
    el("div", { class: "remarks" },
      el("div", { class: "field" }, el("label", { for: "reason" }, "Reason"), reasons),
      el("div", { class: "field" }, el("label", { for: "note" }, "Note"), note,
        el("span", { class: "hint" }, "Recorded with your answer. Ctrl+Enter returns to the answers."))));
}

/** Offers the reasons that fit the question: those about the gap only where it is shown. */
export function offerReasons(ask) {
  for (const option of $("#reason").options) option.hidden = ask !== "verdicts" && ABOUT_THE_GAP.includes(option.value);
}

export function readRemarks() {
  const [reason, note] = ["#reason", "#note"].map((id) => $(id).value.trim() || null);
  return { reason, note };
}
