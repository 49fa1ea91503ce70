import { isObject, type JsonObject } from '../../../crds/json-value.ts';
import { uuidText } from '../../../process/uuid-text.ts';
import { decoded } from '../login/token-show.ts';
import { cell } from '../resource/texts.ts';

/** Sessions to end, by whether the token of the caller survives it. */
export interface SeparatedSessions {
  readonly others: readonly JsonObject[];
  /** The caller's own session and those of its family: they end together, and the token with them. */
  readonly own: readonly JsonObject[];
}

/** An opaque access token: 56 bytes in base64url, of which the ID of the session is bytes 4 to 20. */
const OPAQUE = /^bgt_([A-Za-z0-9_-]{75})$/;

/** Returns the ID of the session of an access token: part of an opaque one, the `jti` of a JWT (RFC 9068 §2.2). */
export function sessionIdOf(token: string): string | undefined {
  const [, bytes] = OPAQUE.exec(token) ?? [];
  if (bytes !== undefined) return uuidText(Buffer.from(bytes, 'base64url').toString('hex', 4, 20));
  const { claims } = decoded(token);
  return isObject(claims) && typeof claims['jti'] === 'string' ? claims['jti'] : undefined;
}

/** Separates the caller's own session and its family from other sessions, each in the order given. */
export function separateOwn(sessions: readonly JsonObject[], ownId: string | undefined): SeparatedSessions {
  const parents = new Map(sessions.map(({ id, parent }) => [cell(id), parentId(parent)]));
  if (ownId === undefined || !parents.has(ownId)) return { others: sessions, own: [] };
  const family = firstOf(ownId, parents);
  const { others = [], own = [] } = Object.groupBy(sessions, ({ id }) =>
    firstOf(cell(id), parents) === family ? 'own' : 'others',
  );
  return { others, own };
}

function parentId(parent: unknown): string | undefined {
  return isObject(parent) ? cell(parent['id']) : undefined;
}

/** Returns the ID of the first session of a family, as far as its parents are known. */
function firstOf(id: string, parents: ReadonlyMap<string, string | undefined>): string {
  const passed = new Set([id]);
  let first = id;
  for (let parent = parents.get(id); parent !== undefined && !passed.has(parent); parent = parents.get(parent)) {
    passed.add(parent);
    first = parent;
  }
  return first;
}
