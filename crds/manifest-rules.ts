import { accessPolicyRules } from './access-policy-rules.ts';
import { boxRules } from './box-rules.ts';
import { groupRules } from './group-rules.ts';
import { clientRules } from './client-rules.ts';
import type { Kind } from './kind.ts';
import type { ManifestOf } from './manifest-schema.ts';
import { boxNameRules, clientNameRules, groupNameRules, identityRules } from './object-rules.ts';
import type { Draft, Rule } from './rule.ts';
import { clientSpecRules } from './spec-rules.ts';
import type { AccessPolicySpec, BoxSpec, ClientSpec, GroupSpec } from './specs.ts';

/** A rule about a custom resource. */
export type ManifestRule<K extends Kind> = Rule<Draft<ManifestOf<K>>>;

interface SpecRules {
  readonly Client: readonly Rule<Draft<ClientSpec>>[];
  readonly AccessPolicy: readonly Rule<Draft<AccessPolicySpec>>[];
  readonly Box: readonly Rule<Draft<BoxSpec>>[];
  readonly Group: readonly Rule<Draft<GroupSpec>>[];
}

/** Rules whose `self` is the spec, by kind: those of the resource, and those of fields that only manifests have. */
export const specRules: SpecRules = {
  Client: [...clientRules, ...clientSpecRules],
  AccessPolicy: accessPolicyRules,
  Box: boxRules,
  Group: groupRules,
};

/** Rules whose `self` is the whole object, by kind. */
export const objectRules = {
  Client: [...clientNameRules, ...identityRules],
  AccessPolicy: identityRules,
  Box: boxNameRules,
  Group: groupNameRules,
} as const;

/** Every rule about a custom resource, by kind; paths begin at the object. */
export const manifestRules: { readonly [K in Kind]: readonly ManifestRule<K>[] } = {
  Client: [...objectRules.Client, ...specRules.Client.map((rule) => aboutSpec(rule))],
  AccessPolicy: [...objectRules.AccessPolicy, ...specRules.AccessPolicy.map((rule) => aboutSpec(rule))],
  Box: [...objectRules.Box, ...specRules.Box.map((rule) => aboutSpec(rule))],
  Group: [...objectRules.Group, ...specRules.Group.map((rule) => aboutSpec(rule))],
};

function aboutSpec<Spec>(rule: Rule<Spec>): Rule<{ spec?: Spec }> {
  return {
    ...rule,
    path: `spec.${rule.path}`,
    broken: ({ spec }, old) => (spec === undefined ? [] : rule.broken(spec, old?.spec).map((path) => `spec.${path}`)),
  };
}
