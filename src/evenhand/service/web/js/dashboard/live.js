// Live updates by server-sent events, with a status light and a pause button.

import { call, deskPath, goToSignIn, Refused } from "../api.js";
import { announce, el, show } from "../dom.js";

const RETRY = 3000; // milliseconds

/** take({desk, metric, reviewers}) is called with what changed. */
export function follow(desk, place, take) {
  const light = el("span", { class: "light", id: "live-state" });
  const status = el("span", { class: "visually-hidden", role: "status" });
  const button = el("button", { class: "button small", type: "button", id: "hold" }, "Pause updates");
  show(place, light, status, button);
  const stream = { source: null, held: false, timer: null, state: "" };

  const setState = (state, words, aloud) => {
    if (stream.state === state) return;
    const before = stream.state;
    stream.state = state;
    light.dataset.state = state;
    light.textContent = words;
    if (aloud && before) announce(status, words);
  };

  const connect = () => {
    stream.source?.close();
    const source = new EventSource(deskPath(desk, "/stream"));
    stream.source = source;
    source.addEventListener("open", () => setState("live", "Live", true));
    for (const part of ["desk", "metric", "reviewers"]) {
      source.addEventListener(part, (event) => { setState("live", "Live", true); take({ [part]: JSON.parse(event.data) }); });
    }
    source.addEventListener("error", () => {
      if (stream.held) return;
      setState("away", "Connection lost; retrying", true);
      // The browser retries by itself unless the request was refused.
      if (source.readyState === EventSource.CLOSED) stream.timer = setTimeout(retry, RETRY);
    });
  };

  const retry = async () => {
    try {
      take(await call("GET", deskPath(desk, "/window")));
    } catch (error) {
      if (error instanceof Refused && error.status === 401) return goToSignIn();
      if (error instanceof Refused && error.status < 500) return setState("refused", "You no longer have access to this desk", true);
      stream.timer = setTimeout(retry, RETRY);
      return;
    }
    connect();
  };

  button.addEventListener("click", () => {
    stream.held = !stream.held;
    button.textContent = stream.held ? "Resume" : "Pause updates";
    clearTimeout(stream.timer);
    if (stream.held) { stream.source?.close(); setState("held", "Paused", false); } else connect();
  });
  window.addEventListener("pagehide", () => stream.source?.close());
  window.addEventListener("pageshow", (event) => { if (event.persisted && !stream.held) connect(); });
  setState("away", "Connecting", false);
  connect();
}
