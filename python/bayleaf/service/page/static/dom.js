// Elements made of text, never of HTML: what a document holds is shown and nothing else.

export function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const $ = (id) => document.getElementById(id);
export const percent = (value, digits = 1) => `${(100 * value).toFixed(digits)} %`;
export const number = (value) => value.toLocaleString("en");
export const shortTime = (at) => new Date(1000 * at).toLocaleString();
export const midnight = () => new Date(new Date().setHours(0, 0, 0, 0)).getTime() / 1000;
export const newKey = () => [...crypto.getRandomValues(new Uint8Array(12))].map((b) => b.toString(16).padStart(2, "0")).join("");

export function say(text, problem = false) {
  $("status").textContent = text;
  $("status").className = problem ? "problem" : "";
}

// Control characters would be invisible or move what is around them: their pictures stand for them.
export const printable = (text) =>
  text.replaceAll("\r\n", "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/\u007f/g, "\u2421")
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

export function openDialog(title, ...children) {
  const dialog = $("dialog");
  dialog.replaceChildren(
    h("h2", { id: "dialog-title" }, title), ...children,
    h("p", {}, h("button", { type: "button", onclick: () => dialog.close() }, "Close")),
  );
  if (!dialog.open) dialog.showModal();
  return dialog;
}
