// Reports of a survey from every sequence of bytes that a file names: node survey_walk.mjs MODULE CASES
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { Survey } = await import(pathToFileURL(process.argv[2]));
const { table, answer, walks } = JSON.parse(readFileSync(process.argv[3], "utf8"));
const reports = walks.map((walk) => {
  let place = 0;
  const survey = new Survey(table, (bytes) => bytes.forEach((_, k) => (bytes[k] = walk[place++])));
  const report = survey.report(answer);
  if (place !== walk.length) throw new Error("every byte must be taken");
  return report;
});
const own = new Survey(table);
console.log(JSON.stringify({ reports, own: Array.from({ length: 2000 }, () => own.report(answer)) }));
