// SPDX-License-Identifier: Apache-2.0
// Small helpers to build the page. Text from the data only ever becomes text nodes, or passes escape().
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export const escape = (text) =>
  String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

export function card(id, title, note) {
  const made = element("section", { class: "card", id }, element("h2", {}, title));
  if (note) made.append(element("p", { class: "sub" }, note));
  document.getElementById("page").append(made);
  return made;
}

// A card for what the run has nothing for.
export function missing(id, title, data) {
  if (!data.missing) return false;
  card(id, title).append(element("p", { class: "note" }, data.missing));
  return true;
}

export function select(label, name, options, changed) {
  const box = element("select", { "data-filter": name, onchange: () => changed(box.value) });
  for (const [value, text] of options) box.append(element("option", { value }, text));
  return element("label", {}, label, box);
}

export function search(label, name, changed) {
  const box = element("input", { type: "search", "data-filter": name, oninput: () => changed(box.value) });
  return element("label", {}, label, box);
}
