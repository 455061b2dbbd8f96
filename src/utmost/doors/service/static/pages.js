// Sliders that fill the field beside them, buttons that copy, and charts that are scrolled by key. Pages work without.
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

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("input[data-fills]").forEach(onSlider);
  document.querySelectorAll("button[data-copies]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => onCopy(button));
  });
});
