// Chance and reward by group, with intervals: of any attribute, also of one that the desk never learns from.

import { call, deskPath } from "../api.js";
import { announce, el, show } from "../dom.js";
import { chance, count, named } from "../format.js";
import { meaningOf, term } from "../glossary.js";
import { tableFrame } from "../tables.js";
import { number, own } from "./words.js";

export function groupView(place, desk) {
  const choice = el("select", { class: "input", id: "group-by", onchange: () => load(choice.value) });
  const about = el("span", { class: "small muted", id: "groups-about" });
  const status = el("span", { class: "visually-hidden", role: "status" });
  const body = el("div");
  let turn = 0;
  const load = async (attribute = null) => {
    turn += 1;
    const mine = turn;
    const query = attribute === null ? "" : `?${new URLSearchParams({ by: attribute })}`;
    const groups = await call("GET", deskPath(desk, `/window/groups${query}`)).catch((error) => error);
    if (mine !== turn) return;
    if (groups instanceof Error) { about.textContent = `Could not load the groups: ${groups.message}`; return; }
    if (!choice.options.length) show(choice, groups.attributes.map((name) => el("option", { value: name }, named(name))));
    choice.value = groups.attribute;
    about.textContent = groups.candidates ? `${count(groups.candidates, "candidate")} of the newest ${count(groups.decisions, "decision")}${groups.seen ? "" : "; the desk never learns from this"}` : "no candidates yet";
    show(body, groups.candidates ? table(groups.groups) : null);
    if (attribute !== null) announce(status, about.textContent);
  };
  show(place, el("div", { class: "card groups" },
    el("div", { class: "row" }, el("label", { for: choice.id }, "Group by"), meaningOf("group"), choice, about), status, body));
  return { update: () => load() };
}

function table(groups) {
  const chances = scaleOf(groups.map((one) => one.chance), 0);
  const rewards = scaleOf(groups.map((one) => one.reward), null);
  return tableFrame("Table of groups", el("table", { class: "table" },
    el("caption", { class: "visually-hidden" }, "Chance and reward by group, with 95% confidence intervals"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Group"), el("th", { scope: "col", class: "right" }, "Candidates"),
      el("th", { scope: "col" }, term("chance", "Mean chance")), el("th", { scope: "col" }, term("reward", "Mean reward")))),
    el("tbody", {}, groups.map((one) => el("tr", {}, el("th", { scope: "row", class: "who" }, own(one.name)), el("td", { class: "right number" }, one.candidates.toLocaleString("en")),
      el("td", { class: "chart" }, cell(one.chance, chances, (share) => chance(share, 1), "")),
      el("td", { class: "chart" }, cell(one.reward, rewards, (value) => number(value), "reward")))))));
}

/** A function to a share of the track: all intervals fit, and zero is on it. */
function scaleOf(means, least) {
  const ends = means.flatMap(({ value, lower, upper }) => [value, lower, upper]).filter((end) => end !== null);
  const [low, high] = [Math.min(0, ...ends), Math.max(least ?? 0, ...ends, 1e-9)];
  return (value) => Math.min(1, Math.max(0, (value - low) / (high - low)));
}

function cell({ value, lower, upper }, scale, words, kind) {
  if (value === null) return "–";
  const track = el("div", { class: `interval ${kind}`.trim(), "aria-hidden": "true" }, el("i"), lower !== null && el("i"));
  const [zero, at] = [scale(0), scale(value)];
  const numbers = { from: Math.min(zero, at), to: Math.max(zero, at), lower: scale(lower ?? value), upper: scale(upper ?? value) };
  for (const [name, share] of Object.entries(numbers)) track.style.setProperty(`--${name}`, String(share));
  return [el("b", { class: "number" }, words(value)), lower !== null && el("span", { class: "small muted number" }, ` ${words(lower)} to ${words(upper)}`), track];
}
