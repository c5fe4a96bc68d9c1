// The interview: made-up odds, the same screen as the review page, and a meter of what is still unknown.

import { call, deskOfPage, deskPath } from "./api.js";
import { Asking } from "./asking.js";
import { $ } from "./dom.js";
import { count } from "./format.js";
import { showInterviewEnding } from "./interview-ending.js";
import { interviewHelp } from "./interview-help.js";
import { interviewMeters } from "./interview-meters.js";
import { uploadForm } from "./people.js";

const desk = deskOfPage();
const meters = interviewMeters($("#meters"), $("#meters-fold"));

const asking = new Asking({
  desk, here: "interview", title: "Interview", help: interviewHelp(), path: "/interview/answers", noun: "question", next, accept, ahead: () => null,
  answering: () => {}, tally: () => {},
  nothing: "you have given no answer about these people that stands.",
});

async function next() {
  asking.work(true);
  accept(await asking.outbox.persist(() => call("GET", deskPath(desk, "/interview/next"))));
}

function accept(told) {
  meters.set(told.meter, told.always_alone);
  $("#people-now").textContent = told.people && !told.always_alone ? `It asks about ${count(told.people, "person", "people")} now.` : "There is nobody to ask about yet.";
  if (told.item !== null) {
    asking.reveal(told, `Next question. Still unknown: ${$("#unknown-value").textContent}.`);
    asking.knows(told.last);
    return;
  }
  asking.current = null;
  showInterviewEnding($("#ending"), desk, told);
  asking.work(false);
  asking.rest(true);
  asking.knows(told.last);
  asking.announce($("#ending-title").textContent);
}

uploadForm(desk, next);
asking.begin().catch((error) => asking.fail(error, ["#meters", "#meters-fold", "#people-fold"]));
