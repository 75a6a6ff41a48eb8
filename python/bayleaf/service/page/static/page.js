// Which view is shown, of which model, for whom.
import { get, here } from "./api.js";
import { $, h, say } from "./dom.js";
import * as review from "./review.js";
import * as take from "./take.js";
import * as teach from "./teach.js";
import * as watch from "./watch.js";

const VIEWS = { teach, review, watch, take };
let leave = null;

async function show() {
  leave?.();
  leave = null;
  const name = location.hash.slice(1) in VIEWS ? location.hash.slice(1) : "teach";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `bayleaf: ${name}`;
  say("");
  const root = h("div", {});
  $("main").replaceChildren(root);
  try {
    leave = await VIEWS[name].show(root);
  } catch (error) {
    say(error.message, true);
    root.append(h("p", {}, h("button", { type: "button", onclick: show }, "Try again")));
  }
}

async function start() {
  here.person = localStorage.getItem("bayleaf:person") ?? "";
  $("person").value = here.person;
  $("person").addEventListener("change", () => {
    here.person = $("person").value.trim();
    localStorage.setItem("bayleaf:person", here.person);
    show();
  });
  $("model").addEventListener("change", () => {
    here.model = $("model").value;
    sessionStorage.setItem("bayleaf:model", here.model);
    show();
  });
  addEventListener("hashchange", show);
  try {
    const { models } = await get("models");
    if (!models.length) {
      say("There is no model yet: bayleaf teach texts.csv, or bayleaf serve FOLDER --model NAME=FILE.", true);
      return;
    }
    const names = models.map((model) => model.name);
    const kept = sessionStorage.getItem("bayleaf:model");
    here.model = names.includes(kept) ? kept : names[0];
    $("model").replaceChildren(...names.map((name) => h("option", { value: name, selected: name === here.model }, name)));
    await show();
  } catch (error) {
    say(`${error.message} The page tries again in a moment.`, true);
    setTimeout(start, 1500);
  }
}

start();
