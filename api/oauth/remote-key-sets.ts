import { createLocalJWKSet, errors } from 'jose';
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { Outage } from '../db/outage.ts';

/** The key sets behind the `jwks_uri` of clients, fetched from listed hosts only and kept for a while. */
export interface RemoteKeySets {
  /** Whether the host of an address is listed: of another one nobody is ever asked. */
  isListed(uri: string): boolean;
  /** The keys at an address; undefined where its host is not listed. Throws Outage when they cannot be had. */
  keys(uri: string): Promise<JWTVerifyGetKey | undefined>;
  /** Those that are there now; undefined where the host is not listed, or was asked a moment ago. Throws Outage. */
  keysAnew(uri: string): Promise<JWTVerifyGetKey | undefined>;
}

/** What fetching takes: given once. */
export interface RemoteKeySetsParts {
  /** `host` or `host:port`, as a URL has it. */
  readonly hosts: readonly string[];
  /** The text at an address; throws when there is none. */
  readonly fetchText: (url: URL) => Promise<string>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Milliseconds for which keys count without a second look. */
const keptFor = 5 * 60_000;
/** Milliseconds for which they count when their host cannot be asked. */
const keptInNeed = 60 * 60_000;
/** Milliseconds between two requests to one address, also when the first one failed: who sends forged assertions makes no more. */
const restFor = 15_000;
/** Key sets held at once; those that came first go first. */
const mostSets = 1_000;
/** Requests under way at once. */
const mostUnderWay = 32;

interface Held {
  readonly keys: JWTVerifyGetKey | undefined;
  /** When they were fetched; milliseconds. */
  readonly fetchedAt: number;
  /** When they were asked for last. */
  readonly triedAt: number;
}

/** Holds nothing yet. */
export function createRemoteKeySets({ hosts, fetchText, now }: RemoteKeySetsParts): RemoteKeySets {
  const listed = new Set(hosts);
  const held = new Map<string, Held>();
  const underWay = new Map<string, Promise<JWTVerifyGetKey>>();

  async function fetchKeys(url: URL): Promise<JWTVerifyGetKey> {
    const before = held.get(url.href);
    try {
      const keys = keysIn(await fetchText(url));
      hold(url.href, { keys, fetchedAt: now(), triedAt: now() });
      return keys;
    } catch (cause) {
      const { keys, fetchedAt } = before ?? { keys: undefined, fetchedAt: 0 };
      hold(url.href, { keys, fetchedAt, triedAt: now() });
      if (keys !== undefined && now() - fetchedAt < keptInNeed) return keys;
      throw new Outage('the keys of a client cannot be fetched', { cause });
    }
  }

  function hold(uri: string, entry: Held): void {
    held.delete(uri);
    const first = held.size >= mostSets ? held.keys().next().value : undefined;
    if (first !== undefined) held.delete(first);
    held.set(uri, entry);
  }

  /** Once for all who wait. */
  function fetchOnce(url: URL): Promise<JWTVerifyGetKey> {
    const running = underWay.get(url.href);
    if (running !== undefined) return running;
    if (underWay.size >= mostUnderWay) throw new Outage('too many keys of clients are being fetched');
    const fetching = fetchKeys(url).finally(() => underWay.delete(url.href));
    underWay.set(url.href, fetching);
    return fetching;
  }

  function isResting({ triedAt }: Held): boolean {
    return now() - triedAt < restFor;
  }

  return {
    isListed: (uri) => listedUrl(uri, listed) !== undefined,
    async keys(uri) {
      const url = listedUrl(uri, listed);
      if (url === undefined) return undefined;
      const known = held.get(url.href);
      if (known?.keys !== undefined) {
        const age = now() - known.fetchedAt;
        if (age < keptFor || (age < keptInNeed && isResting(known))) return known.keys;
      }
      if (known !== undefined && isResting(known))
        throw new Outage('the keys of a client could not be fetched just now');
      return fetchOnce(url);
    },
    async keysAnew(uri) {
      const url = listedUrl(uri, listed);
      if (url === undefined) return undefined;
      const known = held.get(url.href);
      return known !== undefined && isResting(known) ? undefined : fetchOnce(url);
    },
  };
}

/** The address, when its host is one that may be asked: https, or http on this machine. */
function listedUrl(uri: string, hosts: ReadonlySet<string>): URL | undefined {
  const url = URL.parse(uri);
  if (url === null || !hosts.has(url.host)) return undefined;
  if (`${url.username}${url.password}` !== '') return undefined;
  const isOwn = url.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || isOwn ? url : undefined;
}

function keysIn(text: string): JWTVerifyGetKey {
  const value: unknown = JSON.parse(text);
  if (!isKeySet(value)) throw new errors.JWKSInvalid();
  return createLocalJWKSet(value);
}

/** As far as it concerns us: what a key must be jose judges when it is used. */
function isKeySet(value: unknown): value is JSONWebKeySet {
  if (typeof value !== 'object' || value === null || !('keys' in value) || !Array.isArray(value.keys)) return false;
  return value.keys.every((key: unknown) => typeof key === 'object' && key !== null && 'kty' in key);
}
