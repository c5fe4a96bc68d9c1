// The list of decisions: the newest, kept up to date; older ones, page by page; and those that were called unfair alone.
//
// News never lead away from the page one is at: it is asked for again, and what did not change stays as it is.

import { call, deskPath } from "../api.js";
import { $, announce, el, show } from "../dom.js";
import { count } from "../format.js";
import { latestTable } from "./latest.js";
import { numbered } from "./words.js";

const PAUSE = 2000; // milliseconds between two looks at a page that is not the newest
const UNFAIR = "unfair";
const TITLES = { newest: "The latest decisions", older: "Older decisions", unfair: "Decisions that were called unfair" };
const NONE = { all: "No decision has been made yet.", unfair: "No decision has been called unfair." };

/** all: whether who looks may know what was said of decisions. `update` takes the desk's part of the window; `showUnfair`
 * lists those called unfair, and goes there. */
export function decisionsList(place, desk, all) {
  const rows = el("div", { class: "stack" });
  const [words, told] = [el("span", { class: "small muted number", id: "latest-where" }), el("span", { class: "visually-hidden", role: "status" })];
  const title = $("#latest-title");
  const choice = el("select", { class: "input", id: "latest-show" }, el("option", { value: "all" }, "all decisions"), el("option", { value: UNFAIR }, "those called unfair"));
  const table = latestTable(rows, desk, all);
  let at = wanted(all);
  let page = null; // what is on the screen
  let [news, known, turn, timer] = [null, "", 0, null];

  const isLive = ({ show: which, before } = at) => which === "all" && before === null;
  const newest = () => ({ lines: news.latest, older: news.latest.at(-1)?.number || null, newer: null, is_first: true, of: news.decisions });
  const buttons = {
    newest: button("Newest", () => go({ ...at, before: null })),
    newer: button("Newer", () => go({ ...at, before: page.newer })),
    older: button("Older", () => go({ ...at, before: page.older })),
  };

  const draw = (fresh) => {
    page = fresh;
    table.update(page.lines, NONE[at.show]);
    title.textContent = TITLES[at.show === UNFAIR ? UNFAIR : page.is_first ? "newest" : "older"];
    choice.value = at.show;
    words.textContent = inWords(page, at.show);
    able(buttons.newest, !page.is_first);
    able(buttons.newer, !page.is_first);
    able(buttons.older, page.older !== null);
  };
  /** Shows a page; of several asked for, the last. */
  const read = async (where) => {
    turn += 1;
    const mine = turn;
    const fresh = isLive(where) ? newest() : await call("GET", deskPath(desk, `/window/decisions?${query(where)}`));
    if (mine !== turn) return false;
    at = where;
    draw(fresh);
    return true;
  };
  const go = async (where) => {
    try {
      if (!await read(where)) return;
      remember(at);
      announce(told, words.textContent);
    } catch (error) {
      choice.value = at.show;
      words.textContent = `These decisions cannot be read: ${error.message}`;
      announce(told, words.textContent);
    }
  };
  /** The page that is shown, with what became of its decisions; now and then at most. */
  const refresh = () => {
    timer ??= setTimeout(() => { timer = null; if (!isLive()) read(at).catch(() => { known = ""; }); }, page === null ? 0 : PAUSE);
  };

  choice.addEventListener("change", () => go({ show: choice.value, before: null }));
  show(place, all && el("p", { class: "row latest-show" }, el("label", { for: "latest-show" }, "Show"), choice), rows,
    el("nav", { class: "row", "aria-label": "Pages of decisions" }, words, told, el("span", { class: "row" }, Object.values(buttons))));
  return {
    update(part) {
      news = part;
      const now = JSON.stringify([{ ...part.kinds, decision: 0 }, part.rounds.flagged.total]);
      if (isLive()) draw(newest());
      else if (now !== known) refresh();
      known = now;
    },
    async showUnfair() {
      await go({ show: UNFAIR, before: null });
      title.setAttribute("tabindex", "-1");
      title.focus();
    },
  };
}

/** Where the list of those called unfair is. */
export const UNFAIR_PATH = `?decisions=${UNFAIR}#latest-title`;

function inWords({ lines, of }, which) {
  if (!lines.length) return "";
  const names = lines.length === 1 ? numbered(lines[0].number) : `${numbered(lines[0].number)} to ${numbered(lines.at(-1).number)}`;
  return `${names}, of ${which === UNFAIR ? `${of.toLocaleString("en")} called unfair` : count(of, "decision")}`;
}

/** A button that is there even if it leads nowhere now: whoever stands on it stays there. */
const button = (words, press) => el("button", { class: "button small", type: "button", onclick: ({ currentTarget }) => { if (currentTarget.getAttribute("aria-disabled") !== "true") press(); } }, words);

const able = (element, is) => element.setAttribute("aria-disabled", String(!is));

const query = ({ show: which, before }) => new URLSearchParams({ show: which, ...(before !== null && { before }) });

/** The page's address says where one is, so that one comes back there from a decision. */
function remember({ show: which, before }) {
  const told = new URLSearchParams({ ...(which !== "all" && { decisions: which }), ...(before !== null && { before }) });
  history.replaceState(null, "", `${location.pathname}${told.size ? `?${told}` : ""}`);
}

function wanted(all) {
  const asked = new URLSearchParams(location.search);
  const before = /^\d{1,15}$/.test(asked.get("before") ?? "") ? Number(asked.get("before")) : null;
  return { show: all && asked.get("decisions") === UNFAIR ? UNFAIR : "all", before };
}
