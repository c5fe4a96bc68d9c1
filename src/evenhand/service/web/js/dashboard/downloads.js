// Downloads, and the ledger's last hash.

import { deskPath } from "../api.js";
import { el, show } from "../dom.js";
import { count } from "../format.js";
import { term } from "../glossary.js";

export function downloads(place, desk, person) {
  const has = (...roles) => roles.some((role) => person.roles.includes(role));
  if (!has("decide", "admin")) { // reviewers may download nothing
    place.closest("section").remove();
    return { update() {} };
  }
  const link = (path, name, words, file = true) => el("li", {}, el("a", { class: "button small", href: deskPath(desk, path), download: file, title: words }, name));
  const hash = el("code", { class: "hash" });
  const events = el("b", { class: "number" });
  show(place, el("div", { class: "row" },
    el("ul", { class: "downloads" },
      has("admin") && link("/ledger.jsonl", "Ledger (JSONL)", "all events with their hashes, to verify that nothing was changed"),
      link("/decisions.csv", "Decisions (CSV)", "one row per candidate, with chances, outcomes and reviews"),
      link("/metric", "Metric (JSON)", "the learned matrix with its uncertainty", `${desk}-metric.json`)),
    el("p", { class: "small row" }, el("span", {}, term("ledger"), ": ", events), el("span", {}, term("hash", "last hash"), ": ", hash))));
  return { update({ lines: n, hash: last }) { events.textContent = count(n, "event"); hash.textContent = last; } };
}
