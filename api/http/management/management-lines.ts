import { Ajv } from 'ajv';
import Type, { type Static, type TSchema } from 'typebox';
import { boxHostsCall, clusterSettingsCall, serviceAccountsCall } from '../../client/cluster.ts';
import {
  applyHead,
  compareLine,
  declareLine,
  deleteLine,
  epochClaim,
  linkedNames,
  moveCall,
  usageQuery,
  type ApplyLine,
  type DeclareLine,
} from '../../client/desired-state.ts';
import { Problem } from '../../problem.ts';

const ajv = new Ajv({ validateSchema: false });

/** Returns the reader of a body, which throws Problem `bad-request` with a message. */
function reader<Schema extends TSchema>(schema: Schema, message: string): (value: unknown) => Static<Schema> {
  const matches = ajv.compile<Static<Schema>>(schema);
  return (value) => {
    if (matches(value)) return value;
    throw new Problem('bad-request', message);
  };
}

/** Reads the body of `POST /epoch`. Throws Problem `bad-request`. */
export const parseClaim = reader(epochClaim, 'The claim must name the cluster, and may name an older one in adopts');

/** Reads the query of a call about what a cluster declares. Throws Problem `bad-request`. */
export const parseQuery = reader(usageQuery, 'The query must name the cluster; after must be the id of a client');

/** Reads the first line of an apply call. Throws Problem `bad-request`. */
export const parseHead = reader(applyHead, 'The first line must hold cluster, epoch and complete');

const isDeclare = ajv.compile<DeclareLine>(declareLine);
const compareOrRemove = reader(Type.Union([deleteLine, compareLine]), 'A line is neither declare, compare nor delete');

/** Reads one line of an apply call; its resource is validated later. Throws Problem `bad-request`. */
export function parseApplyLine(value: unknown): ApplyLine {
  return isDeclare(value) ? value : compareOrRemove(value);
}

/** Reads the body of `POST /boxes/<box>/missing-links`. Throws Problem `bad-request`. */
export const parseLinks = reader(linkedNames, 'The call must hold links: resourceType and id of each');

/** Reads the body of `POST /boxes/<box>/move`. Throws Problem `bad-request`. */
export const parseMove = reader(moveCall, 'The call must hold cluster, epoch and database');

/** Reads the body of `POST /boxes/<box>/service-accounts`. Throws Problem `bad-request`. */
export const parseServiceAccounts = reader(
  serviceAccountsCall,
  'The call must hold cluster, epoch and seen: client, namespace, name and uid',
);

/** Reads the body of `PUT /settings`. Throws Problem `bad-request`. */
export const parseSettings = reader(
  clusterSettingsCall,
  'The settings must hold cluster, epoch and service_accounts: issuer, and public keys',
);

/** Reads the body of `PUT /hosts`. Throws Problem `bad-request`. */
export const parseHosts = reader(
  boxHostsCall,
  'The call must hold cluster, epoch, default_issuers and boxes: box, granted, claimed',
);
