// The review page: a pair, an answer, the next pair. What it knows is in the service; what is on its way, in the outbox.

import { call, deskOfPage, deskPath } from "./api.js";
import { Asking } from "./asking.js";
import { $ } from "./dom.js";
import { goneOn, isDone, showEnding } from "./ending.js";
import { progressBar } from "./progress.js";
import { reviewHelp } from "./review-help.js";
import { Stock } from "./stock.js";

const desk = deskOfPage();
const progress = progressBar($("#progress"));
const stock = new Stock(desk);

const asking = new Asking({
  desk, here: "review", help: reviewHelp(), path: "/review/answers", noun: "pair", next, accept,
  ahead() {
    progress.another();
    return stock.take();
  },
});

async function next() {
  asking.work(true);
  accept(await asking.outbox.persist(() => call("GET", deskPath(desk, "/review/next"))));
}

/** Shows an item, or the end: of the session when the goal is reached, or of what waits. */
function accept(told) {
  progress.set(told.progress, told.item === null);
  const over = told.item === null;
  if (!over && !isDone(asking.name, told.progress)) {
    asking.reveal(told, "Next pair.");
    stock.refresh();
    return;
  }
  asking.current = null;
  showEnding($("#ending"), desk, told, () => { goneOn(asking.name, told.progress); accept(told); });
  asking.rest(true);
  asking.announce($("#ending-title").textContent);
}

asking.begin().catch((error) => asking.fail(error, "Review", ["#progress"]));
