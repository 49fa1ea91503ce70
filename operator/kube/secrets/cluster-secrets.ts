import { randomBytes } from 'node:crypto';
import { Secret } from '../../../api/client/secret.ts';
import { generatedSecretText } from '../../../crds/generated-secret-text.ts';
import type { EventRecorder } from '../../status/events.ts';
import type { SecretKeeper } from '../../secrets/keeper.ts';
import type { ClusterSecrets } from './box-secrets.ts';
import { createClusterSecretKeeper } from './keeper.ts';
import { createSecretWatches, type SecretWatchOptions } from './watches.ts';
import { createUnlabelledSecrets } from './unlabelled-secrets.ts';

/** Secrets of a cluster: the lookups of its source, and the keeper of the generated ones. */
export interface SecretsOfCluster {
  readonly secrets: ClusterSecrets;
  readonly keeper: SecretKeeper;
}

/** Creates access to the Secrets of a cluster; `account` is the operator's ServiceAccount, as `namespace:name`. */
export function createClusterSecrets(
  listening: SecretWatchOptions,
  account: string,
  events: EventRecorder,
): SecretsOfCluster {
  const watches = createSecretWatches(listening);
  const unlabelled = createUnlabelledSecrets(listening.api, listening.now);
  const keeper = createClusterSecretKeeper({
    api: listening.api,
    watches,
    events,
    now: () => new Date(),
    generate: () => new Secret(generatedSecretText(randomBytes(32))),
    account,
  });
  return { secrets: { watches, unlabelled, account }, keeper };
}
