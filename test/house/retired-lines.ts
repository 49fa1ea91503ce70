const created = /^CREATE (?:OR REPLACE )?FUNCTION ([\w.]+)/;
const createdOrDropped = /^(?:CREATE (?:OR REPLACE )?|DROP )FUNCTION ([\w.]+)/;

/**
 * Finds the lines of migrations, given in their order, that belong to a function which a later migration creates again
 * or drops: they are run, but a change to them changes nothing that stays. Returns the indexes of these lines by
 * migration.
 */
export function retiredLines(migrations: readonly (readonly string[])[]): ReadonlySet<number>[] {
  return migrations.map((lines, n) => {
    const later = new Set(
      migrations
        .slice(n + 1)
        .flat()
        .map((line) => createdOrDropped.exec(line)?.[1]),
    );
    const retired = new Set<number>();
    let current: string | undefined;
    for (const [at, line] of lines.entries()) {
      current = created.exec(line)?.[1] ?? current;
      if (current !== undefined && later.has(current)) retired.add(at);
      if (line.endsWith('$$;')) current = undefined;
    }
    return retired;
  });
}
