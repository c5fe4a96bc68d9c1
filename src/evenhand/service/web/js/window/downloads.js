// What can be taken away, and the ledger's seal.

import { deskPath } from "../api.js";
import { el, show } from "../dom.js";
import { count } from "../format.js";

export function downloads(place, desk, person) {
  const has = (...roles) => roles.some((role) => person.roles.includes(role));
  if (!has("decide", "admin")) { // nothing of it is for whoever only reviews
    place.closest("section").remove();
    return { update() {} };
  }
  const link = (path, name, words, file = true) => el("li", {}, el("a", { class: "button small", href: deskPath(desk, path), download: file }, name), el("span", { class: "small muted" }, words));
  const seal = el("code", { class: "seal" });
  const lines = el("b", { class: "number" });
  show(place, el("div", { class: "card stack" },
    el("ul", { class: "takeaways" },
      has("admin") && link("/ledger.jsonl", "Ledger (JSONL)", "every event with its hashes; whoever has it can check that nothing was changed"),
      link("/decisions.csv", "Decisions (CSV)", "one row for each candidate, with odds, outcome and what was said"),
      link("/metric", "Metric (JSON)", "the learned matrix with its uncertainty", `${desk}-metric.json`)),
    el("p", { class: "small muted" }, "The certificate of a decision is on its page."),
    el("p", { class: "small" }, "The ledger has ", lines, ". Note its last hash somewhere else, and nobody can cut off its end unnoticed: ", seal)));
  return { update({ lines: n, hash }) { lines.textContent = count(n, "line"); seal.textContent = hash; } };
}
