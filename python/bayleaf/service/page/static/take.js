// Take away: the labels in the formats of others, and the model.
import { download, here, post } from "./api.js";
import { h, number, say } from "./dom.js";

const FORMATS = [["tsv", "TSV", "label, tab, text: what bayleaf train reads"], ["jsonl", "JSON lines", "with person, time, and how each document was chosen"],
  ["prodigy", "Prodigy", "for prodigy db-in"], ["doccano", "doccano", "JSONL for its text classification"],
  ["label-studio", "Label Studio", "tasks with annotations"], ["parquet", "Parquet", "needs pyarrow where the page is served"],
  ["model", "Model file", "for bayleaf classify, and Model.load in Python"]];

export async function show(root) {
  const { model } = await post("state");
  const take = async (format) => {
    try {
      say(`${await download(format)} is downloaded.`);
    } catch (error) {
      say(error.message, true);
    }
  };
  root.append(h("h1", {}, "Take away"),
    h("p", {}, `${number(model.taught)} labels, hold-out included. The model file has learned all of them; to make it again:`),
    h("p", {}, h("code", {}, `bayleaf train ${here.model}-labels.tsv --like ${here.model}.bayleaf -o again.bayleaf`)),
    h("p", {}, "gives the same bytes."),
    h("table", { "aria-label": "Files" }, h("tbody", {}, FORMATS.map(([format, name, said]) => h("tr", {},
      h("td", {}, h("button", { type: "button", onclick: () => take(format) }, name)), h("td", {}, said))))));
}
