// Messages at the top of a page: the service is away, or it refused something.

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

/** Says what the service refused. */
export function refusal(place, error, desk = null) {
  const title = error.status === 403 ? "You are not allowed to do this. "
    : error.status === 404 ? "There is nothing here. " : "That did not work. ";
  const where = desk !== null && error.status === 403 ? ` The desk is “${desk}”.` : "";
  show(place, el("div", { class: "banner", role: "alert", id: "refusal" }, el("p", {}, el("b", {}, title), sentence(error.message) + where)));
}

function sentence(text) {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}
