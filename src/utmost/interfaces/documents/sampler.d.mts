// The types of sampler.mjs, which draws exactly; each answer about one person costs the level again: keep the first.

export interface SamplerTable {
  readonly kind: "utmost sampler";
  readonly format: 1;
  // What a draw promises, in words: show it to whoever answers.
  readonly guarantee: string;
  readonly epsilon: string;
  // The unit of distances between secrets, such as "km"; null where they have none.
  readonly unit: string | null;
  readonly secrets: readonly Secret[];
  readonly answers: readonly Answer[];
  // Latitude and longitude of each secret in degrees; null where they have none.
  readonly positions: readonly (readonly [number, number])[] | null;
  readonly bits: number;
  readonly lasts: readonly (readonly string[])[];
}

export declare class Sampler {
  constructor(table: SamplerTable, fill?: (bytes: Uint8Array) => unknown);
  readonly table: SamplerTable;
  // A fresh answer for a secret; a RangeError for one that the table does not have.
  draw(secret: Secret): Answer;
  // The secret nearest to a position in degrees; a RangeError beyond `reach` metres.
  nearest(latitude: number, longitude: number, reach?: number): Secret;
  rowOf(secret: Secret): number;
  number(): bigint;
}

declare const sampler: Sampler;
export default sampler;
