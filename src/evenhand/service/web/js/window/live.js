// The live line to a desk: server-sent events, a light that says how it stands, and a button to pause it.

import { call, deskPath, goToSignIn, Refused } from "../api.js";
import { announce, el, show } from "../dom.js";

const AGAIN = 3000;

/** take({desk, metric, reviewers}) is called with what is new. */
export function follow(desk, place, take) {
  const light = el("span", { class: "light", id: "live-state" });
  const told = el("span", { class: "visually-hidden", role: "status" });
  const button = el("button", { class: "button small", type: "button", id: "hold" }, "Pause updates");
  show(place, light, told, button);
  const line = { source: null, held: false, timer: null, state: "" };

  const tell = (state, words, aloud) => {
    if (line.state === state) return;
    const before = line.state;
    line.state = state;
    light.dataset.state = state;
    light.textContent = words;
    if (aloud && before) announce(told, words);
  };

  const connect = () => {
    line.source?.close();
    const source = new EventSource(deskPath(desk, "/stream"));
    line.source = source;
    source.addEventListener("open", () => tell("live", "Live", true));
    for (const part of ["desk", "metric", "reviewers"]) {
      source.addEventListener(part, (event) => { tell("live", "Live", true); take({ [part]: JSON.parse(event.data) }); });
    }
    source.addEventListener("error", () => {
      if (line.held) return;
      tell("away", "The line is broken; trying again", true);
      // The browser tries again by itself unless it was refused.
      if (source.readyState === EventSource.CLOSED) line.timer = setTimeout(retry, AGAIN);
    });
  };

  const retry = async () => {
    try {
      take(await call("GET", deskPath(desk, "/window")));
    } catch (error) {
      if (error instanceof Refused && error.status === 401) return goToSignIn();
      if (error instanceof Refused && error.status < 500) return tell("refused", "You may not look at this desk any more", true);
      line.timer = setTimeout(retry, AGAIN);
      return;
    }
    connect();
  };

  button.addEventListener("click", () => {
    line.held = !line.held;
    button.textContent = line.held ? "Resume" : "Pause updates";
    clearTimeout(line.timer);
    if (line.held) { line.source?.close(); tell("held", "Paused", false); } else connect();
  });
  window.addEventListener("pagehide", () => line.source?.close());
  window.addEventListener("pageshow", (event) => { if (event.persisted && !line.held) connect(); });
  tell("away", "Connecting", false);
  connect();
}
