// The desk window: everything about one desk, kept up to date by a stream.

import { call, deskOfPage, deskPath, Refused, session } from "../api.js";
import { $, el } from "../dom.js";
import { refusal } from "../banners.js";
import { masthead } from "../masthead.js";
import { downloads } from "./downloads.js";
import { figures } from "./figures.js";
import { fetchLibrary } from "./library.js";
import { follow } from "./live.js";
import { metricView } from "./metric.js";
import { decisionsList } from "./older.js";
import { reviewersView } from "./reviewers.js";
import { roundCharts } from "./rounds.js";
import { welcome } from "./welcome.js";

const desk = deskOfPage();

async function begin() {
  masthead({ desk, here: "desk" });
  document.title = `${desk} · evenhand`;
  $("#title").textContent = desk;
  const person = await session();
  masthead({ person, desk, here: "desk" });
  const all = ["decide", "admin"].some((role) => person.roles.includes(role));
  const reviews = ["review", "admin"].some((role) => person.roles.includes(role));
  if (!all) judging();
  fetchLibrary();
  const told = await call("GET", deskPath(desk, "/window"));
  const list = decisionsList($("#latest"), desk, all);
  const views = {
    desk: [figures($("#figures"), all ? list.showUnfair : null), list, downloads($("#downloads"), desk, person), roundCharts($("#charts"), desk)],
    metric: all ? [metricView($("#metric"), $("#metric-from"), `${person.name}:${desk}`)] : [],
    reviewers: all ? [reviewersView($("#reviewers"))] : [],
  };
  const [top, latest, seal, charts] = views.desk;
  const take = (parts) => {
    if (parts.desk) {
      if (reviews) ways(parts.desk.decisions);
      top.update(parts.desk);
      latest.update(parts.desk);
      seal.update(parts.desk);
      charts.update(parts.desk.rounds);
    }
    if (parts.metric) views.metric[0].update(parts.metric);
    if (parts.reviewers) views.reviewers[0].update(parts.reviewers);
  };
  welcome($("#welcome"), !reviews || hasNoPair(told.desk) ? null : told.desk.decisions ? { path: deskPage("review"), words: "review pairs" } : { path: deskPage("interview"), words: "begin with an interview" });
  take(told);
  follow(desk, $("#live"), take);
}

/** A desk whose decisions are about one person each has nothing to review. */
const hasNoPair = ({ latest }) => latest.length > 0 && latest.every(({ candidates }) => candidates < 2);

const deskPage = (place) => `/${place}/${encodeURIComponent(desk)}`;

/** What a reviewer can do here: before the first decision there is no pair to review, but an interview to begin with. */
function ways(decisions) {
  for (const [place, first] of [["interview", decisions === 0], ["review", decisions > 0]]) {
    const link = $(`#to-${place}`);
    link.href = deskPage(place);
    link.hidden = place === "interview" && !first;
    link.classList.toggle("primary", first);
  }
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
