// The page docs/try.html: a table of counts with exact noise, made in the browser. Nothing leaves the machine.
// Numbers of the library (margins, guarantees) come from FACTS, written by .ci/try_page.py; draws are made here.

// 32 bits of the browser's cryptographic randomness, which are forgotten once they are taken.
let pool = new Uint32Array(0), taken = 0;
function word() {
  if (taken === pool.length) [pool, taken] = [crypto.getRandomValues(new Uint32Array(1024)), 0];
  const bits = pool[taken];
  pool[taken] = 0;
  taken += 1;
  return bits;
}

// A uniform integer below n <= 2^32, without bias.
export function below(n, words = word) {
  const end = 2 ** 32 - (2 ** 32 % n);
  for (;;) {
    const bits = words();
    if (bits < end) return bits % n;
  }
}

// True with probability exp(-a/b), for whole 0 <= a <= b [canonne2020, Algorithm 1]. No float is involved.
export function happens(a, b, words) {
  let tries = 1;
  while (below(b * tries, words) < a) tries += 1;
  return tries % 2 === 1;
}

// Noise with P(x) proportional to exp(-epsilon |x|), for epsilon = top/bottom [canonne2020, Algorithm 2].
export function noise([top, bottom], words) {
  for (;;) {
    const rest = below(bottom, words);
    if (!happens(rest, bottom, words)) continue;
    let whole = 0;
    while (happens(1, 1, words)) whole += 1;
    const size = Math.floor((rest + bottom * whole) / top);
    const isNegative = below(2, words) === 1;
    if (isNegative && size === 0) continue;
    return isNegative ? -size : size;
  }
}

// The cells of a CSV file: a header, and rows as long as it.
export function parsed(text) {
  const rows = [];
  let row = [], cell = "", isQuoted = false, wasQuoted = false;
  const head = text.slice(0, (text + "\n").search(/[\r\n]/)).replace(/"[^"]*"/g, "");
  const mark = [",", ";", "\t"].map((one) => [head.split(one).length, one]).sort(([a], [b]) => b - a)[0][1];
  const endCell = () => {
    row.push(wasQuoted ? cell : cell.trim());
    cell = "";
    wasQuoted = false;
  };
  const endRow = () => {
    endCell();
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') cell += text[(at += 1)];
      else isQuoted = false;
    } else if (letter === '"' && cell.trim() === "") {
      cell = "";
      isQuoted = wasQuoted = true;
    } else if (letter === mark) endCell();
    else if (letter === "\n" || letter === "\r") {
      if (letter === "\r" && text[at + 1] === "\n") at += 1;
      endRow();
    } else cell += letter;
  }
  if (isQuoted) throw new Error("A quoted cell does not end. Save the file as CSV again.");
  if (cell !== "" || row.length) endRow();
  const [names, ...body] = rows;
  if (!names || !body.length) throw new Error("The file needs a line of column names, and rows.");
  if (new Set(names).size < names.length) throw new Error("Two columns have the same name. Rename one.");
  const odd = body.findIndex((one) => one.length !== names.length);
  if (odd >= 0) throw new Error(`Row ${odd + 1} has ${body[odd].length} cells, and the first line ${names.length}.`);
  return { names, body };
}

