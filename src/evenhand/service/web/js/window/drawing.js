// A picture by the chart library in an element of the page: drawn when the library is there, and again when data, the
// theme or the size are others.

import { show } from "../dom.js";
import { library } from "./library.js";
import { onTheme, palette } from "./palette.js";

const CONFIG = { displayModeBar: false, displaylogo: false, showTips: false, doubleClick: false, scrollZoom: false, responsive: false };
const NARROWEST = 40;

/** `figure({width, height}, palette)` gives {data, layout}, or nothing yet; `drawn(plotly, picture)` is called whenever it
 * was drawn, `missing()` if the library does not come. What stands in the element goes when the picture is there.
 * Returns a function that draws it again. */
export function drawing(element, { figure, drawn, missing }) {
  const picture = document.createElement("div");
  picture.className = "picture";
  picture.setAttribute("aria-hidden", "true");
  let size = {};
  let asked = false;

  const paint = async (plotly) => {
    size = { width: element.clientWidth, height: element.clientHeight };
    const wanted = size.width < NARROWEST ? null : figure(size, palette());
    if (!wanted) return;
    if (!picture.isConnected) show(element, picture);
    await plotly.react(picture, wanted.data, { width: size.width, autosize: false, uirevision: "same", ...wanted.layout }, CONFIG);
    document.getElementById("js-plotly-tester")?.setAttribute("aria-hidden", "true"); // where it measures letters
    drawn(plotly, picture);
  };
  const redraw = () => {
    if (asked) return; // whatever came meanwhile is drawn with it
    asked = true;
    library().finally(() => { asked = false; }).then(paint, () => { if (!picture.isConnected) missing(); });
  };

  new ResizeObserver(() => {
    if (element.clientWidth !== size.width || element.clientHeight !== size.height) redraw();
  }).observe(element);
  onTheme(redraw);
  return redraw;
}
