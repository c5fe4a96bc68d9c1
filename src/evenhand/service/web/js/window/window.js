// The desk window: everything about one desk, kept up to date by a stream.

import { call, deskOfPage, deskPath, Refused, session } from "../api.js";
import { $, el } from "../dom.js";
import { refusal } from "../banners.js";
import { masthead } from "../masthead.js";
import { downloads } from "./downloads.js";
import { figures } from "./figures.js";
import { latestTable } from "./latest.js";
import { follow } from "./live.js";
import { metricView } from "./metric.js";
import { reviewersView } from "./reviewers.js";
import { roundCharts } from "./rounds.js";

const desk = deskOfPage();

async function begin() {
  masthead({ desk, here: "desk" });
  document.title = `${desk} · evenhand`;
  $("#title").textContent = desk;
  const person = await session();
  masthead({ person, desk, here: "desk" });
  const all = ["decide", "admin"].some((role) => person.roles.includes(role));
  if (!all) judging();
  const told = await call("GET", deskPath(desk, "/window"));
  const views = {
    desk: [figures($("#figures")), latestTable($("#latest"), desk, all), downloads($("#downloads"), desk, person), roundCharts($("#charts"))],
    metric: all ? [metricView($("#metric"), $("#metric-from"))] : [],
    reviewers: all ? [reviewersView($("#reviewers"))] : [],
  };
  const [top, latest, seal, charts] = views.desk;
  const take = (parts) => {
    if (parts.desk) {
      top.update(parts.desk);
      latest.update(parts.desk.latest);
      seal.update(parts.desk);
      charts.update(parts.desk.rounds);
    }
    if (parts.metric) views.metric[0].update(parts.metric);
    if (parts.reviewers) views.reviewers[0].update(parts.reviewers);
  };
  take(told);
  if (["review", "admin"].some((role) => person.roles.includes(role))) {
    const empty = told.desk.decisions === 0; // nothing to review yet: an interview is the way to begin
    $("#to-review").href = `/${empty ? "interview" : "review"}/${encodeURIComponent(desk)}`;
    if (empty) $("#to-review").textContent = "Interview";
    $("#to-review").hidden = false;
  }
  follow(desk, $("#live"), take);
}

/** Whoever only reviews is not shown what was learned, nor what others said: their judgement should be their own. */
function judging() {
  for (const part of ["#metric", "#reviewers"]) $(part).closest("section").remove();
  $("#charts").after(el("p", { class: "small muted" }, "What the desk has learned, the odds of others and what other reviewers said is not shown to you: your judgement should be your own."));
}

begin().catch((error) => {
  refusal($("#banners"), error, desk);
  if (error instanceof Refused) for (const section of document.querySelectorAll("main > section, #figures")) section.hidden = true;
  else setTimeout(() => location.reload(), 5000);
});
