// Draws short reports of a survey of utmost, format 1, exactly; the format is in proofs/theory/samplers.md.
// A report is the number of a block of answers. Whether the own answer is in the block is decided by fractions, each
// draw below a whole number is made by throwing away what is not below it, and all draws are made whatever the answer
// is. Report once and keep the report: a second one about one person costs the level again.

export class Survey {
  // table: what `utmost export` wrote. fill: puts random bytes into an array; the browser's own, unless a test says.
  constructor(table, fill = (bytes) => globalThis.crypto.getRandomValues(bytes)) {
    if (table.kind !== "utmost survey" || table.format !== 1) throw new Error("a survey of format 1 is needed");
    this.table = table;
    this.fill = fill;
    this.rows = new Map(table.labels.map((name, row) => [name, row]));
    const weights = table.weights.map(fraction), all = table.labels.map((_, residue) => residue);
    this.whole = weights.reduce((least, [, below]) => (least / gcd(least, below)) * below, 1n);
    let last = 0n;
    this.lasts = weights.map(([above, below]) => (last += above * (this.whole / below)));
    this.others = table.bases.map((base) => all.filter((residue) => !base.includes(residue)));
    [this.within, this.of] = fraction(table.inside);
  }

  // A fresh report of an answer. Cost: five draws, whatever the number of answers is.
  report(answer) {
    const value = this.rows.get(String(answer)), { multipliers, bases, labels, size } = this.table;
    if (value === undefined) throw new RangeError("the answer must be one of the survey's");
    const drawn = this.below(this.whole), base = this.lasts.reduce((passed, last) => passed + Number(drawn >= last), 0);
    const at = Number(this.below(BigInt(multipliers.length))), isInside = this.below(this.of) < this.within;
    const member = bases[base][Number(this.below(BigInt(size)))];
    const other = this.others[base][Number(this.below(BigInt(labels.length - size)))];
    const shift = (value - ((multipliers[at] * (isInside ? member : other)) % labels.length)) % labels.length;
    return (base * multipliers.length + at) * labels.length + ((shift + labels.length) % labels.length);
  }

  // A uniform number below a whole one: as many bits as the largest has, drawn anew until they are below it.
  below(whole) {
    const bits = (whole - 1n).toString(2).length * Number(whole > 1n), bytes = new Uint8Array((bits + 7) >> 3);
    for (;;) {
      this.fill(bytes);
      let number = 0n;
      for (const byte of bytes) number = (number << 8n) | BigInt(byte);
      number = BigInt.asUintN(bits, number);
      if (number < whole) return number;
    }
  }
}

function fraction(text) {
  const [above, below = "1"] = text.split("/");
  return [BigInt(above), BigInt(below)];
}

function gcd(first, second) {
  return second === 0n ? first : gcd(second, first % second);
}
