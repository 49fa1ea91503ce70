/** Something that no file of the tree may hold: the pattern, why, and the files it is looked for in. */
interface Banned {
  readonly pattern: RegExp;
  readonly why: string;
  readonly files: RegExp;
}

/** Everywhere that people read: the bytes of a picture may spell anything. */
const everywhere = /(?<!\.webp)$/;
const code = /\.(?:ts|js|cjs|sql)$/;
const tests = /^test\/.*\.ts$/;

// Written so that this file does not hold what it looks for.
const banned = [
  {
    pattern: /(?<![\w.~-])\/(?:work|root|home|Users)\/[\w.-]/,
    why: 'a path of one machine: take it from a setting, or relative to the checkout',
    files: everywhere,
  },
  {
    pattern:
      /\b(?<!pod-)(?!security\.istio\.io\/v\d)(?:registry|proxy|deb|security|archive|mirrors?)\.[\w-]+\.(?:org|com|io|net|dev)\b/,
    why: 'the host of a package registry: name the package only',
    files: everywhere,
  },
  {
    pattern: /\b(?:TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b/,
    why: 'unfinished work: finish it, or leave it out',
    files: everywhere,
  },
  {
    pattern: /\b(?:describe|context|it|specify)\.(?:only|skip)\s*\(|\bthis\.skip\s*\(|\bx(?:it|describe|context)\s*\(/,
    why: 'tests are never skipped, nor run alone',
    files: tests,
  },
  {
    pattern: /@ts-(?:ignore|nocheck|expect-error)\b/,
    why: 'a type error that is silenced: say it in types',
    files: code,
  },
] as const satisfies readonly Banned[];

/** The lines of a file that may not be committed, each as `file:line: why (the text)`. */
export function findBanned(file: string, text: string): string[] {
  const patterns = banned.filter(({ files }) => files.test(file));
  return text.split('\n').flatMap((line, index) =>
    patterns.flatMap(({ pattern, why }) => {
      const found = pattern.exec(line);
      return found === null ? [] : [`${file}:${index + 1}: ${why} (${found[0]})`];
    }),
  );
}

/** Words that name no idea: a file called so collects what has no place. */
const drawers = /(?:^|[/.-])(?:utils?|helpers?|common|misc|base|manager|shared|lib|types|stuff)(?=[/.-]|$)/i;

/** The paths whose name says nothing about what is in them. Declarations of a foreign package's types are called so. */
export function findDrawers(files: readonly string[]): string[] {
  return files.filter((file) => drawers.test(file) && !file.endsWith('.d.ts'));
}
