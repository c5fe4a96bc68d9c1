// Messages at the top of a page: the service is unreachable, or it refused something.

import { call } from "./api.js";
import { $, el, show } from "./dom.js";
import { count } from "./format.js";

/** A function for Outbox: shows a banner while the service is unreachable, and says when it is back. */
export function offlineBanner(place, tryNow) {
  let away = false;
  let saved = false; // whether any answer had to wait
  return ({ waiting, reachable, sentence }) => {
    if (reachable && !away) return;
    if (reachable) {
      const focused = place.contains(document.activeElement);
      show(place, el("div", { class: "banner good", id: "back" }, el("p", {}, `The service is back.${saved ? " All your answers have been sent." : ""}`)));
      if (focused) $("h1").focus();
      away = saved = false;
      setTimeout(() => { if (place.querySelector("#back")) show(place); }, 6000);
      return;
    }
    away = true;
    saved ||= waiting > 0;
    const waits = waiting ? ` ${count(waiting, "answer is", "answers are")} saved in this browser and will be sent when it is back.` : "";
    const text = `${sentence} Retrying automatically.${waits} You may close this page.`;
    const shown = place.querySelector("#away p");
    if (shown) shown.textContent = text;
    else show(place, el("div", { class: "banner", id: "away" }, el("p", {}, text), el("button", { class: "button small", type: "button", onclick: tryNow }, "Try now")));
  };
}

/** An error is shown until a later request succeeds. */
export function clearError(place) {
  place.querySelector("#refusal")?.remove();
}

/** Shows what the service refused; for a desk that is not there or not covered by the token, links to those that are. */
export function showError(place, error, desk = null) {
  const title = error.status === 403 ? "Not allowed. " : error.status === 404 ? "Not found. " : "Something went wrong. ";
  const shut = desk !== null && error.status === 403 && error.message.includes("not for this desk");
  const words = shut ? [el("b", {}, `Your token is not for the desk “${desk}”.`)] : [el("b", {}, title), sentence(error.message)];
  const banner = el("div", { class: "banner", role: "alert", id: "refusal" }, el("p", {}, words));
  show(place, banner);
  if (shut || (desk !== null && error.status === 404)) ownDesks().then((desks) => banner.append(desks));
}

async function ownDesks() {
  const { desks } = await call("GET", "/session").catch(() => ({ desks: null }));
  const links = desks?.length ? desks.map((name) => [`/desks/${encodeURIComponent(name)}`, `Go to the desk “${name}”`]) : [["/desks", "Go to your desks"]];
  return el("span", { class: "row", id: "own-desks" }, links.map(([path, words]) => el("a", { class: "button small", href: path }, words)));
}

/** A message of the service as a sentence. */
export function sentence(text) {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}
