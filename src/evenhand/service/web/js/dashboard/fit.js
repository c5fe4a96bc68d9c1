// Whether the reviewers' answers follow a metric: one sentence, or all of them where no metric fits.

import { el, show } from "../dom.js";

export function fitLine(place) {
  return {
    update({ fit = [], no_metric_fits: none = false }) {
      const [first, ...more] = fit;
      place.hidden = first === undefined;
      if (none) show(place, el("b", {}, first), ` ${more.join(" ")}`);
      else show(place, el("span", { class: "muted small" }, fit.join(" ")));
    },
  };
}
