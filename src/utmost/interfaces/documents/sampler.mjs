// Draws answers from a sampler of utmost, format 1, exactly; the format is in proofs/theory/samplers.md.
// A draw takes `bits` random bits as a number, highest first; a number above the last of its row is thrown away and
// drawn anew; else the answer is the first whose last number is not below it. Each answer has the probability that the
// table states, and no other. Answer once and keep the answer: a second draw about one person costs the level again.

const EARTH = 6371008.8; // the mean radius in metres

export class Sampler {
  // table: what `utmost export` wrote. fill: puts random bytes into an array; the browser's own, unless a test says.
  constructor(table, fill = (bytes) => globalThis.crypto.getRandomValues(bytes)) {
    if (table.kind !== "utmost sampler" || table.format !== 1) throw new Error("a sampler of format 1 is needed");
    this.table = table;
    this.fill = fill;
    this.rows = new Map(table.secrets.map((name, row) => [name, row]));
    this.lasts = table.lasts.map((row) => row.map((last) => BigInt("0x" + (last || "0"))));
  }

  // A fresh answer for a secret. Cost: (bits + 7) / 8 random bytes and one comparison for each answer a try; fewer than
  // two tries in the mean, and their number has the same distribution for each secret. BigInt takes no constant time.
  draw(secret) {
    const row = this.lasts[this.rowOf(secret)];
    for (;;) {
      const number = this.number();
      let passed = 0;
      for (const last of row) passed += Number(number > last);
      if (passed < row.length) return this.table.answers[passed];
    }
  }

  // A uniform number of so many bits.
  number() {
    const bytes = new Uint8Array((this.table.bits + 7) >> 3);
    this.fill(bytes);
    let number = 0n;
    for (const byte of bytes) number = (number << 8n) | BigInt(byte);
    return BigInt.asUintN(this.table.bits, number);
  }

  // The row of a secret, which is not named where there is none.
  rowOf(secret) {
    const row = this.rows.get(String(secret));
    if (row === undefined) throw new RangeError("the secret must be one of the sampler's");
    return row;
  }

  // The secret nearest to a position in degrees. One beyond `reach` metres is refused: it is of another map; if left
  // out, ten times the size of the map and at least 10 km.
  nearest(latitude, longitude, reach) {
    const here = (this.table.positions ?? []).map(onSphere), there = onSphere([latitude, longitude]);
    if (!here.length) throw new RangeError("the sampler's secrets have no positions");
    const middle = [0, 1, 2].map((axis) => here.reduce((sum, point) => sum + point[axis] / here.length, 0));
    const size = Math.max(...here.map((point) => Math.hypot(...point.map((x, axis) => x - middle[axis]))));
    const gaps = here.map((point) => Math.hypot(...point.map((x, axis) => x - there[axis])));
    const least = Math.min(...gaps), farthest = reach === undefined ? Math.max(10 * size, 1e4 / EARTH) : reach / EARTH;
    if (!(least <= farthest)) throw new RangeError("the position must be on the map");
    return this.table.secrets[gaps.indexOf(least)];
  }
}

function onSphere([latitude, longitude]) {
  const [north, east] = [latitude, longitude].map((degrees) => (degrees * Math.PI) / 180);
  return [Math.cos(north) * Math.cos(east), Math.cos(north) * Math.sin(east), Math.sin(north)];
}
