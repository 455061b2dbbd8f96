// Sliders beside fields, copy buttons, a choice of columns from the header of a file (which is not sent), previews, and
// tables that are sorted, filtered, and shown row by row where they are too wide. Pages also work without this script.
"use strict";

function onSlider(slider) {
  const field = document.getElementById(slider.dataset.fills);
  const label = field.labels[0] ? field.labels[0].textContent : slider.dataset.fills;
  slider.setAttribute("aria-label", label.trim() + ", by slider");
  const values = slider.dataset.values.split(" ");
  slider.max = values.length - 1;
  slider.setAttribute("aria-valuetext", field.value);
  const at = values.indexOf(field.value);
  slider.value = at < 0 ? Math.floor(values.length / 2) : at;
  slider.hidden = false;
  slider.addEventListener("input", () => {
    field.value = values[slider.value];
    slider.setAttribute("aria-valuetext", field.value);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

async function onCopy(button) {
  const text = document.getElementById(button.dataset.copies).textContent.trim();
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
}

// The names in the first line of a CSV file, whatever separates them; in quotes they may hold anything.
function namesIn(line) {
  const separator = [",", ";", "\t", "|"].find((mark) => line.replace(/"[^"]*"/g, "").includes(mark)) || ",";
  const names = [""];
  let quoted = false;
  for (const letter of line) {
    if (letter === '"') quoted = !quoted;
    else if (letter === separator && !quoted) names.push("");
    else names[names.length - 1] += letter;
  }
  return names.map((name) => name.trim()).filter((name) => name);
}

const WHAT = { drop: "left out", columns: "released, with noise", public: "public, as it is", id_column: "the identifier" };

function onColumns(input) {
  const box = input.closest(".from-header"), form = input.form;
  const scroll = box.querySelector(".scroll"), body = box.querySelector("tbody");
  const quoted = (name) => (/[,"]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
  const fill = () => {
    for (const kind of Object.keys(WHAT)) {
      const chosen = [...body.querySelectorAll("select")].filter((select) => select.value === kind);
      form.elements[kind].value = chosen.map((select) => quoted(select.dataset.name)).join(", ");
    }
    form.dispatchEvent(new Event("change"));
  };
  box.hidden = false;
  input.addEventListener("change", async () => {
    const start = input.files.length ? await input.files[0].slice(0, 65536).text() : "";
    const names = namesIn(start.replace(/^\ufeff/, "").split(/\r?\n/)[0]);
    body.replaceChildren(...names.map((name, place) => {
      const row = document.createElement("tr"), label = document.createElement("label");
      const select = document.createElement("select");
      label.textContent = name;
      label.htmlFor = select.id = `column-${place}`;
      select.dataset.name = name;
      for (const [value, words] of Object.entries(WHAT)) select.add(new Option(words, value));
      select.addEventListener("change", fill);
      for (const cell of [label, select]) row.insertCell().append(cell);
      return row;
    }));
    scroll.hidden = !names.length;
    box.querySelector("[data-columns-said]").textContent = `${names.length} columns found`;
    fill();
  });
}

// A filled form shows its preview by itself; the table is not sent for a preview.
function onPreview(button) {
  const form = button.form;
  const filled = () => [...form.elements].every((field) => field.name === "table" || !field.willValidate || field.checkValidity());
  form.addEventListener("change", () => { if (filled()) button.click(); });
}

function valueOf(cell) {
  const text = cell.dataset.value || cell.textContent.trim();
  const digits = text.replace(/[\u202f\u2009\u00a0 ]|^[±ε= ]+/g, "").replace("−", "-");
  const number = /^-?\d+\/\d+$/.test(digits) ? digits.split("/").reduce((a, b) => a / b) : parseFloat(digits);
  return /^-?\d/.test(digits) && !/^\d{4}-\d/.test(digits) ? number : text.toLowerCase();
}

function compared(a, b) {
  if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
  return typeof a === "number" ? -1 : 1;
}

// A table that is sorted by its header, with a field above it that filters rows by text.
function onTable(table) {
  const body = table.tBodies[0], rows = [...body.rows];
  if (rows.length < 2) return;
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    if (head.querySelector(".unseen")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sorter";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falls = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falls ? "descending" : "ascending");
      const sorted = [...rows].sort((a, b) => compared(valueOf(a.cells[place]), valueOf(b.cells[place])));
      body.append(...(falls ? sorted.reverse() : sorted));
    });
  });
  if (rows.length < 8) return;
  filter(table.closest(".scroll"), rows, table.closest(".scroll").getAttribute("aria-label"));
}

let filters = 0;

function filter(before, items, what) {
  const box = document.createElement("div"), field = document.createElement("input");
  const label = document.createElement("label"), count = document.createElement("p");
  box.className = "filter";
  field.type = "search";
  label.htmlFor = field.id = `filter-${(filters += 1)}`;
  label.textContent = `Find in ${what}`;
  count.className = "hint";
  count.setAttribute("role", "status");
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    let found = 0;
    for (const item of items) {
      item.hidden = !item.textContent.toLowerCase().includes(wanted);
      found += item.hidden ? 0 : 1;
    }
    count.textContent = wanted ? `${found} of ${items.length}` : "";
  });
  box.append(label, field, count);
  before.before(box);
}

// A table that is too wide is shown downwards, each cell beside the name of its column.
function onBreadth() {
  for (const table of document.querySelectorAll(".scroll > table")) {
    const heads = table.tHead ? [...table.tHead.rows[0].cells] : [], place = table.parentElement;
    table.classList.remove("stacked");
    if (place.scrollWidth <= place.clientWidth) continue;
    table.classList.add("stacked");
    table.setAttribute("role", "table");
    for (const row of table.tBodies[0].rows) {
      row.setAttribute("role", "row");
      [...row.cells].forEach((cell, at) => {
        cell.setAttribute("role", cell.tagName === "TH" ? "rowheader" : "cell");
        cell.dataset.of = heads[at] ? heads[at].textContent.trim() : "";
      });
    }
  }
}

window.addEventListener("resize", onBreadth);
document.addEventListener("toggle", onBreadth, true);
document.addEventListener("htmx:afterSwap", onBreadth);

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("input[data-fills]").forEach(onSlider);
  document.querySelectorAll("input[data-columns]").forEach(onColumns);
  document.querySelectorAll("button[data-previews]").forEach(onPreview);
  document.querySelectorAll("table[data-sorts]").forEach(onTable);
  document.querySelectorAll("[data-filtered]").forEach((list) => {
    const items = [...list.children];
    if (items.length > 5) filter(list, items, list.dataset.filtered);
  });
  document.querySelectorAll("button[data-copies]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => onCopy(button));
  });
  onBreadth();
});
