// For each case of the file: what the module makes of given blocks of random bytes, how often each answer comes from the
// machine's own randomness, and the nearest secret of each position.
import { readFileSync } from "node:fs";

const [code, cases] = process.argv.slice(2);
const { Sampler } = await import(code);
const told = JSON.parse(readFileSync(cases)).map(({ table, secret, tries, draws, positions }) => {
  const blocks = tries.map((text) => Buffer.from(text, "hex"));
  let at = 0;
  const written = new Sampler(table, (bytes) => bytes.set(blocks[at++]));
  const answers = [];
  try {
    while (at < blocks.length) answers.push([written.draw(secret), at]);
  } catch (error) {
    if (at <= blocks.length) throw error; // the last number was refused, and there is no further one
  }
  const own = new Sampler(table), counts = {};
  for (let k = 0; k < draws; k++) {
    const answer = own.draw(secret);
    counts[answer] = (counts[answer] ?? 0) + 1;
  }
  return { answers, counts, nearest: positions.map((pair) => own.nearest(...pair)) };
});
process.stdout.write(JSON.stringify(told));
