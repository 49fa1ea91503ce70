import { API_GROUP } from '../../../crds/kind.ts';
import type { SecretWish } from '../../secrets/keeper.ts';
import { MANAGED_BY } from '../client/names.ts';
import { CLIENT_ID } from './body.ts';
import type { SecretContent, SecretOwner } from './stored-secret.ts';

/**
 * Ownership of a Secret. `ours`: this very Client has it. `released`: it was a retained client's, which this one takes
 * over, or that of the earlier object whose row it inherits. Otherwise the reason why it is not touched.
 */
export type Ownership = 'ours' | 'released' | { readonly refused: string };

/** Decides by uid who owns the Secret that a Client wants generated: a Client of its name may be another one. */
export function ownership({ owners, labels, annotations }: SecretContent, wish: SecretWish): Ownership {
  const controller = controllerOf(owners);
  const isReleased = isManaged(labels) && annotations[CLIENT_ID] === wish.facts.client_id;
  if (controller === undefined) {
    if ((wish.adopt || wish.inherits) && isReleased) return 'released';
    if (!isReleased) return { refused: `Secret ${wish.secret} exists, and was not generated for this client` };
    return {
      refused: `Secret ${wish.secret} was generated for a client of this ID and belongs to nobody, as after a restore: spec.adoption: IfUnowned of the Client takes it over with its value`,
    };
  }
  if (!isClient(controller))
    return { refused: `Secret ${wish.secret} belongs to ${controller.kind} ${controller.name}` };
  if (controller.uid === wish.uid) return 'ours';
  const isEarlier = controller.name === wish.client;
  if (isEarlier && wish.inherits && isReleased) return 'released';
  const owner = isEarlier ? `an earlier Client ${controller.name}, which is gone` : `Client ${controller.name}`;
  return { refused: `Secret ${wish.secret} belongs to ${owner}` };
}

/** Returns the uid of the Client that a Secret belongs to. */
export function clientOf({ owners }: Pick<SecretContent, 'owners'>): string | undefined {
  const controller = controllerOf(owners);
  return controller !== undefined && isClient(controller) ? controller.uid : undefined;
}

function controllerOf(owners: readonly SecretOwner[]): SecretOwner | undefined {
  return owners.find(({ controller }) => controller);
}

function isClient({ apiVersion, kind }: SecretOwner): boolean {
  return kind === 'Client' && apiVersion.startsWith(`${API_GROUP}/`);
}

function isManaged(labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(MANAGED_BY).every(([key, value]) => labels[key] === value);
}
