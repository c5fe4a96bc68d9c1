// The header of every page: desk, navigation, person, theme, sign-out.

import { signOut } from "./api.js";
import { showError } from "./banners.js";
import { $, el, show, svg } from "./dom.js";
import { themeSwitch } from "./theme.js";

const PLACES = [
  { id: "review", name: "Review", path: "/review/", roles: ["review", "admin"] },
  { id: "interview", name: "Interview", path: "/interview/", roles: ["review", "admin"] },
  { id: "desk", name: "Desk", path: "/desks/", roles: ["decide", "review", "admin"] },
];

/** person: the response of /session, or null; desk: its name, or null; here: the id of the current place. */
export function masthead({ person = null, desk = null, here = null } = {}) {
  const inner = $("#masthead .masthead-inner");
  const more = el("div", { class: "masthead-more", id: "masthead-more" }, desk && places(person, desk, here), tools(person));
  show(inner, wordmark(), desk && el("span", { class: "desk-name", title: desk }, desk), menu(more), more);
}

/** On small screens the rest of the header is in a menu. */
function menu(more) {
  return el("button", {
    class: "button quiet small masthead-menu", type: "button", id: "menu", "aria-expanded": "false", "aria-controls": more.id,
    onclick: ({ currentTarget }) => currentTarget.setAttribute("aria-expanded", String(more.classList.toggle("open"))),
  }, "Menu");
}

function wordmark() {
  const scales = svg(
    "svg",
    { viewBox: "0 0 32 32", "aria-hidden": "true" },
    svg("path", {
      d: "M16 5v22M6 11h20M6 11l-4 8h8zM26 11l-4 8h8zM10 27h12",
      fill: "none", stroke: "currentColor", "stroke-width": 2.4, "stroke-linecap": "round", "stroke-linejoin": "round",
    }),
  );
  return el("a", { class: "wordmark", href: "/desks" }, scales, "evenhand");
}

function places(person, desk, here) {
  const allowed = PLACES.filter((place) => person === null || place.roles.some((role) => person.roles.includes(role)));
  const links = allowed.map((place) =>
    el("a", { href: place.path + encodeURIComponent(desk), "aria-current": place.id === here ? "page" : null }, place.name));
  return el("nav", { class: "nav", "aria-label": "This desk" }, links);
}

function tools(person) {
  const out = person?.session && el("button", { class: "button quiet small", type: "button", id: "sign-out", onclick: () => signOut().catch((error) => showError($("#banners"), error)) }, "Sign out");
  const name = person && el("span", { class: "small muted" }, el("span", { class: "words" }, "Signed in as "), el("b", {}, person.name));
  return el("div", { class: "masthead-tools" }, name, themeSwitch(), out);
}
