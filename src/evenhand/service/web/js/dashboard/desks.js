// The list of desks.

import { call, session } from "../api.js";
import { $, el, show } from "../dom.js";
import { showError } from "../banners.js";
import { count } from "../format.js";
import { masthead } from "../masthead.js";
import { ago, own } from "./words.js";

async function begin() {
  masthead();
  const person = await session();
  masthead({ person });
  const { desks, more } = await call("GET", "/api/window");
  const place = $("#desks");
  place.setAttribute("aria-busy", "false");
  if (!desks.length) return show(place, el("li", { class: "card" }, "Your token covers no desk of this service."));
  show(place, desks.map((desk) => card(desk, person)), more ? el("li", {}, `and ${more} more`) : null);
}

function card(desk, person) {
  const name = encodeURIComponent(desk.name);
  // Screen readers list links without context: each names its desk.
  const to = (path, text, kind = "") => el("a", { class: `button small ${kind}`, href: path + name }, text, el("span", { class: "visually-hidden" }, ` ${desk.name}`));
  const reviews = ["review", "admin"].some((role) => person.roles.includes(role));
  return el("li", { class: "card stack" },
    el("h2", {}, el("a", { href: `/desks/${name}` }, own(desk.name))),
    el("p", {}, `${count(desk.decisions, "decision")}, ${count(desk.lines, "event")} in its ledger.`),
    el("p", { class: "small muted" }, `Last event ${ago(desk.last)}.`),
    el("p", { class: "row" }, reviews && reviewLinks(to, desk.decisions), to("/desks/", "View")));
}

/** Without decisions there is nothing to review: an interview comes first. */
function reviewLinks(to, decisions) {
  if (decisions === 0) return [to("/interview/", "Interview", "primary"), to("/review/", "Review")];
  return [to("/review/", "Review", "primary"), to("/interview/", "Interview")];
}

begin().catch((error) => showError($("#banners"), error));
