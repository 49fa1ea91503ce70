import type { StateCache } from '../../box/state-cache.ts';
import { isIP } from 'node:net';
import type { ApiConfig } from '../../config.ts';
import { Outage } from '../../db/core/outage.ts';

/** The address of a request: the box, and the path below it. */
export interface BoxAddress {
  readonly box: string;
  /** Path and query below the box, beginning with `/`. */
  readonly url: string;
}

/** The lookups that find the box of a request. */
export interface BoxAddressing {
  /** The domain of the cluster's Services, such as `cluster.local`. */
  readonly clusterDomain: string;
  /** Finds the box with this host name by its settings, and the path of its issuer there; undefined: none. */
  boxOfHost(host: string): Promise<{ readonly box: string; readonly path: string } | undefined>;
  /** Checks whether a host name may be assigned to a box: it is not the installation's own. */
  isForeignHost(host: string): boolean;
  /** Returns the boxes of `boxgate dev`: the only one is also at the root. Elsewhere none. */
  rootBoxes(): Promise<readonly string[]>;
}

const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const wholeLabel = new RegExp(`^${label}$`);
const byPath = new RegExp(`^/boxes/(${label})(/.*|\\?.*|$)`);
/** RFC 8414 §3.1: the well-known part precedes the issuer's path. */
const wellKnown = new RegExp(
  `^(/\\.well-known/(?:oauth-authorization-server|openid-configuration))/boxes/(${label})(\\?.*|$)`,
);

/** Checks whether the host of a request, empty for none, may be assigned to a box. */
export function isForeign(host: string, { isForeignHost }: Pick<BoxAddressing, 'isForeignHost'>): boolean {
  return host !== '' && isForeignHost(host);
}

/** Finds the box of a request by its host, then by its path, then as the only box. Undefined: no such box. */
export async function addressOf(host: string, url: string, addressing: BoxAddressing): Promise<BoxAddress | undefined> {
  if (isForeign(host, addressing)) {
    const found = await addressByHost(host, url, addressing);
    if (found !== undefined) return found;
  }
  const pathAddress = addressByPath(url);
  if (pathAddress !== undefined) return pathAddress;
  const [root, ...others] = await addressing.rootBoxes();
  return root === undefined || others.length > 0 ? undefined : { box: root, url };
}

async function addressByHost(host: string, url: string, addressing: BoxAddressing): Promise<BoxAddress | undefined> {
  if (isBelowSvc(host, addressing.clusterDomain)) {
    const box = serviceBox(host, addressing.clusterDomain);
    return box === undefined ? undefined : { box, url };
  }
  const claim = await addressing.boxOfHost(host);
  if (claim === undefined) return undefined;
  // A path that names a box stands for no other one, whatever issuer the box of the host has chosen: a gateway that
  // asks by path passes on the Host that its caller sent.
  const isOfAnother = (addressByPath(url)?.box ?? claim.box) !== claim.box;
  return { box: claim.box, url: isOfAnother ? url : belowIssuer(url, claim.path) };
}

const documents = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];

/** Returns the path below an issuer with a path; metadata is also at the place that RFC 8414 §3.1 gives it. */
function belowIssuer(url: string, path: string): string {
  if (path === '') return url;
  const document = documents.find((name) => isAt(url, name + path));
  if (document !== undefined) return document + url.slice(document.length + path.length);
  if (url.startsWith(`${path}/`)) return url.slice(path.length);
  return isAt(url, path) ? `/${url.slice(path.length)}` : url;
}

/** Checks whether a URL is this path, with or without a query. */
function isAt(url: string, path: string): boolean {
  return url === path || url.startsWith(`${path}?`);
}

/** Finds the box in the path `/boxes/<box>/…`, or in RFC 8414's form of it. */
export function addressByPath(url: string): BoxAddress | undefined {
  if (url.startsWith('/boxes/')) {
    const [, box, rest] = byPath.exec(url) ?? [];
    if (box !== undefined) return { box, url: rest?.startsWith('/') === true ? rest : `/${rest ?? ''}` };
  }
  const [, document, box, query] = url.startsWith('/.well-known/') ? (wellKnown.exec(url) ?? []) : [];
  return document === undefined || box === undefined ? undefined : { box, url: document + (query ?? '') };
}

/** Finds the box in `boxgate.<namespace>.svc` with or without the cluster domain: the Service in its own namespace. */
export function serviceBox(host: string, clusterDomain: string): string | undefined {
  const suffix = host.endsWith(`.svc.${clusterDomain}`) ? `.svc.${clusterDomain}` : '.svc';
  if (!host.startsWith('boxgate.') || !host.endsWith(suffix)) return undefined;
  const box = host.slice('boxgate.'.length, -suffix.length);
  return isBoxName(box) ? box : undefined;
}

