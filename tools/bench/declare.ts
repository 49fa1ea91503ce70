import { createHash } from 'node:crypto';
import type { ApplyHead, DeclareLine, RowName } from '../../api/client/desired-state.ts';
import { createManagement } from '../../api/client/management.ts';
import { Secret } from '../../api/client/secret.ts';

/** A resource and what it is called. */
export interface Declared extends RowName {
  readonly resource: DeclareLine['resource'];
}

/** A management port, and a key that it accepts. */
export interface ManagementPort {
  readonly port: number;
  readonly key: string;
}

/** The cluster that declares everything. */
export const cluster = 'bench';

/**
 * Declares these resources in a box, and no others unless the head of the call says so, as the operator would. Throws
 * unless each was created.
 */
export async function declare(
  { port, key }: ManagementPort,
  box: string,
  resources: readonly Declared[],
  head: Partial<ApplyHead> = {},
): Promise<void> {
  const management = createManagement({ url: `http://127.0.0.1:${port}`, key: new Secret(key) });
  const { signal } = new AbortController();
  const whole = { cluster, epoch: await management.claimEpoch(cluster, signal), complete: true, ...head };
  const results = await management.apply({ box, head: whole, lines: resources.map(declareLine) }, signal);
  const refused = results.filter(({ result }) => result !== 'created');
  if (refused.length > 0) throw new Error(`not created: ${JSON.stringify(refused)}`);
}

/** Returns the line of an apply call that declares a resource. */
export function declareLine({ kind, id, resource }: Declared): DeclareLine {
  const digest = createHash('sha256').update(JSON.stringify(resource)).digest('hex');
  return { kind, id, owner: { name: `bench/${id}`, uid: `bench-${kind}-${id}` }, digest, resource };
}
