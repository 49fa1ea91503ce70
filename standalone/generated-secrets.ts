import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Secret } from '../api/client/secret.ts';
import { generateClientSecret, isGeneratedSecret } from '../api/credentials/secret-text.ts';
import { secretEntries } from '../operator/generated-secret.ts';
import type { ResolvedSecret } from '../operator/resolve-secret.ts';
import type { SecretKeeper, SecretWish } from '../operator/secret-keeper.ts';

/** Generated secrets in files. */
export interface SecretFiles extends SecretKeeper {
  /** The file of a generated secret, if it is the body of a token request as it is. */
  tokenRequest(box: string, secret: string): string | undefined;
}

/** What this process has read or written; small, for there may be ten thousand. */
interface Kept {
  readonly client: string;
  readonly value: Secret;
  /** Tells whether the file would say something else now. */
  readonly mark: string;
  readonly isRequest: boolean;
}

/** Milliseconds of writing after which other work gets its turn. */
const turn = 20;

/**
 * Keeps generated secrets below `root` as `<box>/<secret>.json`, mode 0600: there again in the next run. Such a file is
 * the body of a token request (JSON form) with whatever else an application has to know. An empty `<secret>.json.released`
 * beside it says that it stays though no object wants it.
 */
export function createSecretFiles(root: string): SecretFiles {
  /** By box, and in it by the name of the Secret. */
  const boxes = new Map<string, Map<string, Kept>>();
  const fileOf = (box: string, secret: string): string => path.join(root, box, `${secret}.json`);
  const markOf = (box: string, secret: string): string => `${fileOf(box, secret)}.released`;
  const keptOf = (box: string): Map<string, Kept> => {
    const kept = boxes.get(box) ?? new Map<string, Kept>();
    boxes.set(box, kept);
    return kept;
  };

  function resolve(file: string, wish: SecretWish, kept: Map<string, Kept>): ResolvedSecret {
    const known = kept.get(wish.secret);
    if (known !== undefined && known.client !== wish.client) {
      const message = `Secret ${wish.secret} belongs to Client ${known.client}; give generateSecret.name another one`;
      return { state: 'missing', reason: 'SecretNotOwned', message };
    }
    const isThere = statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
    const text = isThere && known === undefined ? readFileSync(file, 'utf8') : undefined;
    const value = (isThere ? (known?.value ?? secretIn(text)) : undefined) ?? new Secret(generateClientSecret());
    const content = contentOf(wish, value);
    const mark = hash('sha256', content, 'buffer').toString('base64url', 0, 9);
    if (!isThere) writeFileSync(file, content, { mode: 0o600, flag: 'wx' });
    else if (known?.mark !== mark && text !== content) replaceFile(file, content);
    kept.set(wish.secret, { client: wish.client, value, mark, isRequest: isTokenRequest(wish) });
    return { state: 'ready', value };
  }

  return {
    tokenRequest(box, secret) {
      return keptOf(box).get(secret)?.isRequest === true ? fileOf(box, secret) : undefined;
    },
    async keep(box, wishes, signal) {
      const resolved = new Map<string, ResolvedSecret>();
      mkdirSync(path.join(root, box), { recursive: true, mode: 0o700 });
      let began = performance.now();
      for (const wish of wishes) {
        if (wish.adopt) rmSync(markOf(box, wish.secret), { force: true });
        resolved.set(wish.client, resolve(fileOf(box, wish.secret), wish, keptOf(box)));
        if (performance.now() - began < turn) continue;
        await setImmediate(undefined, { signal });
        began = performance.now();
      }
      return resolved;
    },
    async names(box) {
      const files = new Set(listed(path.join(root, box)));
      const kept = [...files].filter((name) => name.endsWith('.json') && !files.has(`${name}.released`));
      return kept.map((name) => name.slice(0, -5));
    },
    async release(box, names) {
      for (const name of names) {
        keptOf(box).delete(name);
        writeFileSync(markOf(box, name), '', { mode: 0o600 });
      }
    },
    async forget(box, names) {
      for (const name of names) {
        keptOf(box).delete(name);
        rmSync(fileOf(box, name), { force: true });
        rmSync(markOf(box, name), { force: true });
      }
    },
  };
}

function isTokenRequest({ grants, template }: SecretWish): boolean {
  return template === undefined && grants.includes('client_credentials');
}

function contentOf(wish: SecretWish, value: Secret): string {
  const entries = Object.fromEntries(secretEntries(wish.template, wish.facts, value.reveal()));
  const content = isTokenRequest(wish) ? { grant_type: 'client_credentials', ...entries } : entries;
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** A generated secret carries a checksum: half of one, left by a kill, is none. */
function secretIn(text: string | undefined): Secret | undefined {
  const found = text?.match(/bgs_[A-Za-z0-9_-]+/g)?.find(isGeneratedSecret);
  return found === undefined ? undefined : new Secret(found);
}

/** Written aside first: a kill in between must not lose the only copy of the secret. */
function replaceFile(file: string, content: string): void {
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, content, { mode: 0o600, flag: 'wx' });
  renameSync(draft, file);
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
