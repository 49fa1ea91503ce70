import { accessPolicyRows } from './access-policies.ts';
import { groupRows } from './groups.ts';
import { boxRows } from './boxes.ts';
import { boxScopeRows } from './box-scopes.ts';
import { clientGrantRows } from './client-grants.ts';
import { clientIdentityRows } from './client-identity.ts';
import { clientKubernetesRows } from './client-kubernetes.ts';
import { redirectUriRows } from './redirect-uris.ts';
import type { Row } from './row.ts';
import { validFalseRows } from './valid-false.ts';

/**
 * Good and bad objects with their verdicts. Whoever validates objects is run against it: our own check, and an API
 * server that has the CRDs (refused: the request fails and the message names the path; valid-false and accepted: it
 * does not).
 */
export const table: readonly Row[] = [
  ...clientGrantRows,
  ...redirectUriRows,
  ...clientIdentityRows,
  ...clientKubernetesRows,
  ...accessPolicyRows,
  ...boxRows,
  ...groupRows,
  ...boxScopeRows,
  ...validFalseRows,
];