// Text that a spreadsheet would compute, in a cell or after a separator within one: as tables/files/formulas.py, and stricter.
export function isComputed(text) {
  return text.split(/[,;|\t]/).some((part, at, parts) => {
    // Spreadsheets skip blanks, control characters, byte order marks and quotes, and accept full-width signs.
    const start = part.replace(/^[\u0000-\u0020\u007f\u0085'"\u00a0\u2000-\u200f\u2028\u2029\u202f\u2060\u3000\ufeff]+/, "");
    return /^[=＝]/.test(start) || (/^[+\-@＋－＠]/.test(start) && /[(!|[]/.test(parts.slice(at).join("|")));
  });
}

// The declared values of one column, one on each line.
export function declared(name, text) {
  const values = text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line);
  if (!values.length) throw new Error(`Write the values of ${name} that can occur, one on each line.`);
  const twice = values.find((value, at) => values.indexOf(value) < at);
  if (twice !== undefined) throw new Error(`${name}: ${twice} is written twice. Remove one.`);
  for (const one of [name, ...values]) {
    if (!one.trim() || isComputed(one) || /[\u0000-\u001f\ud800-\udfff]/u.test(one)) {
      throw new Error(`${name}: the text ${one} cannot stand in a table. Rename it.`);
    }
  }
  return values;
}

// The count of each combination of declared values, the last column fastest, and the number of rows left out.
export function counted({ names, body }, axes) {
  const size = axes.reduce((product, { values }) => product * values.length, 1);
  if (size > 10000) throw new Error(`The table would have ${size} rows. Declare fewer values, or fewer columns.`);
  const places = axes.map(({ name, values }) => [names.indexOf(name), new Map(values.map((value, at) => [value, at]))]);
  const counts = new Array(size).fill(0);
  let leftOut = 0;
  for (const row of body) {
    let cell = 0;
    for (const [column, numbers] of places) {
      const number = numbers.get(row[column].trim());
      cell = number === undefined || cell < 0 ? -1 : cell * numbers.size + number;
    }
    if (cell < 0) leftOut += 1;
    else counts[cell] += 1;
  }
  return { counts, leftOut };
}

// The released table as rows of text.
export function released(axes, noisy, margin) {
  const rows = noisy.map((count, cell) => {
    const labels = [];
    for (const { values } of [...axes].reverse()) {
      labels.unshift(values[cell % values.length]);
      cell = Math.floor(cell / values.length);
    }
    return [...labels, String(count), String(margin)];
  });
  return [[...axes.map(({ name }) => name), "count", "count_margin"], ...rows];
}

export function written(rows) {
  const quoted = (cell) => (/[",;\r\n\t]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((row) => `${row.map(quoted).join(",")}\n`).join("");
}

async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The statement of a table, in the form that `utmost verify` checks.
export async function statement(facts, axes, csv) {
  const names = axes.map(({ name }) => name);
  const digest = await sha256(new TextEncoder().encode(csv));
  const filled = {
    COLUMNS: JSON.stringify(names.join(", ")).slice(1, -1),
    '"PUBLIC"': JSON.stringify(names),
    '"ROWS"': String(axes.reduce((product, { values }) => product * values.length, 1)),
    SHA256: digest,
  };
  return facts.statement.replace(/COLUMNS|"PUBLIC"|"ROWS"|SHA256/g, (word) => filled[word]);
}

const EXAMPLE = `region,sex,answer
${Array.from({ length: 120 }, (_, at) => `${["North", "South", "West"][at % 3]},${at % 2 ? "women" : "men"},${at % 5 ? "yes" : "no"}`).join("\n")}
`;
const EXAMPLE_VALUES = { region: "North\nSouth\nWest", sex: "women\nmen" };

function start() {
  const FACTS = JSON.parse(document.getElementById("facts").textContent);
  const at = (id) => document.getElementById(id);
  const spentOn = new Map(); // the levels of the tables drawn of each file, by its digest
  let table = null, fileName = "example", spent = [], confirmed = "";

  function tell(id, error) {
    at(id).textContent = error ? error.message : "";
    at(id).hidden = !error;
  }

  async function open(name, bytes, values = {}) {
    [table, confirmed, at("sure").checked] = [null, "", false];
    for (const id of ["file-error", "ask-error"]) tell(id, null);
    try {
      let text = "";
      try {
        text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      } catch {
        throw new Error("The file is not UTF-8 text. Save it as CSV in UTF-8.");
      }
      const read = parsed(text), digest = await sha256(bytes);
      if (!spentOn.has(digest)) spentOn.set(digest, []);
      [table, spent] = [read, spentOn.get(digest)];
    } catch (error) {
      tell("file-error", error);
    }
    fileName = name.replace(/\.[^.]*$/, "");
    for (const id of ["columns", "level", "result"]) at(id).hidden = id === "result" || table === null;
    at("names").replaceChildren(...(table ? table.names : []).map((column, number) => {
      const box = Object.assign(document.createElement("fieldset"), { className: "column" });
      const tick = Object.assign(document.createElement("input"), { type: "checkbox", id: `tick-${number}` });
      const label = Object.assign(document.createElement("label"), { htmlFor: tick.id, textContent: column });
      const text = Object.assign(document.createElement("textarea"), { rows: 4, id: `values-${number}`, hidden: true });
      const hint = Object.assign(document.createElement("label"), { htmlFor: text.id, hidden: true });
      hint.textContent = `Values of ${column} that can occur, one on each line`;
      const open = () => (text.hidden = hint.hidden = !tick.checked);
      tick.addEventListener("change", open);
      if (Object.hasOwn(values, column)) [tick.checked, text.value] = [true, values[column]];
      open();
      box.append(tick, label, hint, text);
      return box;
    }));
  }

  at("file").addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    if (file) await open(file.name, await file.arrayBuffer());
  });
  at("example").addEventListener("click", () => open("example.csv", new TextEncoder().encode(EXAMPLE), EXAMPLE_VALUES));

  at("epsilon").append(...Object.keys(FACTS).map((epsilon) => new Option(epsilon, epsilon, epsilon === "1", epsilon === "1")));
  const facts = () => FACTS[at("epsilon").value];
  const shown = () => {
    at("margin").textContent = `Each count will be within ${facts().margin} of the true count in at least 95 of 100 draws.`;
    at("guarantee").textContent = facts().guarantee;
  };
  at("epsilon").addEventListener("change", shown);
  shown();

  at("ask").addEventListener("submit", async (event) => {
    event.preventDefault();
    tell("ask-error", null);
    try {
      const chosen = table.names.filter((_, number) => at(`tick-${number}`).checked);
      if (!chosen.length) throw new Error("Tick a column to count by.");
      if (chosen.some((name) => ["count", "count_margin"].includes(name))) {
        throw new Error("A column to count by must not be called count or count_margin. Rename it.");
      }
      const axes = chosen.map((name) => ({ name, values: declared(name, at(`values-${table.names.indexOf(name)}`).value) }));
      if (!at("sure").checked) throw new Error("Tick that each row is another person.");
      const { counts, leftOut } = counted(table, axes), asked = JSON.stringify(axes);
      if (leftOut && confirmed !== asked) {
        confirmed = asked;
        const lost = `${leftOut} of ${table.body.length} rows have a blank or a value that you did not declare`;
        throw new Error(`${lost}, and would be counted nowhere. Declare it, or press again to leave them out.`);
      }
      const { level, margin } = facts();
      const rows = released(axes, counts.map((count) => count + noise(level)), margin);
      const csv = written(rows), stated = await statement(facts(), axes, csv);
      spent.push(at("epsilon").value);
      show(rows, csv, stated, leftOut);
    } catch (error) {
      tell("ask-error", error);
    }
  });

  function show(rows, csv, stated, leftOut) {
    at("result").hidden = false;
    const line = (cells, kind) => {
      const row = document.createElement("tr");
      row.append(...cells.map((cell) => Object.assign(document.createElement(kind), { textContent: cell })));
      return row;
    };
    const [head, ...body] = rows.map((cells) => [...cells.slice(0, -1), `± ${cells.at(-1)}`]);
    at("table").replaceChildren(line([...head.slice(0, -1), "margin"], "th"), ...body.slice(0, 200).map((cells) => line(cells, "td")));
    at("more").textContent = body.length > 200 ? `${body.length - 200} more rows are in the file.` : "";
    for (const [id, text, ending, kind] of [["csv", csv, ".csv", "text/csv"], ["json", stated, ".csv.json", "application/json"]]) {
      URL.revokeObjectURL(at(id).href);
      at(id).href = URL.createObjectURL(new Blob([text], { type: kind }));
      at(id).download = `${fileName}-released${ending}`;
    }
    at("left-out").textContent = leftOut
      ? `For your eyes only: ${leftOut} of ${table.body.length} rows have a blank or a value that you did not declare, and are counted nowhere.`
      : "";
    at("spent").textContent = spent.length > 1
      ? `You have drawn ${spent.length} tables of these people here: whoever sees all of them has epsilon ${spent.join(" + ")}.`
      : "";
    at("result").scrollIntoView();
  }
}

if (typeof document !== "undefined") start();
