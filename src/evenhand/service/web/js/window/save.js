// A chart as a picture to keep: with its title and its legend, in the colours that are on the screen.

import { library } from "./library.js";
import { palette } from "./palette.js";

const WIDTH = 960;
const HEIGHT = 480;
const SHARP = 2; // pixels of the picture for each of the page's

/** Saves what `figure(width, palette)` gives as a PNG file. */
export async function savePicture(name, title, figure) {
  const plotly = await library();
  const colours = palette();
  const { data, layout } = figure(WIDTH, colours);
  const whole = {
    ...layout,
    showlegend: true,
    legend: { orientation: "h", x: 0, y: -0.2, yanchor: "top", font: { color: colours.colours.ink } },
    title: { text: title, x: 0.02, xanchor: "left", y: 0.95, font: { size: 18, color: colours.colours.ink } },
    margin: { ...layout.margin, t: 70, b: 110 },
  };
  // First as SVG, which is allowed to become an image here; the library's own way to PNG is refused by the policy.
  const image = new Image();
  image.src = await plotly.toImage({ data, layout: whole }, { format: "svg", width: WIDTH, height: HEIGHT });
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [SHARP * WIDTH, SHARP * HEIGHT];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  hand(await new Promise((done) => { canvas.toBlob(done, "image/png"); }), name);
}

function hand(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
