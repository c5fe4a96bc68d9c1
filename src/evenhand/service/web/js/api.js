// Requests to the service: JSON in, JSON out, the CSRF token on every change, errors as sentences.

import { keep, recall } from "./storage.js";

const SESSION = "evenhand-session"; // kept while there is one
const TIMEOUT = 15000; // milliseconds

let csrf = null;
let name = null; // of the person signed in

/** The service refused a request; with its status and problem document. */
export class Refused extends Error {
  constructor(status, document) {
    super(document?.detail ?? `The service answered with status ${status}.`);
    this.status = status;
    this.document = document ?? {};
  }
}

/** The service is unreachable or overloaded: the same request may succeed later. */
export class Unreachable extends Error {
  constructor(sentence = "The service is unreachable.", after = null) {
    super(sentence);
    this.after = after;
  }
}

export async function call(method, path, body, headers = {}) {
  const response = await sent(method, path, body, headers);
  if (response.status === 204) return null;
  const content = await read(response);
  if (response.ok) return content;
  if (response.status === 403 && content?.csrf && await isStillSignedIn()) return call(method, path, body, headers);
  if ([429, 502, 503, 504].includes(response.status)) {
    throw new Unreachable(content?.detail, Number(response.headers.get("Retry-After")) || null);
  }
  throw new Refused(response.status, content);
}

async function sent(method, path, body, headers) {
  const all = { Accept: "application/json", ...headers };
  if (body !== undefined) all["Content-Type"] = "application/json";
  if (csrf !== null && method !== "GET") all["X-CSRF-Token"] = csrf;
  try {
    return await fetch(path, {
      method,
      headers: all,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(TIMEOUT),
    });
  } catch {
    throw new Unreachable();
  }
}

/** After a new sign-in in another tab there is a new CSRF token; returns whether the page may continue with it. */
async function isStillSignedIn() {
  const [before, who] = [csrf, name];
  const found = await call("GET", "/session");
  if (who !== null && found.name !== who) throw new Refused(401, { detail: `${found.name} signed in in this browser; sign in again as ${who}`, other: true });
  csrf = found.csrf;
  return csrf !== before;
}

async function read(response) {
  try {
    return await response.json();
  } catch {
    throw new Unreachable("The connection was lost.");
  }
}

/** The person signed in; without one, goes to the sign-in page. */
export async function session() {
  try {
    const found = await call("GET", "/session");
    ({ csrf, name } = found);
    keep(SESSION, found.session ? "yes" : null);
    return found;
  } catch (error) {
    if (error instanceof Refused && error.status === 401) {
      goToSignIn();
      await new Promise(() => {}); // the page is being left
    }
    throw error;
  }
}

/** why: "ended" or "other": the session has ended, or is somebody else's now. A lost cookie counts as ended. */
export function goToSignIn(why = recall(SESSION) === null ? "" : "ended") {
  keep(SESSION, null);
  location.assign(`/sign-in?next=${encodeURIComponent(location.pathname)}${why && `&why=${why}`}`);
}

/** replace: whether a session of somebody else in this browser is to be ended; refused with status 409 if not. */
export async function signIn(token, replace) {
  const found = await call("POST", "/session", { token, replace });
  ({ csrf, name } = found);
  keep(SESSION, "yes");
  return found;
}

/** An ended session counts as signed out. */
export async function signOut() {
  try {
    await call("DELETE", "/session");
  } catch (error) {
    if (!(error instanceof Refused && error.status === 401)) throw error;
  }
  keep(SESSION, null);
  location.assign("/sign-in?why=out");
}

/** The name of the desk in a path such as /review/loans. */
export function deskOfPage() {
  return decodeURIComponent(location.pathname.split("/")[2] ?? "");
}

export const deskPath = (desk, rest = "") => `/api/desks/${encodeURIComponent(desk)}${rest}`;
