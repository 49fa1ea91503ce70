import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Writes a file of mode 0600 aside and moves it into place: a kill in between must not lose the only copy of a secret. */
export function replaceFile(file: string, content: string): void {
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx' });
  renameSync(draft, file);
}
