// The review page: a pair, an answer, the next pair. What it knows is in the service; what is on its way, in the outbox.

import { call, deskOfPage, deskPath } from "./api.js";
import { Asking } from "./asking.js";
import { $ } from "./dom.js";
import { goneOn, isDone, showEnding, showNews } from "./ending.js";
import { Lookout } from "./lookout.js";
import { progressBar } from "./progress.js";
import { reviewHelp } from "./review-help.js";
import { Stock } from "./stock.js";

const desk = deskOfPage();
const progress = progressBar($("#progress"));
const stock = new Stock(desk);
const lookout = new Lookout(desk, news);
const LOOK = 15000; // milliseconds: so often it is looked whether the pair should be asked for anew
let kept = 0; // when the service was last asked to keep the pair for who looks at it

const asking = new Asking({
  desk, here: "review", title: "Review", help: reviewHelp(), path: "/review/answers", noun: "pair", next, accept,
  answering: () => stock.wait(),
  nothing: "you have given no answer today that stands.",
  ahead: (fits) => stock.take(fits),
  tally: (unsent, told) => progress.count(unsent, told?.progress),
});

async function next() {
  asking.work(true);
  accept(await asking.outbox.persist(() => call("GET", deskPath(desk, "/review/next"))));
}

/** Shows an item, or the end: of the session when the goal is reached, or of what waits. */
function accept(told) {
  progress.set(told.progress, told.item === null);
  const over = told.item === null;
  kept = Date.now();
  lookout.end();
  if (!over && !isDone(asking.name, told.progress)) {
    asking.reveal(told, "Next pair.");
    asking.knows(told.last);
    stock.refresh();
    return;
  }
  asking.current = null;
  showEnding($("#ending"), desk, told, { goOn: () => { goneOn(asking.name, told.progress); next(); }, lookAgain: next });
  if (over) lookout.begin();
  asking.rest(true);
  asking.knows(told.last);
  asking.announce($("#ending-title").textContent);
}

/** New pairs have come since nothing waited. */
function news({ waiting }) {
  progress.wants(waiting);
  showNews($("#ending"), next);
  asking.rest(true);
  asking.announce($("#ending-title").textContent);
}

/** While somebody looks, the pair is kept for them; after a long absence it may be before somebody else. */
async function renew() {
  const pair = asking.current;
  const isOurs = () => asking.current === pair && !asking.busy && !asking.resting && !asking.outbox.isAway;
  // Pairs at hand are kept for nobody: only what the service put here has its progress with it.
  if (!pair?.progress || !isOurs() || document.hidden || Date.now() - kept < pair.progress.lease * 333) return;
  kept = Date.now();
  const told = await call("GET", deskPath(desk, "/review/next")).catch(() => null); // else the record says that it was late
  if (told === null || told.draft === pair.draft || !isOurs()) return;
  asking.heard = "The pair that was here was answered meanwhile, or is before somebody else.";
  asking.last.say(asking.heard);
  accept(told);
}

setInterval(renew, LOOK);
document.addEventListener("visibilitychange", renew);
asking.begin().catch((error) => asking.fail(error, ["#progress"]));
