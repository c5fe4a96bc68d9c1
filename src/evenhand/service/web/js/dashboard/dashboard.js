// The dashboard of a desk, kept up to date by a stream.

import { call, deskOfPage, deskPath, Refused, session } from "../api.js";
import { $, el } from "../dom.js";
import { showError } from "../banners.js";
import { masthead } from "../masthead.js";
import { decisionList } from "./decision-list.js";
import { downloads } from "./downloads.js";
import { figures } from "./figures.js";
import { groupView } from "./groups.js";
import { follow } from "./live.js";
import { metricView } from "./metric.js";
import { promiseLine } from "./promise.js";
import { reviewersView } from "./reviewers.js";
import { roundCharts } from "./rounds.js";
import { modeChip, shadowView } from "./shadow.js";
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
  if (!all) hideLearned();
  const first = await call("GET", deskPath(desk, "/window"));
  const list = decisionList($("#latest"), desk, all);
  const viewsOf = {
    desk: [figures($("#figures"), all ? list.showUnfair : null), list, promiseLine($("#promise")), downloads($("#downloads"), desk, person), roundCharts($("#charts"), desk, all), modeChip($("#mode")), shadowView($("#shadow").closest("section"), $("#shadow"), desk, all)],
    metric: all ? [metricView($("#metric"), `${person.name}:${desk}`)] : [],
    reviewers: all ? [reviewersView($("#reviewers"))] : [],
  };
  const take = (parts) => {
    if (parts.desk && reviews) showLinks(parts.desk.decisions);
    for (const [part, views] of Object.entries(viewsOf)) if (parts[part]) for (const view of views) view.update(parts[part]);
  };
  welcome($("#welcome"), !reviews || hasNoPair(first.desk) ? null : first.desk.decisions ? { path: deskPage("review"), words: "review pairs" } : { path: deskPage("interview"), words: "start with an interview" });
  take(first);
  if (all) groupView($("#groups"), desk).update();
  follow(desk, $("#live"), take);
}

/** Decisions with a single candidate each have no pairs to review. */
const hasNoPair = ({ latest }) => latest.length > 0 && latest.every(({ candidates }) => candidates < 2);

const deskPage = (place) => `/${place}/${encodeURIComponent(desk)}`;

/** Links for reviewers: to the interview before the first decision, then to the reviews. */
function showLinks(decisions) {
  for (const [place, first] of [["interview", decisions === 0], ["review", decisions > 0]]) {
    const link = $(`#to-${place}`);
    link.href = deskPage(place);
    link.hidden = place === "interview" && !first;
    link.classList.toggle("primary", first);
  }
}

/** Reviewers do not see what was learned or what others answered. */
function hideLearned() {
  for (const part of ["#metric", "#groups", "#reviewers"]) $(part).closest("section").remove();
  $("#rounds-title").textContent = "Rewards over time";
  $("#charts").after(el("p", { class: "small muted" }, "To keep your judgement independent, what the desk has learned, other chances and other reviews are not shown to you."));
}

begin().catch((error) => {
  showError($("#banners"), error, desk);
  if (error instanceof Refused) for (const section of document.querySelectorAll("main section, #figures")) section.hidden = true;
  else setTimeout(() => location.reload(), 5000);
});
