// Signing in: a token typed here, or handed over after the # of a link, which no server ever sees.

import { call, Refused, signIn, Unreachable } from "./api.js";
import { $, el, show } from "./dom.js";
import { count } from "./format.js";
import { masthead } from "./masthead.js";
import { keptAnswers } from "./outbox.js";

const LONGEST = 400; // characters the service reads of a token
const WHY = {
  out: "You are signed out.",
  ended: "Your session had ended; sign in to go on.",
  other: "Somebody else has signed in in this browser since; sign in as yourself to go on.",
};
const asked = new URLSearchParams(location.search);

masthead();

/** Where to go then: only ever a path of this service. */
function destination() {
  const next = asked.get("next") ?? "/desks";
  try {
    const url = new URL(next, location.origin);
    return url.origin === location.origin && next.startsWith("/") && !next.startsWith("//") ? url.pathname : "/desks";
  } catch {
    return "/desks";
  }
}

/** Why one is here, and that nothing is lost. */
function explain() {
  const [why, kept] = [WHY[asked.get("why")], keptAnswers()];
  const waits = kept ? `${count(kept, "answer is", "answers are")} kept on this computer${why && why !== WHY.out ? "" : ", and sent after signing in"}.` : "";
  if (why || waits) show($("#banners"), el("p", { class: "banner plain", id: "why" }, [why, waits].filter(Boolean).join(" ")));
}

async function enter(token) {
  complain("");
  if (!token) return complain("Enter your token.");
  if (token.length > LONGEST) return complain("That is too long to be a token.");
  try {
    await signIn(token);
    location.replace(destination());
  } catch (refused) {
    complain(sentence(refused));
  }
}

/** What went wrong, in words that repeat nothing of what was typed: the field hides it, and so must the page. */
function sentence(error) {
  if (error instanceof Unreachable) return error.message;
  if (error instanceof Refused && error.status === 401) return "This token is not known, or was revoked. Check that you copied all of it.";
  return "That cannot be a token. It begins with eh_ and has no spaces in it.";
}

function complain(words) {
  $("#token-error").textContent = words;
  if (!words) return $("#token").removeAttribute("aria-invalid");
  $("#token").setAttribute("aria-invalid", "true");
  $("#token").focus();
}

/** Whoever is let in without a cookie needs none: the service asks for no tokens. Who has signed in need not again. */
function leadOn({ session, name }) {
  if (!session) return location.replace(destination());
  if (asked.get("why") === "out") show($("#banners")); // not any more: somebody has signed in since, elsewhere
  else if (asked.has("why")) return;
  $("#banners").prepend(el("div", { class: "banner plain", id: "signed-in" },
    el("p", {}, "You are signed in already, as ", el("b", {}, name), "."), el("a", { class: "button small primary", href: destination() }, "Go on")));
}

$("#sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  enter($("#token").value.trim());
});

explain();
const handed = new URLSearchParams(location.hash.slice(1)).get("token");
if (handed) {
  history.replaceState(null, "", location.pathname + location.search);
  enter(handed);
} else {
  $("#token").focus();
  call("GET", "/session").then(leadOn, () => {});
}
