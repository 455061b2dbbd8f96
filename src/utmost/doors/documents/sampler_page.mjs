
// The page: what is drawn once is kept and shown again, also for another secret; what was chosen is never stored.
const table = JSON.parse(document.getElementById("table").textContent);
const sampler = new Sampler(table), key = `utmost answer ${table.mechanism.sha256}`;
const at = (id) => document.getElementById(id);

// Storage that a browser refuses, as some do for files, is a memory that ends with the page.
const memory = new Map();
function kept(change) {
  try {
    change?.(localStorage);
    return localStorage.getItem(key);
  } catch {
    change?.({ setItem: (name, value) => memory.set(name, value), removeItem: (name) => memory.delete(name) });
    return memory.get(key) ?? null;
  }
}

function show(answer, how) {
  at("told").hidden = answer === null;
  at("ask").hidden = answer !== null;
  at("answer").textContent = answer ?? "";
  at("kept").textContent = answer === null ? "" : `${how} Drawing anew costs the promise once more.`;
}

at("guarantee").textContent = table.guarantee;
at("secret").append(...table.secrets.map((name) => new Option(name, name)));
at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const answer = sampler.draw(at("secret").value);
  kept((store) => store.setItem(key, answer));
  at("ask").reset();
  show(answer, "Drawn now, and kept on this device.");
});
at("anew").addEventListener("click", () => {
  kept((store) => store.removeItem(key));
  show(null);
});
show(kept(), "Drawn before, and kept on this device.");
