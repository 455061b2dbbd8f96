
// The page: what is drawn is shown once it is kept, and shown again, also for another secret and in another window; what
// was chosen is never stored. The lines before define `table`, the `key` of what is kept, the `names` to choose from, and
// `draw`.
const at = (id) => document.getElementById(id);

// One transaction with the browser's store, which has ended on the disk when the promise is kept.
function stored(mode, work) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("utmost answers", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("answers");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const transaction = opening.result.transaction("answers", mode, { durability: "strict" });
      const asked = work(transaction.objectStore("answers"));
      transaction.onabort = () => reject(transaction.error);
      transaction.oncomplete = () => {
        opening.result.close();
        resolve(asked.result ?? null);
      };
    };
  });
}

const known = () => stored("readonly", (answers) => answers.get(key));

// The answer that is kept from now on: of two windows, the first one's.
async function kept(drawn) {
  await stored("readwrite", (answers) => {
    const before = answers.get(key);
    before.onsuccess = () => before.result === undefined && answers.add(drawn, key);
    return before;
  });
  return known();
}

function show(answer, how) {
  at("told").hidden = answer === null;
  at("ask").hidden = answer !== null;
  at("answer").textContent = answer ?? "";
  at("kept").textContent = answer === null ? "" : `${how} A new answer costs the promised level once more.`;
}

at("guarantee").textContent = table.guarantee;
at("secret").append(...names.map((name) => new Option(name, name)));
at("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const drawn = draw(at("secret").value);
  at("ask").reset();
  at("ask").hidden = true;
  try {
    show(await kept(drawn), "Drawn, and kept on this device.");
  } catch {
    show(drawn, "Drawn, but this browser keeps nothing: write the answer down, and send the same answer each time.");
  }
});
at("anew").addEventListener("click", async () => {
  await stored("readwrite", (answers) => answers.delete(key)).catch(() => null);
  show(null);
});
show(await known().catch(() => null), "Drawn before, and kept on this device.");
