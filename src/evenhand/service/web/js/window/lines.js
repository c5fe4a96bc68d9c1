// The kinds of lines, for the pictures and for what explains them. They differ by dash and width as well as by colour.

export const LINES = {
  main: { colour: "accent", width: 2.25, dash: [] },
  second: { colour: "first", width: 1.75, dash: [5, 3] },
  target: { colour: "second", width: 2, dash: [9, 5] },
  bound: { colour: "between", width: 2, dash: [2, 4] },
  cap: { colour: "ink", width: 2, dash: [12, 3, 2, 3] },
};

/** How much of its colour a band has. */
export const BAND = { colour: "first", share: 0.16 };
