// The list of decisions: the newest, kept up to date; older ones, page by page; or only those called unfair.
//
// Updates never leave the current page.

import { call, deskPath } from "../api.js";
import { $, announce, el, show } from "../dom.js";
import { count } from "../format.js";
import { decisionTable } from "./decision-table.js";
import { numbered } from "./words.js";

const PAUSE = 2000; // milliseconds between updates of a page other than the newest
const UNFAIR = "unfair";
const TITLES = { newest: "Latest decisions", older: "Older decisions", unfair: "Decisions called unfair" };
const NONE = { all: "No decisions yet.", unfair: "No decision was called unfair." };

/** all: whether the visitor may see reviews. `update` takes the desk's part of the dashboard; `showUnfair` lists the
 * decisions called unfair and moves there. */
export function decisionList(place, desk, all) {
  const rows = el("div", { class: "stack" });
  const [words, status] = [el("span", { class: "small muted number", id: "latest-where" }), el("span", { class: "visually-hidden", role: "status" })];
  const title = $("#latest-title");
  const choice = el("select", { class: "input", id: "latest-show" }, el("option", { value: "all" }, "all decisions"), el("option", { value: UNFAIR }, "called unfair"));
  const table = decisionTable(rows, desk, all);
  let at = fromAddress(all);
  let page = null; // on the screen
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
  /** Shows a page; of several requested, the last. */
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
      announce(status, words.textContent);
    } catch (error) {
      choice.value = at.show;
      words.textContent = `Could not load these decisions: ${error.message}`;
      announce(status, words.textContent);
    }
  };
  /** Updates the current page, at most every PAUSE. */
  const refresh = () => {
    timer ??= setTimeout(() => { timer = null; if (!isLive()) read(at).catch(() => { known = ""; }); }, page === null ? 0 : PAUSE);
  };

  choice.addEventListener("change", () => go({ show: choice.value, before: null }));
  show(place, rows, el("nav", { class: "row", "aria-label": "Pages of decisions" }, words, status,
    all && el("span", { class: "row latest-show" }, el("label", { for: "latest-show" }, "Show"), choice), el("span", { class: "row" }, Object.values(buttons))));
  return {
    update(part) {
      news = part;
      const now = JSON.stringify([{ ...part.kinds, decision: 0 }, part.rounds.flagged?.total]);
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

/** The address of the decisions called unfair. */
export const UNFAIR_PATH = `?decisions=${UNFAIR}#latest-title`;

function inWords({ lines, of }, which) {
  if (!lines.length) return "";
  const names = lines.length === 1 ? numbered(lines[0].number) : `${numbered(lines[0].number)} to ${numbered(lines.at(-1).number)}`;
  return `${names}, of ${which === UNFAIR ? `${of.toLocaleString("en")} called unfair` : count(of, "decision")}`;
}

/** A button that is disabled without losing the focus. */
const button = (label, press) => el("button", { class: "button small", type: "button", onclick: ({ currentTarget }) => { if (currentTarget.getAttribute("aria-disabled") !== "true") press(); } }, label);

const able = (element, is) => element.setAttribute("aria-disabled", String(!is));

const query = ({ show: which, before }) => new URLSearchParams({ show: which, ...(before !== null && { before }) });

/** Keeps the place in the address, to return to it from a decision. */
function remember({ show: which, before }) {
  const place = new URLSearchParams({ ...(which !== "all" && { decisions: which }), ...(before !== null && { before }) });
  history.replaceState(null, "", `${location.pathname}${place.size ? `?${place}` : ""}`);
}

function fromAddress(all) {
  const address = new URLSearchParams(location.search);
  const before = /^\d{1,15}$/.test(address.get("before") ?? "") ? Number(address.get("before")) : null;
  return { show: all && address.get("decisions") === UNFAIR ? UNFAIR : "all", before };
}
