/** The files and folders (with a slash at the end) that the last table of the architecture page names. */
export function filesInLastTable(page: string): string[] {
  const rows = page
    .trimEnd()
    .split('\n')
    .reduce<string[]>((table, line) => (line.startsWith('|') ? [...table, line] : []), []);
  return rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)).filter(isPath);
}

function isPath(name: string): boolean {
  return /^(?:crds|process|api|operator|program|dev)\//.test(name);
}

/** Checks whether a file is a source file of the product, which readers look for in the architecture page. */
function isSource(file: string): boolean {
  return isPath(file) && /\.(?:ts|cjs|sql)$/.test(file);
}

/** A layer whose folders each have a row of their own. */
function isLayer(name: string): boolean {
  return name === 'api/' || name === 'operator/';
}

function isInFolder(file: string): boolean {
  return file.split('/').length > 2;
}

/**
 * Returns the differences between the table and the tree: names without a file, files whose folder has no name,
 * duplicate names.
 */
export function compareTable(named: readonly string[], files: readonly string[]): string[] {
  const sources = files.filter(isSource);
  const covers = (name: string, file: string) => (name.endsWith('/') ? file.startsWith(name) : file === name);
  const isFolderOf = (name: string, file: string) => covers(name, file) && (!isLayer(name) || !isInFolder(file));
  return [
    ...named.filter((name) => !files.some((file) => covers(name, file))).map((name) => `named, but not there: ${name}`),
    ...sources.filter((file) => !named.some((name) => isFolderOf(name, file))).map((file) => `not named: ${file}`),
    ...named.filter((name, index) => named.indexOf(name) !== index).map((name) => `named twice: ${name}`),
  ];
}
