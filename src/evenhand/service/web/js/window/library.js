// The chart library: a file of an installed package, fetched only by pages with charts, and only when they need it.

const AGAIN = 15_000; // after a failure it is not asked for more often than this, however much news comes
let asked = null;
let failed = -Infinity;

/** A promise of the library; it is refused if the file does not come, and may then be asked for again later. */
export function library() {
  if (asked === null && performance.now() - failed < AGAIN) return Promise.reject(new Error("the chart library did not come"));
  asked ??= load().catch((error) => { asked = null; failed = performance.now(); throw error; });
  return asked;
}

/** Has the file fetched while the numbers are; it is only run when they are on the page, for that takes a moment. */
export function fetchLibrary() {
  const link = document.createElement("link");
  Object.assign(link, { rel: "preload", as: "script", href: address() });
  document.head.append(link);
}

const address = () => document.querySelector("meta[name=chart-library]").content;
const painted = () => new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });

async function load() {
  const sheet = document.getElementById("plotly.js-style-global");
  // The library writes into this sheet when it starts, and not later.
  if (!sheet.sheet) await loaded(sheet);
  await painted();
  const script = document.createElement("script");
  script.src = address();
  script.async = true;
  const here = loaded(script);
  document.head.append(script);
  await here;
  if (!window.Plotly) throw new Error("the chart library did not start");
  return window.Plotly;
}

function loaded(element) {
  return new Promise((done, refused) => {
    element.addEventListener("load", done, { once: true });
    element.addEventListener("error", () => refused(new Error("a file of the chart library did not come")), { once: true });
  });
}
