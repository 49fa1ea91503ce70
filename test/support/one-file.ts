import { build } from 'esbuild';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Folder that the code which Node.js has compiled is in, too. */
const folder = 'node_modules/.cache/boxgate';

const written = new Map<string, Promise<string>>();

/**
 * Writes sources, in their order, and the packages that they import as one file, once in this process. Returns its
 * path. It starts in a third of the processor time of its thousand modules. Each source knows its own place.
 */
export function oneFile(...sources: readonly string[]): Promise<string> {
  const imports = sources.map((source) => `import './${source}';`).join('\n');
  const file = written.get(imports) ?? write(imports);
  written.set(imports, file);
  return file;
}

async function write(imports: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: imports, resolveDir: '.' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // They look next to their own files for programs.
    external: ['argon2', 'esbuild', 'pg-native'],
    banner: { js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);" },
    logLevel: 'warning',
    plugins: [
      {
        name: 'places',
        setup(building) {
          building.onLoad({ filter: /\.ts$/ }, async (source) => {
            const text = await readFile(source.path, 'utf8');
            const contents = text
              .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(source.path).href))
              .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(source.path)));
            return { contents, loader: 'ts' };
          });
        },
      },
    ],
  });
  const text = outputFiles.map((file) => file.text).join('');
  const file = path.join(folder, `${hash('sha256', text, 'hex').slice(0, 16)}.mjs`);
  if (existsSync(file)) return file;
  await mkdir(folder, { recursive: true });
  // Another process may write the same one, or start it.
  const draft = `${file}.${String(process.pid)}`;
  await writeFile(draft, text);
  await rename(draft, file);
  return file;
}
