import type { Box } from '../../crds/box.ts';
import type { ApplyHead } from '../client/desired-state.ts';
import { claimHosts, holdHosts } from '../db/box/box-host.ts';
import type { Connection } from '../db/core/transaction.ts';
import type { ValidatedLine } from './plan.ts';

/**
 * Returns the lines with the Box reduced to the hosts that its box has, and the reason for the others. In a cluster
 * hosts were assigned before (`PUT /hosts`); without namespaces nobody grants them: the Box claims them.
 */
export async function withOwnHosts(
  connection: Connection,
  box: string,
  { cluster, namespace }: ApplyHead,
  lines: readonly ValidatedLine[],
): Promise<readonly ValidatedLine[]> {
  const settings = lines.find(({ resource }) => resource?.resourceType === 'Box');
  if (settings?.resource?.resourceType !== 'Box') return lines;
  const { resource } = settings;
  if (namespace === undefined) await claimHosts(connection, box, cluster, resource.hosts ?? []);
  const held = resource.hosts === undefined ? new Set<string>() : await holdHosts(connection, box);
  const missing = namespace === undefined ? 'belongs to another box' : 'is not assigned to this box';
  const own = ownSettings(settings, resource, held, missing);
  return lines.map((line) => (line === settings ? own : line));
}

function ownSettings(line: ValidatedLine, resource: Box, held: ReadonlySet<string>, missing: string): ValidatedLine {
  const { hosts = [], issuer, ...rest } = resource;
  const foreign = hosts.filter((host) => !held.has(host));
  if (foreign.length === 0) return line;
  const isForeignIssuer = issuer !== undefined && foreign.includes(new URL(issuer).hostname);
  const own: Box = {
    ...rest,
    hosts: hosts.filter((host) => held.has(host)),
    ...(issuer === undefined || isForeignIssuer ? {} : { issuer }),
  };
  const faults = foreign.map((host) => ({ path: 'hosts', message: `${host} ${missing}` }));
  return { ...line, resource: own, unusable: [...(line.unusable ?? []), ...faults], isPartial: true };
}
