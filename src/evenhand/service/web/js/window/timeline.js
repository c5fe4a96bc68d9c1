// What the chart library is told of lines and a band over decisions.

import { BAND, LINES } from "./lines.js";
import { faint } from "./palette.js";

const HEIGHT = 260;
const NARROW = 420; // pixels: a readout has shorter lines then
const LETTERS = 12.5; // pixels of letters, if the browser's are the usual ones; where they are larger, so is the room for them
const ROOM = { t: 14, r: 16, b: 44, l: 52, pad: 0 };
const ABOVE = 22; // pixels from one limit above the picture to the next

/** {data, layout} for {x, low, high, lines, band, format, at}, as `chart` takes them. */
export function timeline(told, xName, width, { colours, family, size }) {
  const lines = told.lines.filter((line) => line.y).map((line) => trace(told, line, width < NARROW ? "<br>" : " ", colours));
  const letters = { family, size, color: colours.muted };
  const times = Math.max(1, size / LETTERS);
  const layout = {
    height: HEIGHT + ROOM.b * (times - 1),
    margin: { ...ROOM, t: ROOM.t * times, b: ROOM.b * times },
    font: letters,
    paper_bgcolor: colours.surface,
    plot_bgcolor: colours.surface,
    showlegend: false,
    separators: ".,",
    dragmode: false,
    hovermode: "x unified",
    hoverdistance: -1,
    hoverlabel: { bgcolor: colours.surface, bordercolor: colours["line-strong"], font: { ...letters, color: colours.ink }, align: "left", namelength: -1 },
    xaxis: across(told, { text: xName, standoff: 8, font: letters }, width / times, colours),
    yaxis: upwards(told, colours),
    ...limits(told.lines, letters, ABOVE * times, colours),
  };
  return { data: told.band ? [band(told, colours), ...lines] : lines, layout };
}

function trace({ x, format }, { name, short, kind, y, steps, from, more }, break_, colours) {
  const { colour, width, dash } = LINES[kind];
  const say = (value, added) => `${short}: ${format(value)}${added ? break_ + added : ""}`.replaceAll("-", "−"); // as on the axis
  const said = y.map((value, i) => (value === null ? "" : say(value, more?.(i))));
  const first = from === undefined ? [[], [], []] : [[0], [from], [say(from)]];
  return {
    type: "scatter", mode: "lines", name,
    x: [...first[0], ...x], y: [...first[1], ...y], customdata: [...first[2], ...said],
    line: { color: colours[colour], width, dash: dash.length ? dash.map((part) => `${part}px`).join(",") : "solid", shape: steps ? "hv" : "linear" },
    connectgaps: true, cliponaxis: false,
    hovertemplate: "%{customdata}<extra></extra>",
  };
}

/** The outline of a band; where nothing is known it has a gap. */
function band({ x, band: { name, low, high } }, colours) {
  const runs = [[]];
  x.forEach((_, i) => { if (low[i] === null) runs.push([]); else runs.at(-1).push(i); });
  const outline = { x: [], y: [] };
  for (const run of runs.filter((one) => one.length > 1)) {
    const back = run.toReversed();
    outline.x.push(...run.map((i) => x[i]), ...back.map((i) => x[i]), null);
    outline.y.push(...run.map((i) => high[i]), ...back.map((i) => low[i]), null);
  }
  return { type: "scatter", mode: "lines", name, ...outline, line: { width: 0 }, fill: "toself", fillcolor: faint(colours[BAND.colour], BAND.share), hoverinfo: "skip" };
}

function across({ x, at }, title, width, colours) {
  const right = Math.max(x.at(-1) ?? 1, 1);
  const wanted = Math.max(2, Math.floor(width / 130));
  return {
    range: [0, right], fixedrange: true, showgrid: false, zeroline: false, showline: true, linecolor: colours["line-strong"],
    title, tickformat: ",d", ...(right <= wanted ? { dtick: 1 } : { nticks: wanted + 1 }),
    unifiedhovertitle: { text: at },
    showspikes: true, spikemode: "across", spikesnap: "hovered data", spikethickness: 1, spikedash: "2px,3px", spikecolor: colours["line-strong"],
  };
}

function upwards({ low, high, tickFormat }, colours) {
  const whole = tickFormat === ",d" && high - low <= 4;
  return {
    range: [low, high], fixedrange: true, automargin: true, gridcolor: colours.line, gridwidth: 1, tickformat: tickFormat, ticklabelstandoff: 4,
    zeroline: low < 0, zerolinecolor: colours["line-strong"], zerolinewidth: 1, showline: false,
    ...(whole ? { dtick: 1 } : { nticks: 6 }),
  };
}

/** Limits that lie above the picture: a mark at its upper edge with their number. */
function limits(lines, letters, step, colours) {
  const above = lines.filter((line) => line.above);
  const shapes = above.map(({ kind }, i) => ({
    type: "line", xref: "paper", x0: 0, x1: 1, yref: "paper", yanchor: 1, ysizemode: "pixel", y0: 8 - step * i, y1: 8 - step * i,
    line: { color: colours[LINES[kind].colour], width: LINES[kind].width, dash: LINES[kind].dash.map((part) => `${part}px`).join(",") },
  }));
  const annotations = above.map(({ above: text }, i) => ({
    text: `↑ ${text}`, xref: "paper", x: 1, xanchor: "right", yref: "paper", y: 1, yanchor: "top", yshift: 5 - step * i, xshift: 2,
    showarrow: false, font: letters, bgcolor: colours.surface, borderpad: 1,
  }));
  return { shapes, annotations };
}
