/** I9: watches over the answers of the management port that no call of an older epoch is done after one of a newer. */
export interface EpochWatch {
  heard(this: void, path: string, body: Buffer, status: number, answer: Buffer): void;
  /** Returns the calls since the last query that were done but should have been rejected. */
  violations(): readonly string[];
}

/** A watch over the calls of one cluster. */
export function createEpochWatch(): EpochWatch {
  let newest = 0;
  let found: string[] = [];
  return {
    heard(path, body, status, answer) {
      if (status !== 200) return;
      const text = answer.toString('utf8');
      if (path === '/epoch') {
        newest = Math.max(newest, numberIn(text, /"epoch":(\d+)/));
        return;
      }
      const epoch = numberIn(body.toString('utf8', 0, 2_000), /"epoch":(\d+)/);
      if (!path.endsWith('/apply') || !text.includes('"config_version"')) return;
      if (epoch < newest)
        found.push(`I9 a call of epoch ${String(epoch)} was done after ${String(newest)} was claimed`);
    },
    violations() {
      const told = found;
      found = [];
      return told;
    },
  };
}

function numberIn(text: string, pattern: RegExp): number {
  return Number(pattern.exec(text)?.[1] ?? 0);
}
