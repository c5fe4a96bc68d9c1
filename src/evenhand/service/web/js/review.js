// The review page: a pair, an answer, the next pair.

import { call, deskOfPage, deskPath } from "./api.js";
import { $ } from "./dom.js";
import { continueFrom, isDone, showEnding, showNewPairs } from "./ending.js";
import { reviewHelp } from "./help.js";
import { progressMeter } from "./meters.js";
import { PairPage } from "./pair-page.js";
import { NewPairs, Reserve } from "./reserve.js";

const desk = deskOfPage();
const progress = progressMeter($("#progress"));
const reserve = new Reserve(desk);
const newPairs = new NewPairs(desk, found);
const CHECK = 15000; // milliseconds between checks whether the lease must be renewed
let leasedAt = 0;

const page = new PairPage({
  desk, here: "review", title: "Review", help: reviewHelp, path: "/review/answers", noun: "pair", next, accept,
  answering: () => reserve.hold(),
  nothing: "you have not answered today.",
  ahead: (fits) => reserve.take(fits),
  countUnsent: (unsent, response) => progress.addUnsent(unsent, response?.progress),
});

const fetchNext = () => call("GET", deskPath(desk, "/review/next"));

async function next() {
  page.work(true);
  accept(await page.outbox.persist(fetchNext));
}

/** Shows a pair, or the end: of the session, or of all waiting pairs. */
function accept(response) {
  const over = response.item === null;
  progress.set(response.progress, over);
  leasedAt = Date.now();
  newPairs.stop();
  if (!over && !isDone(page.name, response.progress)) {
    page.reveal(response, "Next pair.");
    page.restoreLast(response.last);
    reserve.refresh();
    return;
  }
  page.current = null;
  showEnding($("#ending"), desk, response, { resume: () => { continueFrom(page.name, response.progress); next(); }, lookAgain: next });
  if (over) newPairs.start();
  page.rest(true);
  page.restoreLast(response.last);
  page.announce($("#ending-title").textContent);
}

function found({ waiting }) {
  progress.setWaiting(waiting);
  showNewPairs($("#ending"), next);
  page.rest(true);
  page.announce($("#ending-title").textContent);
}

/** Renews the lease while the page is visible; after a long absence the pair may be leased to somebody else. */
async function renew() {
  const pair = page.current;
  const isShown = () => page.current === pair && !page.busy && !page.resting && !page.outbox.isAway;
  // Pairs from the reserve are not leased; only those of the service have a progress.
  if (!pair?.progress || !isShown() || document.hidden || Date.now() - leasedAt < pair.progress.lease * 333) return;
  leasedAt = Date.now();
  const response = await fetchNext().catch(() => null); // without it the record says that the answer was late
  if (response === null || response.draft === pair.draft || !isShown()) return;
  page.pending = "The previous pair was answered by somebody else or is being reviewed.";
  page.last.say(page.pending);
  accept(response);
}

setInterval(renew, CHECK);
document.addEventListener("visibilitychange", renew);
page.begin().catch((error) => page.fail(error, ["#progress"]));
