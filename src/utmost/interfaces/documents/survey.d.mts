// The types of survey.mjs, which draws exactly; each report about one person costs the level again: keep the first.

export interface SurveyTable {
  readonly kind: "utmost survey";
  readonly format: 1;
  readonly labels: readonly Answer[];
  readonly multipliers: readonly number[];
  readonly bases: readonly (readonly number[])[];
  readonly size: number;
  readonly weights: readonly string[];
  readonly inside: string;
}

export declare class Survey {
  constructor(table: SurveyTable, fill?: (bytes: Uint8Array) => unknown);
  readonly table: SurveyTable;
  // A fresh report of an answer, the number of a block; a RangeError for an answer that the survey does not have.
  report(answer: Answer): number;
}

declare const survey: Survey;
export default survey;