/** Checks for a name of the cluster's Services, which belong to the cluster: no Box can have one among its hosts. */
function isBelowSvc(host: string, clusterDomain: string): boolean {
  return host.endsWith('.svc') || host.endsWith(`.svc.${clusterDomain}`);
}

/** Checks whether a text can be the name of a box: a namespace's, an RFC 1123 label. */
export function isBoxName(text: string): boolean {
  return wholeLabel.test(text);
}

/** Returns the host name of a Host header, in lower case without port or final dot; undefined if it is malformed. */
export function hostName(header: string | undefined): string | undefined {
  if (header === undefined || header.length > 262) return undefined;
  const [, name] = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?)(?::\d{1,5})?$/i.exec(header) ?? [];
  return name?.toLowerCase().replace(/\.$/, '');
}

/** The known boxes: an unknown one is answered as a missing path before anything else is checked. */
export interface KnownBoxes {
  /** Checks whether a box is known to exist, without a statement; if false, use {@link KnownBoxes.exists}. */
  isKnown(box: string): boolean;
  /** Checks whether a box exists. Throws Outage. */
  exists(box: string): Promise<boolean>;
}

/** Creates the set of boxes found so far that are still in memory. A box that was not found is looked up again. */
export function createKnownBoxes(states: Pick<StateCache, 'decide' | 'holds'>): KnownBoxes {
  const known = new Set<string>();
  return {
    isKnown: (box) => known.has(box) && states.holds(box),
    async exists(box) {
      if (known.has(box) && states.holds(box)) return true;
      const found = await states.decide(box, async () => true);
      if (found === true) known.add(box);
      return found === true;
    },
  };
}

/** The lookups of one database. */
interface Lookups {
  readonly boxOfHost: BoxAddressing['boxOfHost'];
  readonly rootBoxes: BoxAddressing['rootBoxes'];
}

/** Creates the addressing of an installation's boxes from its settings and its databases. */
export function boxAddressing<D extends Lookups>(
  config: Pick<ApiConfig, 'clusterDomain' | 'publicUrl' | 'standalone'>,
  databases: { readonly home: D; readonly all: readonly D[]; readonly find: (box: string) => D },
): BoxAddressing {
  const own = new Set([new URL(config.publicUrl).hostname, 'localhost', 'boxgate-api']);
  return {
    clusterDomain: config.clusterDomain,
    isForeignHost: (host) => !own.has(host) && isIP(host.replace(/^\[|\]$/g, '')) === 0,
    boxOfHost: (host) => boxOfHost(host, databases),
    rootBoxes: config.standalone
      ? async () => (await Promise.all(databases.all.map((database) => database.rootBoxes()))).flat()
      : () => Promise.resolve([]),
  };
}

/**
 * Finds the box of a host: the home database says which one has it, and that one's own database confirms it. While the
 * home database is away, the own ones say so alone. Throws Outage.
 */
async function boxOfHost<D extends Lookups>(
  host: string,
  { home, all, find }: { readonly home: D; readonly all: readonly D[]; readonly find: (box: string) => D },
): ReturnType<Lookups['boxOfHost']> {
  const others = all.filter((database) => database !== home);
  try {
    const claim = await home.boxOfHost(host);
    if (claim === undefined || find(claim.box) === home) return claim;
    const own = await find(claim.box).boxOfHost(host);
    return own?.box === claim.box ? own : undefined;
  } catch (error) {
    if (!(error instanceof Outage)) throw error;
    const found = await Promise.all(others.map((other) => other.boxOfHost(host).catch(() => undefined)));
    const claim = found.find((one) => one !== undefined);
    if (claim === undefined) throw error;
    return claim;
  }
}

/** Checks whether the path of a URL is text: ASCII (RFC 3986 §2) that decodes as UTF-8 without control characters. */
export function isTextPath(url: string): boolean {
  const path = pathOf(url);
  if (plain.test(path)) return true;
  try {
    return ascii.test(path) && !/\p{Cc}/u.test(decodeURIComponent(path));
  } catch {
    return false;
  }
}

const plain = /^[A-Za-z0-9/$._~-]*$/;
const ascii = /^[\x21-\x7e]*$/;

/**
 * Returns a path in its one normal form (RFC 3986 §6.2.2): no needless escapes, upper-case digits in the others, no
 * query. Two spellings of one id are one path to a policy.
 */
export function normalPath(url: string): string {
  const path = pathOf(url);
  if (!path.includes('%')) return path;
  return path.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const sign = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(sign) ? sign : escape.toUpperCase();
  });
}

function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  return end < 0 ? url : url.slice(0, end);
}
