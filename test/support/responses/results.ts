import { randomUUID } from 'node:crypto';
import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync, readdirSync, writeSync } from 'node:fs';
import path from 'node:path';
import { isObject, parseJson } from '../../../crds/path.ts';
import type { Compared, SentResponse } from './comparison.ts';

/** Record of the comparisons of a process, written at once, for a test may kill it. */
export interface Results {
  add(sent: SentResponse, compared: Compared): void;
}

/** Creates the files of this process in a folder: the differences and the responses that occurred, and their number. */
export function resultsIn(folder: string): Results {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, randomUUID());
  const counter = openSync(`${file}.count`, 'w');
  process.on('exit', () => {
    closeSync(counter);
  });
  const written = new Set<string>();
  let count = 0;
  const write = (line: object): void => {
    const text = JSON.stringify(line);
    if (written.has(text)) return;
    written.add(text);
    appendFileSync(`${file}.lines`, `${text}\n`);
  };
  return {
    add({ method, path: at, status }, { name, faults }) {
      count += 1;
      writeSync(counter, String(count), 0);
      if (name !== undefined) write({ name });
      const what = name ?? `${method} ${at.replaceAll(/(?<=\/)[^/]*\d[^/]*/g, '…')} ${String(status)}`;
      for (const fault of faults) write({ fault: `${what} ${fault}` });
    },
  };
}

/** Comparisons of all processes that wrote to a folder. */
export interface Totals {
  readonly count: number;
  /** Names of the described responses that occurred. */
  readonly names: ReadonlySet<string>;
  readonly faults: readonly string[];
}

/** Reads what processes wrote to a folder and the folders in it. */
export function totalsOf(folder: string): Totals {
  const files = filesIn(folder);
  const texts = (ending: string): string[] =>
    files.filter((file) => file.endsWith(ending)).map((file) => readFileSync(file, 'utf8'));
  const lines = texts('.lines')
    .flatMap((text) => text.split('\n').map(parseJson))
    .filter(isObject);
  const of = (member: string): string[] =>
    lines.flatMap((line) => (typeof line[member] === 'string' ? [line[member]] : []));
  return {
    count: texts('.count').reduce((sum, text) => sum + Number(text), 0),
    names: new Set(of('name')),
    faults: [...new Set(of('fault'))],
  };
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => path.join(folder, file));
  } catch {
    return [];
  }
}
