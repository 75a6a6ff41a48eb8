// Review: labels that others contradict, people that disagree, searches, and what a running filter was asked.
import { post } from "./api.js";
import { $, h, newKey, number, percent, printable, say, shortTime } from "./dom.js";
import { isFree, keyOf, placeOf } from "./keys.js";

const LISTS = { suspects: "Suspects", labeled: "Labeled documents", search: "Search and label all", disagreements: "Disagreements", history: "History of the filter" };
let classes, people, cards;


export async function show(root) {
  const state = await post("state");
  ({ classes, people } = state);
  const list = sessionStorage.getItem("bayleaf:list") ?? "suspects";
  root.append(h("h1", {}, "Review"),
    h("p", { class: "row" }, h("label", { for: "list" }, "Show "),
      h("select", { id: "list", onchange: (event) => { sessionStorage.setItem("bayleaf:list", event.target.value); draw(event.target.value); } },
        Object.entries(LISTS).map(([value, name]) => h("option", { value, selected: value === list }, name)))),
    h("p", { class: "small" }, "↑ ↓ move from document to document; the key of a class labels the one that has the focus; z undoes."),
    h("form", { id: "filters", class: "row" }), h("div", { id: "above" }), h("ul", { id: "cards", class: "cards" }));
  document.addEventListener("keydown", pressed);
  await draw(list);
  return () => document.removeEventListener("keydown", pressed);
}

const field = (id, name, input) => [h("label", { for: id }, name), input];
const classSelect = (id) => h("select", { id }, h("option", { value: "" }, "any"), classes.map((name) => h("option", { value: name }, String(name))));

const FILTERS = {
  labeled: () => [
    ...field("by-class", "Class", classSelect("by-class")),
    ...field("by-person", "Person", h("select", { id: "by-person" }, h("option", { value: "" }, "anyone"), people.map((each) => h("option", { value: each.name }, each.name)))),
    ...field("by-date", "Since", h("input", { id: "by-date", type: "date" })),
    ...field("by-surprise", "Model gave it at most", h("input", { id: "by-surprise", type: "number", min: 0, max: 100, step: 1, size: 4, placeholder: "%" })),
    ...field("by-text", "Text", h("input", { id: "by-text", type: "search" })), h("button", {}, "Show")],
  search: () => [...field("by-text", "Text", h("input", { id: "by-text", type: "search", required: true })), h("button", {}, "Search")],
  history: () => [...field("by-text", "Text", h("input", { id: "by-text", type: "search" })), ...field("by-class", "Answer", classSelect("by-class")), h("button", {}, "Show")],
};

async function draw(list) {
  const filters = FILTERS[list]?.() ?? [];
  $("filters").replaceChildren(...filters);
  $("filters").onsubmit = (event) => { event.preventDefault(); load(list); };
  $("above").replaceChildren();
  $("cards").replaceChildren();
  cards = [];
  if (list !== "search") await load(list);
}

const value = (id) => $(id)?.value || null;

let asked = 0;

async function load(list) {
  const turn = ++asked;
  try {
    say("Looking …");
    const [found, above] = await LOAD[list]();
    if (turn !== asked || !$("cards")) return; // another list was chosen meanwhile
    $("above").replaceChildren(...above);
    say(`${number(found.length)} ${found.length === 1 ? "document" : "documents"}.`);
    cards = found;
    $("cards").replaceChildren(...found.map(card));
  } catch (error) {
    say(error.message, true);
  }
}

