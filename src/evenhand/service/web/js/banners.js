// Messages at the top of a page: the service is away, or it refused something.

import { call } from "./api.js";
import { $, el, show } from "./dom.js";
import { count } from "./format.js";

/** A function for Outbox: shows a banner while the service is away, and says when it is back. */
export function offlineBanner(place, tryNow) {
  let away = false;
  let kept = false; // whether any answer had to wait
  return ({ waiting, reachable, sentence }) => {
    if (reachable && !away) return;
    if (reachable) {
      const focused = place.contains(document.activeElement);
      show(place, el("div", { class: "banner good", id: "back" }, el("p", {}, `The service is back.${kept ? " Everything you answered has been sent." : ""}`)));
      if (focused) $("h1").focus();
      away = kept = false;
      setTimeout(() => { if (place.querySelector("#back")) show(place); }, 6000);
      return;
    }
    away = true;
    kept ||= waiting > 0;
    const waits = waiting ? ` ${count(waiting, "answer is", "answers are")} kept in this browser and will be sent as soon as it is back.` : "";
    const text = `${sentence} It is tried again by itself.${waits} You may close this page.`;
    const shown = place.querySelector("#away p");
    if (shown) shown.textContent = text;
    else show(place, el("div", { class: "banner", id: "away" }, el("p", {}, text), el("button", { class: "button small", type: "button", onclick: tryNow }, "Try now")));
  };
}

/** What was refused is told until something succeeds that was tried after it. */
export function forgetRefusal(place) {
  place.querySelector("#refusal")?.remove();
}

/** Says what the service refused; of a desk that one's token is not for, which desks it is for. */
export function refusal(place, error, desk = null) {
  const title = error.status === 403 ? "You are not allowed to do this. "
    : error.status === 404 ? "There is nothing here. " : "That did not work. ";
  const shut = desk !== null && error.status === 403 && error.message.includes("not for this desk");
  const words = shut ? [el("b", {}, `Your token does not open the desk “${desk}”.`)] : [el("b", {}, title), sentence(error.message)];
  const banner = el("div", { class: "banner", role: "alert", id: "refusal" }, el("p", {}, words));
  show(place, banner);
  if (shut) ownDesks().then((desks) => banner.append(desks));
}

/** The way to the desks that one's token is for. */
async function ownDesks() {
  const { desks } = await call("GET", "/session").catch(() => ({ desks: null }));
  const links = desks?.length ? desks.map((name) => [`/desks/${encodeURIComponent(name)}`, `To the desk “${name}”`]) : [["/desks", "To your desks"]];
  return el("span", { class: "row", id: "own-desks" }, links.map(([path, words]) => el("a", { class: "button small", href: path }, words)));
}

/** What the service said, as a sentence. */
export function sentence(text) {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}
