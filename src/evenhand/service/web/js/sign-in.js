// Signing in with a token: typed, or after the # of a link, which no server sees.

import { call, Refused, signIn, Unreachable } from "./api.js";
import { $, el, show } from "./dom.js";
import { count } from "./format.js";
import { masthead } from "./masthead.js";
import { keptAnswers } from "./outbox.js";

const LONGEST = 400; // characters of a token
const WHY = {
  out: "You are signed out.",
  ended: "Your session has ended. Sign in to continue.",
  other: "Somebody else signed in in this browser. Sign in as yourself to continue.",
};
const query = new URLSearchParams(location.search);

masthead();

/** Where to go afterwards: always a path of this service. */
function destination() {
  const next = query.get("next") ?? "/desks";
  try {
    const url = new URL(next, location.origin);
    return url.origin === location.origin && next.startsWith("/") && !next.startsWith("//") ? url.pathname : "/desks";
  } catch {
    return "/desks";
  }
}

/** Says why the page is shown, and that saved answers are not lost. */
function explain() {
  const [why, saved] = [WHY[query.get("why")], keptAnswers()];
  const waits = saved ? `${count(saved, "answer is", "answers are")} saved on this computer and will be sent after you sign in.` : "";
  if (why || waits) show($("#banners"), el("p", { class: "banner plain", id: "why" }, [why, waits].filter(Boolean).join(" ")));
}

/** replace: whether the person agreed to end a session of somebody else. */
async function enter(token, replace) {
  showProblem("");
  if (!token) return showProblem("Enter your token.");
  if (token.length > LONGEST) return showProblem("This is too long to be a token.");
  try {
    await signIn(token, replace);
    location.replace(destination());
  } catch (refused) {
    if (refused instanceof Refused && refused.status === 409) confirmSwap(token, refused.document);
    else showProblem(sentence(refused));
  }
}

/** A link of one person while another is signed in: nobody is to answer in a name that is not theirs unnoticed. */
function confirmSwap(token, { name, other }) {
  const swap = el("button", { class: "button small", type: "button" }, `Sign in as ${other}`);
  swap.addEventListener("click", () => enter(token, true));
  show($("#banners"), el("div", { class: "banner plain", id: "swap" },
    el("p", {}, "You are signed in as ", el("b", {}, name), ". This link is for ", el("b", {}, other), "."),
    el("a", { class: "button small primary", href: destination() }, `Continue as ${name}`), swap));
}

/** What went wrong, without repeating what was typed: the field hides it. */
function sentence(error) {
  if (error instanceof Unreachable) return error.message;
  if (error instanceof Refused && error.status === 401) return "This token is unknown, has expired or was revoked. Check that you copied all of it.";
  return "This is not a token. Tokens start with eh_ and contain no spaces.";
}

function showProblem(words) {
  $("#token-error").textContent = words;
  if (!words) return $("#token").removeAttribute("aria-invalid");
  $("#token").setAttribute("aria-invalid", "true");
  $("#token").focus();
}

/** A service without tokens needs no sign-in, nor does a person who is signed in already. */
function skipIfSignedIn({ session, name }) {
  if (!session) return location.replace(destination());
  if (query.get("why") === "out") show($("#banners")); // signed in again in another tab
  else if (query.has("why")) return;
  $("#banners").prepend(el("div", { class: "banner plain", id: "signed-in" },
    el("p", {}, "You are already signed in as ", el("b", {}, name), "."), el("a", { class: "button small primary", href: destination() }, "Continue")));
}

$("#sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  enter($("#token").value.trim(), true);
});

explain();
const fromLink = new URLSearchParams(location.hash.slice(1)).get("token");
if (fromLink) {
  history.replaceState(null, "", location.pathname + location.search);
  enter(fromLink, false);
} else {
  $("#token").focus();
  call("GET", "/session").then(skipIfSignedIn, () => {});
}
