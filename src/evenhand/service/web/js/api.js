// Talking to the service: JSON in, JSON out, the session's CSRF value on whatever changes something, problems as sentences.

const SESSION = "evenhand-session"; // kept while there is one
const PATIENCE = 15000; // milliseconds until a request counts as unanswered

let csrf = null;
let name = null; // who has signed in, as far as this page knows

/** What the service refused, with its status and the problem document. */
export class Refused extends Error {
  constructor(status, document) {
    super(document?.detail ?? `The service answered with status ${status}.`);
    this.status = status;
    this.document = document ?? {};
  }
}

/** The service could not be reached, or cannot work now: the same request may do better later. */
export class Unreachable extends Error {
  constructor(sentence = "The service does not answer.", after = null) {
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
      signal: AbortSignal.timeout(PATIENCE),
    });
  } catch {
    throw new Unreachable();
  }
}

/** After signing in elsewhere in this browser there is another value to send. Whether the page may go on with it. */
async function isStillSignedIn() {
  const [before, who] = [csrf, name];
  const found = await call("GET", "/session");
  if (who !== null && found.name !== who) throw new Refused(401, { detail: `${found.name} has signed in in this browser; sign in again as ${who}`, other: true });
  csrf = found.csrf;
  return csrf !== before;
}

async function read(response) {
  try {
    return await response.json();
  } catch {
    throw new Unreachable("The connection broke off in the middle of an answer.");
  }
}

/** Who is signed in; sends whoever is not to the sign-in page. */
export async function session() {
  try {
    const found = await call("GET", "/session");
    ({ csrf, name } = found);
    remember(found.session);
    return found;
  } catch (error) {
    if (error instanceof Refused && error.status === 401) {
      goToSignIn();
      await new Promise(() => {}); // the page is being left
    }
    throw error;
  }
}

/** why: "ended" or "other" of whoever was signed in here: that the session has ended, or is somebody else's now. */
export function goToSignIn(why = hasSession() ? "ended" : "") {
  remember(false); // it is told once
  location.assign(`/sign-in?next=${encodeURIComponent(location.pathname)}${why && `&why=${why}`}`);
}

/** Whether there was a session in this browser that nobody has ended: its cookie, which no script can read, may be gone. */
function hasSession() {
  try {
    return localStorage.getItem(SESSION) !== null;
  } catch {
    return name !== null;
  }
}

function remember(on) {
  try {
    if (on) localStorage.setItem(SESSION, "yes");
    else localStorage.removeItem(SESSION);
  } catch {
    // Of a page that is loaded anew it is not known then.
  }
}

export async function signIn(token) {
  const found = await call("POST", "/session", { token });
  ({ csrf, name } = found);
  remember(true);
  return found;
}

/** Whose session has ended already is out. */
export async function signOut() {
  try {
    await call("DELETE", "/session");
  } catch (error) {
    if (!(error instanceof Refused && error.status === 401)) throw error;
  }
  remember(false);
  location.assign("/sign-in?why=out");
}

/** The name of the desk in a path such as /review/loans. */
export function deskOfPage() {
  return decodeURIComponent(location.pathname.split("/")[2] ?? "");
}

export const deskPath = (desk, rest = "") => `/api/desks/${encodeURIComponent(desk)}${rest}`;