const LOAD = {
  suspects: async () => [(await post("suspects")).documents.map((each) => ({ ...each, note: `The others say ${each.instead} (log odds ${each.log_odds.toFixed(1)}).` })), []],
  labeled: async () => {
    const surprise = value("by-surprise");
    const date = value("by-date");
    const { documents } = await post("labeled", { label: value("by-class"), by: value("by-person"), search: value("by-text") ?? "", limit: 200,
      since: date ? new Date(date).getTime() / 1000 : null, asked_below: surprise ? surprise / 100 : null });
    return [documents.map((each) => ({ ...each, note: [each.held ? "Held out." : "",
      each.answer === null ? "" : `The model had said ${each.answer} and gave the label ${percent(each.asked, 0)}.`].join(" ") })), []];
  },
  search: async () => {
    const { hits } = await post("hits", { search: value("by-text") ?? "", limit: 1000 });
    const all = h("p", { class: "row" }, `Label all ${number(hits.length)} as `,
      classes.map((name) => h("button", { type: "button", onclick: () => labelAll(hits, name) }, String(name))));
    return [hits.map((each) => ({ ...each, label: null, note: "" })), hits.length ? [all] : []];
  },
  disagreements: async () => {
    const { documents, pairs } = await post("disagreements");
    const above = pairs.length ? h("table", { "aria-label": "Agreement of each pair of people" }, h("thead", {}, h("tr", {}, ["People", "Documents", "Agreed", "Kappa"].map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, pairs.map((pair) => h("tr", {}, h("td", {}, pair.people.join(" and ")), h("td", { class: "number" }, pair.documents),
        h("td", { class: "number" }, percent(pair.agreed, 0)), h("td", { class: "number" }, pair.kappa === null ? "–" : pair.kappa.toFixed(2))))))
      : h("p", {}, "No document has labels of two people yet. Choose the order “Second opinions” to give some.");
    return [documents.map((each) => ({ ...each, note: Object.entries(each.opinions).map(([by, label]) => `${by}: ${label}`).join(", ") })), [above]];
  },
  history: async () => [(await post("history", { search: value("by-text") ?? "", label: value("by-class") })).questions.map((each) => ({ ...each,
    note: `The filter said ${each.answer}, ${percent(each.probability, 0)} sure.${each.label === null ? "" : ` Taught: ${each.label}, by ${each.by}.`}` })), []],
};

function card(each) {
  const meta = h("p", { class: "small" });
  const item = h("li", { tabindex: 0, "data-item": each.item }, h("div", { class: "text", dir: "auto" }, printable(each.text), each.cut ? " …" : ""), meta);
  const buttons = classes.map((name, place) => h("button", { type: "button", "aria-pressed": String(String(name) === String(each.label)),
    onclick: () => relabel(each, name, item) }, keyOf(place) ? h("kbd", {}, keyOf(place)) : null, ` ${name}`));
  meta.textContent = [each.label === null || each.label === undefined ? "" : `${each.label}${each.by ? `, by ${each.by}` : ""}${each.at ? `, ${shortTime(each.at)}` : ""}.`, each.note].join(" ");
  item.append(h("div", {}, buttons));
  return item;
}

async function relabel(each, label, item) {
  try {
    const reply = await post("label-all", { items: [each.item], label, key: newKey(), how: "review" });
    classes = reply.classes;
    each.label = label;
    each.by = "";
    for (const [place, button] of [...item.querySelectorAll("button")].entries()) button.setAttribute("aria-pressed", String(classes[place] === label));
    say(`Labeled ${label}. z undoes it.`);
  } catch (error) {
    say(error.message, true);
  }
}

async function labelAll(hits, label) {
  try {
    const reply = await post("label-all", { items: hits.map((each) => each.item), label, key: newKey() });
    await load("search");
    say(`${number(reply.labeled)} documents are labeled ${label}. z undoes them one by one, “Keys and more” all of today.`);
  } catch (error) {
    say(error.message, true);
  }
}

async function pressed(event) {
  if (!isFree(event)) return;
  const items = [...document.querySelectorAll("#cards > li")];
  const at = items.indexOf(event.target.closest("li"));
  const place = placeOf(event.key);
  if (event.key === "ArrowDown" && items.length) items[Math.min(at + 1, items.length - 1)].focus();
  else if (event.key === "ArrowUp" && items.length) items[Math.max(at - 1, 0)].focus();
  else if (event.key === "z") {
    const reply = await post("undo").catch((error) => ({ error }));
    say(reply.error ? reply.error.message : reply.undone ? `Undone${reply.label === null ? "" : `: ${reply.label}`}.` : "There is nothing left to undo.");
  } else if (at >= 0 && place >= 0 && place < classes.length) relabel(cards[at], classes[place], items[at]);
  else return;
  event.preventDefault();
}
