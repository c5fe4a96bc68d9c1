// The sizing page: choose a size, see what was forecast for it (sizing.js, made by scripts/sizing.py).
(() => {
  const place = document.getElementById("sizing");
  if (!place || typeof SIZING === "undefined") return;
  const selects = ["features", "candidates", "reviews"].map((name) => place.querySelector(`[name=${name}]`));
  const sizes = Object.keys(SIZING).map((key) => key.split("-").map(Number));
  const usual = [12, 20, 3];
  selects.forEach((select, i) => {
    const values = [...new Set(sizes.map((size) => size[i]))].sort((a, b) => a - b);
    select.replaceChildren(...values.map((value) => new Option(value, value, false, value === usual[i])));
    select.addEventListener("change", show);
  });

  const number = (x) => (x >= 10 ? Math.round(x) : Math.round(x * 10) / 10).toLocaleString("en");

  function bar(label, [median, lower, upper], most) {
    const share = (x) => `${(100 * Math.min(x, most)) / most}%`;
    const row = document.createElement("div");
    row.className = "sizing-row";
    row.innerHTML = `<span></span><div class="sizing-track"><i class="sizing-range"></i><i class="sizing-bar"></i></div><b></b>`;
    row.querySelector("span").textContent = label;
    row.querySelector(".sizing-bar").style.width = share(median);
    const range = row.querySelector(".sizing-range").style;
    range.left = share(lower);
    range.width = share(upper - lower);
    row.querySelector("b").textContent = `${number(median)} (${number(lower)} to ${number(upper)})`;
    return row;
  }

  function show() {
    const [features, candidates, reviews] = selects.map((select) => Number(select.value));
    const found = SIZING[`${features}-${candidates}-${reviews}`];
    const words = place.querySelector(".sizing-words");
    const bars = place.querySelector(".sizing-bars");
    if (!found) {
      words.textContent = "This size was not simulated.";
      bars.replaceChildren();
      return;
    }
    const answers = reviews * 20;
    const most = (pairs) => (pairs > 0 ? `at most ${number(pairs)}` : "no");
    words.textContent =
      `${found.capacity} of ${candidates} are chosen, ${answers} answers a week. ` +
      `Half of the simulated worlds have ${most(found.weeks.at(-1)[0])} unfair pairs in the fourth week. ` +
      `In all four weeks half have ${most(found.not_interviewed)} unfair pairs, and after an interview of ` +
      `${found.questions} questions before going live ${most(found.interviewed)} unfair pairs. ` +
      `Simulated in ${found.worlds} worlds.`;
    const longest = Math.max(...found.weeks.map((week) => week[2]), 1);
    bars.replaceChildren(...found.weeks.map((week, i) => bar(`Week ${i + 1}`, week, longest)));
  }

  show();
})();
