import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** The part of V8's .cpuprofile format that self times need. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

const shown = 40;

/** Prints, for each profile in the folder, the functions that ran longest by themselves, idle time left out. */
export async function printProfiles(folder: string): Promise<void> {
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.cpuprofile'))) {
    const text = await readFile(path.join(folder, file), 'utf8');
    process.stdout.write(`\n${file}\n${selfTimes(parse(text)).slice(0, shown).join('\n')}\n`);
  }
}

function selfTimes({ nodes, samples, timeDeltas }: Profile): string[] {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const times = new Map<string, number>();
  samples.forEach((id, nth) => {
    const place = places.get(id) ?? '';
    if (place !== '(idle)') times.set(place, (times.get(place) ?? 0) + (timeDeltas[nth] ?? 0));
  });
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  return [...times]
    .sort(([, a], [, b]) => b - a)
    .map(([place, time]) => `${((time * 100) / total).toFixed(1).padStart(5)} %  ${place}`);
}

function placeOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const file = url.replace(/^.*\/node_modules\//, '').replace(/^file:\/\/.*?\/(?=(api|crds|operator)\/)/, '');
  return file === '' ? functionName : `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`;
}

function parse(text: string): Profile {
  const value: unknown = JSON.parse(text);
  if (isProfile(value)) return value;
  throw new Error('not a CPU profile');
}

function isProfile(value: unknown): value is Profile {
  return typeof value === 'object' && value !== null && 'nodes' in value && 'samples' in value && 'timeDeltas' in value;
}
