import type { AccessPolicy } from '../../../crds/access-policy.ts';
import type { Box } from '../../../crds/box.ts';
import type { Client, GrantType } from '../../../crds/client.ts';
import { storedLink } from '../../../crds/links.ts';
import type { Manifest } from '../../../crds/manifest-schema.ts';
import type { Group } from '../../../crds/group.ts';
import type { Resource } from '../../../crds/validate.ts';
import type { AccessPolicySpec, BoxSpec, ClientSpec, GroupSpec } from '../../../crds/specs.ts';
import type { Adoption } from '../desired-state.ts';

/** Treatment of a row when its object appears and when it is deleted. */
interface Lifecycle {
  /** Sort of existing row with its id that the object takes over. */
  readonly adopt: Adoption | undefined;
  /** True if its row stays, without an owner, when the object is deleted. */
  readonly retain: boolean;
  /** True if the data of its box are deleted with it. */
  readonly purge: boolean;
}

/** Shared by nearly every object: a row is deleted with its object, and another object's row is not taken over. */
export const deletedWithObject: Lifecycle = { adopt: undefined, retain: false, purge: false };
/** Nobody else can have created the row of a Box: one without an owner was retained when its kind was deleted. */
const ofBox: Lifecycle = { ...deletedWithObject, adopt: 'unowned' };
/** Default of a Group: its members are data, which no manifest that is added or removed may lose. */
const ofGroup: Lifecycle = { adopt: 'unowned', retain: true, purge: false };
const purging: Lifecycle = { ...ofBox, purge: true };

/**
 * Reads `adoption` and `deletionPolicy` (docs/guides/tenancy.md). Force takes over what IfUnowned does: the row of an
 * existing object is never taken, that of a deleted one is deleted with it, and one of another installation may be in
 * use.
 */
export function lifecycleOf({ kind, spec }: Manifest): Lifecycle {
  if (kind === 'Box') return spec.deletionPolicy === 'Delete' ? purging : ofBox;
  if (kind === 'Group') return lifecycleOfGroup(spec);
  const adopt = adoptionOf(spec.adoption);
  const retain = spec.deletionPolicy === 'Retain';
  return adopt !== undefined || retain ? { adopt, retain, purge: false } : deletedWithObject;
}

function lifecycleOfGroup({ adoption = 'IfUnowned', deletionPolicy = 'Retain' }: GroupSpec): Lifecycle {
  if (adoption === 'IfUnowned' && deletionPolicy === 'Retain') return ofGroup;
  return { adopt: adoptionOf(adoption), retain: deletionPolicy === 'Retain', purge: false };
}

function adoptionOf(adoption: 'Never' | 'IfUnowned' | 'Force' | undefined): Adoption | undefined {
  if (adoption === 'Force') return 'force';
  return adoption === 'IfUnowned' ? 'unowned' : undefined;
}

/**
 * Checks whether the client must authenticate itself and nothing else does it: for a grant (RFC 6749 §2.1, §4.4), or
 * without any grant for introspection (RFC 7662 §2.1).
 */
export function needsSecret({ grant_types, auth, jwks, jwks_uri, service_accounts }: ClientSpec): boolean {
  if (jwks !== undefined || jwks_uri !== undefined || service_accounts !== undefined) return false;
  return (
    grant_types.length === 0 ||
    grant_types.some((grant) => mustAuthenticate[grant]) ||
    (grant_types.includes('authorization_code') && auth?.authorization_code?.secret_required === true)
  );
}

/** Every grant, with true where a client that lists it must authenticate. */
const mustAuthenticate = {
  client_credentials: true,
  implicit: false,
  authorization_code: false,
  refresh_token: false,
  password: false,
  'urn:ietf:params:oauth:grant-type:token-exchange': true,
} as const satisfies Record<GrantType, boolean>;

/**
 * Returns the resource that a custom resource declares: its id, and its spec under the same names, without the fields
 * that only have a meaning for the operator. A Client's secret is added when it is sent.
 */
export function resourceOf(manifest: Manifest, box: string): Resource {
  switch (manifest.kind) {
    case 'Client':
      return clientOf(manifest.spec, manifest.metadata.name);
    case 'AccessPolicy':
      return policyOf(manifest.spec, manifest.metadata.name);
    case 'Box':
      return boxOf(manifest.spec, box);
    case 'Group':
      return groupOf(manifest.spec, manifest.metadata.name);
  }
}

function clientOf(spec: ClientSpec, name: string): Client {
  const {
    id = name,
    secret: _secret,
    secretRef: _secretRef,
    generateSecret: _generateSecret,
    rotation: _rotation,
    deletionPolicy: _deletionPolicy,
    adoption: _adoption,
    suspend: _suspend,
    ...fields
  } = spec;
  return { resourceType: 'Client', id, ...fields };
}

function policyOf(spec: AccessPolicySpec, name: string): AccessPolicy {
  const { id = name, link, deletionPolicy: _deletionPolicy, adoption: _adoption, suspend: _suspend, ...fields } = spec;
  const stored = link === undefined ? {} : { link: link.flatMap((one) => storedLink(one) ?? []) };
  return { resourceType: 'AccessPolicy', id, ...fields, ...stored };
}

function boxOf(spec: BoxSpec, box: string): Box {
  const { bootstrap_admin: _bootstrapAdmin, deletionPolicy: _deletionPolicy, suspend: _suspend, ...fields } = spec;
  return { resourceType: 'Box', id: box, ...fields };
}

function groupOf(spec: GroupSpec, objectName: string): Group {
  const {
    name = objectName,
    deletionPolicy: _deletionPolicy,
    adoption: _adoption,
    suspend: _suspend,
    ...fields
  } = spec;
  return { resourceType: 'Group', name, ...fields };
}
