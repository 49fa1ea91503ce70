import { HOST_NAME } from '../../crds/fields.ts';
import { grantCommand } from './namespace-annotations.ts';
import type { HostGrants, RefusedHost } from './source.ts';

/** The annotation of a Namespace by which an admin grants hosts to its box. */
export const HOSTS_ANNOTATION = 'boxgate.dev/hosts';

/** The hosts that the Box of a namespace claims, and what its Namespace grants. */
export interface HostClaim {
  readonly box: string;
  readonly uid: string;
  /** Sortable by age as text: of two claims the older one wins. */
  readonly created: string;
  readonly hosts: readonly string[];
  readonly granted: readonly string[];
}

/** Decides by box which hosts it gets: granted ones, and of two boxes that claim a host the older one gets it. Pure. */
export function validateHosts(claims: readonly HostClaim[], publicHost: string): ReadonlyMap<string, HostGrants> {
  const holders = new Map<string, string>();
  const verdicts = new Map<string, HostGrants>();
  for (const claim of [...claims].sort(byAge)) verdicts.set(claim.box, verdictOf(claim, holders, publicHost));
  return verdicts;
}

/** Returns the hosts that an annotation grants, separated by commas or blanks. */
export function grantedHosts(annotation: string | undefined): readonly string[] {
  return (annotation ?? '').split(/[\s,]+/).filter((host) => host !== '');
}

const hostName = new RegExp(HOST_NAME);

/** Returns the host names among texts, in lower case, without those that no box gets. */
export function assignableHosts(texts: readonly string[], publicHost: string): readonly string[] {
  const hosts = new Set(texts.map((text) => text.toLowerCase()));
  return [...hosts].filter((host) => host.length <= 253 && hostName.test(host) && !isOurs(host, publicHost));
}

/** Returns a verdict without the hosts that the API could not assign, because a box of another cluster has them. */
export function withoutTaken({ allowed, refused }: HostGrants, hosts: readonly string[]): HostGrants {
  const lost = allowed.filter((host) => hosts.includes(host));
  if (lost.length === 0) return { allowed, refused };
  return { allowed: allowed.filter((host) => !lost.includes(host)), refused: [...refused, ...lost.map(taken)] };
}

function byAge(one: HostClaim, other: HostClaim): number {
  const [first, second] = [`${one.created} ${one.uid}`, `${other.created} ${other.uid}`];
  return first < second ? -1 : first > second ? 1 : 0;
}

function verdictOf({ box, hosts, granted }: HostClaim, holders: Map<string, string>, publicHost: string): HostGrants {
  const grants = new Set(granted.map((host) => host.toLowerCase()));
  const allowed: string[] = [];
  const refused: RefusedHost[] = [];
  for (const host of new Set(hosts.map((one) => one.toLowerCase()))) {
    const why = isOurs(host, publicHost) ? ours(host) : grants.has(host) ? undefined : notGranted(host, box);
    const refusal = why ?? (holders.has(host) ? taken(host) : undefined);
    if (refusal !== undefined) refused.push(refusal);
    else {
      holders.set(host, box);
      allowed.push(host);
    }
  }
  return { allowed, refused };
}

/** Checks for names of the installation, which lead to every box: nobody gets one of them, even if it is granted. */
function isOurs(host: string, publicHost: string): boolean {
  return host === publicHost.toLowerCase() || /\.svc(\.|$)/.test(host);
}

function ours(host: string): RefusedHost {
  return { host, reason: 'HostNotGranted', message: `${host} is a name of the installation or of the cluster` };
}

function notGranted(host: string, box: string): RefusedHost {
  const command = grantCommand(box, HOSTS_ANNOTATION, [host]);
  return { host, reason: 'HostNotGranted', message: `the namespace does not grant ${host} (an admin may: ${command})` };
}

function taken(host: string): RefusedHost {
  return { host, reason: 'HostConflict', message: `another box has ${host}` };
}
