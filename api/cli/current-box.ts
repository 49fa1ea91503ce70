import { isObject, parseJson } from '../../crds/path.ts';
import type { Environment } from '../../program/environment.ts';
import { usageError } from './cli-error.ts';
import type { OptionValues } from './option-values.ts';
import { issuerInCluster, kubeContext } from './kubectl.ts';
import type { Kubectl } from './kubectl.ts';
import type { State } from './state-file.ts';

/** The current box, and where each part of its address was found. */
export interface BoxAddress {
  readonly box: string;
  readonly boxFrom: string;
  /** The URL that was found: of the installation, or of the box alone. Without a slash at its end. */
  readonly server: string;
  readonly serverFrom: string;
  /** Base URL of the box. */
  readonly base: string;
  /** Public URL of the installation; undefined if the box has a host of its own, and only that was found. */
  readonly installation: string | undefined;
}

const KUBE_NAMESPACE = 'the namespace of the kube context';

/** Names of namespaces (RFC 1123 labels). */
const BOX = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Places besides the command line and the environment in which the current box may be found. */
export interface Whereabouts {
  readonly state: State;
  readonly home: string;
  /** The cluster of the kube context. */
  readonly kubectl: Kubectl;
  /** True for the kubectl plugin, whose box is always one of the cluster. */
  readonly isPlugin: boolean;
}

/**
 * Finds the current box: `--box`, `BOXCTL_BOX`, a server that is the address of a box, the namespace of the current
 * kube context, then `boxctl box use`; and its installation: `--server`, `BOXCTL_SERVER`, the status of the Box in the
 * kube context, then `boxctl box use` or `boxctl login`. Throws CliError if either is missing or malformed.
 */
export async function currentBox(
  values: OptionValues,
  environment: Environment,
  { state, home, kubectl, isPlugin }: Whereabouts,
): Promise<BoxAddress> {
  const kept = await state.read();
  const context = await kubeContext(environment, home);
  const given = firstOf([
    [values['server'], '--server'],
    [environment['BOXCTL_SERVER'], 'BOXCTL_SERVER'],
  ]);
  const target = given && (await serverTarget(...given));
  const [name, boxFrom] =
    firstOf([
      [values['box'], '--box'],
      [environment['BOXCTL_BOX'], 'BOXCTL_BOX'],
      [target?.box, given?.[1] ?? ''],
      [context?.namespace ?? (isPlugin ? 'default' : undefined), KUBE_NAMESPACE],
      [kept.box, 'boxctl box use'],
    ]) ?? fail('which box? Give --box, set BOXCTL_BOX, or choose one with `boxctl box use <box>`');
  if (given !== undefined && target?.base !== undefined) return atBase(target.base, given[1], name, boxFrom);
  const box = name === kept.box && kept.base !== undefined ? name : boxName(name, boxFrom);
  const keptBase = kept.box === box ? kept.base : undefined;
  if (given === undefined && (isPlugin || context !== undefined)) {
    const hasOther = keptBase !== undefined || kept.server !== undefined;
    const base = await (isPlugin ? issuerInCluster(kubectl, box) : issuerIfAnswered(kubectl, box, hasOther));
    if (base !== undefined) return atBase(base, 'the status of the Box', box, boxFrom);
  }
  if (given === undefined && keptBase !== undefined) return atBase(keptBase, 'boxctl login', box, boxFrom);
  const url =
    target?.installation ??
    kept.server ??
    fail('which installation? Give --server, set BOXCTL_SERVER, or run `boxctl login --server <public URL>`');
  const serverFrom = given?.[1] ?? 'boxctl box use';
  return { box, boxFrom, server: url, serverFrom, base: baseIn(url, box), installation: url };
}

/** A server: an installation, perhaps with the name of a box in it, or a box that has a host of its own. */
export interface ServerTarget {
  readonly installation?: string;
  readonly box?: string;
  readonly base?: string;
}

/**
 * Returns what a URL is the address of: an installation, or a box, below an installation or on a host of its own. Only
 * a box answers with the URL as its issuer. Throws CliError; `from` says where the URL was given.
 */
export async function serverTarget(text: string, from: string): Promise<ServerTarget> {
  const url = serverUrl(text, from);
  const [, installation, box] = /^(.*)\/boxes\/([^/]+)$/.exec(url) ?? [];
  if (installation !== undefined && box !== undefined) return { installation, box };
  return (await isIssuer(url)) ? { base: url, box: new URL(url).host } : { installation: url };
}

/** Checks whether the metadata of a box (RFC 8414 §3) name this URL. A server that does not answer is told later. */
async function isIssuer(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(PATIENCE.withOther);
    const response = await fetch(`${url}/.well-known/oauth-authorization-server`, { redirect: 'manual', signal });
    const metadata = parseJson(await response.text());
    return response.ok && isObject(metadata) && metadata['issuer'] === url;
  } catch {
    return false;
  }
}

/** Returns the base URL of a box of an installation that gives it no host of its own. */
function baseIn(installation: string, box: string): string {
  return `${installation}/boxes/${box}`;
}

/** Milliseconds to wait for a cluster or server: if another place names the installation, and if none does. */
const PATIENCE = { withOther: 3_000, withoutOther: 10_000 } as const;

/** Returns the issuer of a box. Without the plugin, a cluster that does not answer is one place less to look. */
function issuerIfAnswered(kubectl: Kubectl, box: string, hasOther: boolean): Promise<string | undefined> {
  // kubectl tries an API server that does not answer several times: its own time limit is for one request.
  const signal = AbortSignal.timeout(hasOther ? PATIENCE.withOther : PATIENCE.withoutOther);
  return issuerInCluster(kubectl, box, signal).catch(() => undefined);
}

function atBase(base: string, serverFrom: string, box: string, boxFrom: string): BoxAddress {
  const end = baseIn('', box);
  const installation = base.endsWith(end) ? base.slice(0, -end.length) : undefined;
  return { box, boxFrom, server: base, serverFrom, base, installation };
}

/** Returns the name if a namespace can have it; `from` says where it was given. Throws CliError. */
export function boxName(box: string, from: string): string {
  if (BOX.test(box)) return box;
  throw usageError(`${from} must be the name of a namespace: letters a to z, digits and hyphens, at most 63`);
}

/**
 * Returns the URL without a slash at its end. It must be https, or http: a token that is sent with http can be read on
 * the way. Throws CliError; `from` says where the URL was given.
 */
function serverUrl(text: string, from: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '')
    throw usageError(`${from} must be the public URL of the installation, such as https://auth.example.com`);
  return url.href.replace(/\/+$/, '');
}

type Source = readonly [value: OptionValues[string], from: string];

function firstOf(sources: readonly Source[]): readonly [string, string] | undefined {
  for (const [value, from] of sources) if (typeof value === 'string' && value !== '') return [value, from];
  return undefined;
}

function fail(message: string): never {
  throw usageError(message);
}
