import type { AccessPolicy } from '../../../crds/access-policy.ts';
import type { Box } from '../../../crds/box.ts';
import type { Client } from '../../../crds/client.ts';
import { storedLink } from '../../../crds/links.ts';
import type { Manifest } from '../../../crds/manifest-schema.ts';
import type { Group } from '../../../crds/group.ts';
import type { Resource } from '../../../crds/validate.ts';
import type { AccessPolicySpec, BoxSpec, ClientSpec, GroupSpec } from '../../../crds/specs.ts';

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
