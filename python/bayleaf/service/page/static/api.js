// Requests to the service, by paths below the page's own, wherever a web server may have put it. The token
// goes into a header, and is forgotten with the tab.
import { h, openDialog, say } from "./dom.js";

export class Offline extends Error {}
export class Refused extends Error {}

const TOKEN = "bayleaf:token";
export const here = { model: "", person: "" };
const LATER = new Set([408, 429, 503, 507]);

function headers() {
  const token = sessionStorage.getItem(TOKEN);
  return { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
}

async function sent(path, options) {
  let reply;
  try {
    reply = await fetch(path, { ...options, headers: headers(), credentials: "omit", cache: "no-store" });
  } catch {
    throw new Offline("The service cannot be reached.");
  }
  if (reply.ok) return reply;
  const problem = await reply.json().catch(() => ({ detail: reply.statusText }));
  if (reply.status === 401) {
    await askToken(problem.detail);
    return sent(path, options);
  }
  if (LATER.has(reply.status)) throw new Offline(problem.detail);
  throw new Refused(problem.detail);
}

export const get = async (path) => (await sent(path, { method: "GET" })).json();

const request = (name, body) =>
  sent(`models/${encodeURIComponent(here.model)}/page/${name}`, {
    method: "POST", body: JSON.stringify({ person: here.person, ...body }),
  });

export const post = async (name, body = {}) => (await request(name, body)).json();

export async function download(format) {
  const reply = await request("export", { format });
  const name = /filename="([^"]+)"/.exec(reply.headers.get("Content-Disposition"))[1];
  const link = h("a", { href: URL.createObjectURL(await reply.blob()), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  return name;
}

let asking = null;
function askToken(reason) {
  asking ??= new Promise((resolve) => {
    const input = h("input", { type: "password", id: "token", autocomplete: "off", required: true });
    const form = h("form", { onsubmit: (event) => {
      event.preventDefault();
      sessionStorage.setItem(TOKEN, input.value.trim());
      dialog.close();
      asking = null;
      resolve();
    } }, h("p", {}, reason), h("label", { for: "token" }, "Your token "), input,
      h("button", { class: "primary" }, "Go on"));
    const dialog = openDialog("Who are you?", form);
    input.focus();
  });
  return asking;
}

// An answer is kept in the browser until the service says that it is on its disk.
const pendingKey = () => `bayleaf:pending:${here.model}`;
export const pending = () => JSON.parse(localStorage.getItem(pendingKey()) ?? "null");

export async function answered(body) {
  localStorage.setItem(pendingKey(), JSON.stringify(body));
  for (let wait = 250; ; wait = Math.min(2 * wait, 4000)) {
    try {
      const reply = await post("label", body);
      localStorage.removeItem(pendingKey());
      return reply;
    } catch (error) {
      if (!(error instanceof Offline)) {
        localStorage.removeItem(pendingKey());
        throw error;
      }
      say(`${error.message} Your answer is kept in this browser and is sent as soon as it is back.`, true);
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}
