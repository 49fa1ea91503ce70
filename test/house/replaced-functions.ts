import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * The functions whose text in a migration a diff changes although a later migration makes them anew, as
 * `schema.name in file`: such a change breaks nothing. Throws where a hunk does not apply.
 */
export function replacedFunctions(diff: string, migrations: string): readonly string[] {
  return diff.split(/^diff --git /m).flatMap((part) => {
    const file = /^--- a\/(.+)$/m.exec(part)?.[1] ?? '';
    if (path.relative(migrations, path.dirname(file)) !== '' || !file.endsWith('.sql')) return [];
    const text = readFileSync(file, 'utf8');
    const later = globSync('*.sql', { cwd: migrations }).filter((name) => name > path.basename(file));
    const anew = new Set(later.flatMap((name) => madeIn(readFileSync(path.join(migrations, name), 'utf8'))));
    return changedFunctions(part, text)
      .filter((name) => anew.has(name))
      .map((name) => `${name} in ${path.basename(file)}`);
  });
}

const made = /^CREATE (?:OR REPLACE )?FUNCTION ([\w.]+)/gm;

function madeIn(sql: string): string[] {
  return [...sql.matchAll(made)].map(([, name = '']) => name);
}

/** A change stands in the function whose beginning is the nearest above it. */
function changedFunctions(part: string, text: string): readonly string[] {
  const [, ...hunks] = part.split(/^@@.*\n/m);
  return hunks.flatMap((hunk) => {
    const lines = hunk.split('\n').filter((line) => /^[ +-]/.test(line));
    const before = lines.filter((line) => !line.startsWith('+')).map((line) => `${line.slice(1)}\n`);
    const start = text.indexOf(before.join(''));
    if (start < 0) throw new Error(`a hunk does not apply: ${hunk}`);
    const context = lines.findIndex((line) => !line.startsWith(' '));
    const changed = start + before.slice(0, context + 1).join('').length;
    return madeIn(text.slice(0, changed)).slice(-1);
  });
}
