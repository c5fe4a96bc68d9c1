// Signing in: a token typed here, or handed over after the # of a link, which no server ever sees.

import { call, Refused, signIn } from "./api.js";
import { $ } from "./dom.js";
import { masthead } from "./masthead.js";

masthead();

/** Where to go then: only ever a path of this service. */
function destination() {
  const next = new URLSearchParams(location.search).get("next") ?? "/desks";
  try {
    const url = new URL(next, location.origin);
    return url.origin === location.origin && next.startsWith("/") && !next.startsWith("//") ? url.pathname : "/desks";
  } catch {
    return "/desks";
  }
}

async function enter(token) {
  const error = $("#token-error");
  error.textContent = "";
  if (!token) {
    error.textContent = "Enter your token.";
    $("#token").focus();
    return;
  }
  try {
    await signIn(token);
    location.replace(destination());
  } catch (refused) {
    error.textContent = refused instanceof Refused && refused.status === 401
      ? "This token is not known, or was revoked."
      : refused.message;
    $("#token").setAttribute("aria-invalid", "true");
    $("#token").focus();
  }
}

$("#sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  enter($("#token").value.trim());
});

const handed = new URLSearchParams(location.hash.slice(1)).get("token");
if (handed) {
  history.replaceState(null, "", location.pathname + location.search);
  enter(handed);
} else {
  $("#token").focus();
  // Whoever is let in without a cookie needs none: the service asks for no tokens.
  call("GET", "/session").then((found) => { if (!found.session) location.replace(destination()); }, () => {});
}
