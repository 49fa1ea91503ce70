import { isObject } from '../../../crds/path.ts';
import type { JsonObject } from '../../../crds/path.ts';
import type { Answer } from '../connection/answer.ts';

/** A record as it was read. */
export interface Loaded {
  readonly record: JsonObject;
  readonly etag: string | undefined;
  /** The custom resource that declares it, as `<namespace>/<name>`. */
  readonly managedBy: string | undefined;
}

/** Text that is typed and not saved, and the version of the record that it began from; undefined for a new record. */
export interface KeptText {
  readonly draft: unknown;
  readonly base: Loaded | undefined;
}

/** Returns the record in an answer; undefined if there is none. */
export function loadedFrom(answer: Answer): Loaded | undefined {
  if (answer.kind !== 'done' || !isObject(answer.body)) return undefined;
  const { headers, body } = answer;
  return {
    record: body,
    etag: headers.get('ETag') ?? undefined,
    managedBy: headers.get('X-Managed-By') ?? undefined,
  };
}

/** Checks whether a record has another version than the one that a text began from. */
export function isNewer({ etag }: Loaded, base: Loaded | undefined): boolean {
  return base !== undefined && strong(base.etag) !== strong(etag);
}

/** A proxy that compresses some answers weakens their tags: the version is the same (RFC 9110 §8.8.1). */
function strong(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, '');
}
