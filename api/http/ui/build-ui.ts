import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { palette } from '../../pages/palette.ts';

/** A file of the admin UI as a browser loads it. */
export interface BuiltFile {
  /** With a hash of the content, such as `ui-0123456789abcdef.js`. */
  readonly name: string;
  readonly text: string;
}

/**
 * Bundles the admin UI: one script and one style. `folder` is `api/ui` of a checkout with installed packages. Throws an
 * Error if esbuild is missing or reports one.
 */
export async function buildUi(folder: string): Promise<readonly BuiltFile[]> {
  // A package of developers: the image holds the built files.
  const { buildSync, transformSync } = await import('esbuild');
  // In one call each, without a service of esbuild that would outlive it.
  const { outputFiles } = buildSync({
    entryPoints: [path.join(folder, 'main.tsx')],
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfigRaw: '{}',
    legalComments: 'none',
    logLevel: 'silent',
  });
  const style = palette + (await readFile(path.join(folder, 'ui.css'), 'utf8'));
  const { code } = transformSync(style, { loader: 'css', minify: true });
  return [named('js', outputFiles.map(({ text }) => text).join('')), named('css', code)];
}

function named(extension: string, text: string): BuiltFile {
  return { name: `ui-${hash('sha256', text, 'hex').slice(0, 16)}.${extension}`, text };
}
