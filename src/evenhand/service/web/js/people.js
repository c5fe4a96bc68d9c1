// Uploading people for an interview to ask about.

import { call, deskPath } from "./api.js";
import { sentence } from "./banners.js";
import { $ } from "./dom.js";

export function uploadForm(desk, then) {
  $("#people-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const [file] = $("#people-file").files;
    const error = $("#people-error");
    error.textContent = file ? "" : "Choose a file.";
    if (!file) return;
    try {
      await call("POST", deskPath(desk, "/interview/people"), { csv: await file.text() });
      $("#people-form").reset();
      $("#people-fold").open = false;
      await then();
    } catch (refused) {
      error.textContent = sentence(refused.message);
    }
  });
}
