// The desks that the visitor's token is for, and where one can go from there.

import { call, session } from "./api.js";
import { refusal } from "./banners.js";
import { $, el, show } from "./dom.js";
import { masthead } from "./masthead.js";

async function begin() {
  masthead();
  const person = await session();
  masthead({ person });
  const { desks } = await call("GET", "/api/desks?limit=1000");
  show($("#desks"), desks.length ? desks.map((name) => card(name, person)) : el("p", {}, "There is no desk for your token yet."));
}

function card(name, person) {
  const may = (...roles) => roles.some((role) => person.roles.includes(role));
  const to = (path, text, kind = "") => el("a", { class: `button ${kind}`, href: path + encodeURIComponent(name) }, text);
  return el("section", { class: "card stack" }, el("h2", {}, name),
    el("div", { class: "row" },
      may("review", "admin") && to("/review/", "Review pairs", "primary"),
      may("review", "admin") && to("/interview/", "Interview"),
      to("/desks/", "Look at the desk")));
}

begin().catch((error) => refusal($("#banners"), error));
