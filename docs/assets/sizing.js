const SIZING = {};
