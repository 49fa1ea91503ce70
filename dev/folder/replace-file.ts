import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Writes a draft of mode 0600 and renames it: a kill in between must not lose the only copy of a secret. */
export function replaceFile(file: string, content: string): void {
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx' });
  renameSync(draft, file);
}
