import Type, { type Static } from 'typebox';
import { accessPolicyFields, accessPolicyId } from './access-policy.ts';
import { boxFields } from './box.ts';
import { groupFields, groupName } from './group.ts';
import { clientFields, clientId, inlineSecret } from './client.ts';
import {
  bootstrapAdmin,
  boxLifecycleFields,
  clientSecretFields,
  groupLifecycleFields,
  lifecycleFields,
} from './kubernetes-fields.ts';

/** `spec` of a Client. */
export const clientSpec = Type.Object(
  {
    id: Type.Optional({
      ...clientId,
      description:
        'Identifier of the client, also in its path. Not only digits. By default the name of this object. Immutable.',
    }),
    secret: Type.Optional(inlineSecret),
    ...clientFields,
    ...clientSecretFields,
    ...lifecycleFields,
  },
  { description: 'The client that is wanted.', additionalProperties: false },
);

/** `spec` of an AccessPolicy. */
export const accessPolicySpec = Type.Object(
  {
    id: Type.Optional({
      ...accessPolicyId,
      description: 'Identifier of the policy. By default the name of this object. Immutable.',
    }),
    ...accessPolicyFields,
    ...lifecycleFields,
  },
  { description: 'The policy that is wanted.', additionalProperties: false },
);

/** `spec` of a Box. */
export const boxSpec = Type.Object(
  { ...boxFields, bootstrap_admin: Type.Optional(bootstrapAdmin), ...boxLifecycleFields },
  { description: 'The settings that are wanted.', additionalProperties: false },
);

/** `spec` of a Group. */
export const groupSpec = Type.Object(
  {
    name: Type.Optional({
      ...groupName,
      description:
        'Name of the group, unique in the box; not only digits. By default the name of this object. Immutable.',
    }),
    ...groupFields,
    ...groupLifecycleFields,
  },
  {
    description: 'The group that is wanted. Its members are users of the box and are not declared.',
    additionalProperties: false,
  },
);

/** Settings that a Client declares. */
export type ClientSpec = Static<typeof clientSpec>;
/** Settings that an AccessPolicy declares; its links may have either form. */
export type AccessPolicySpec = Static<typeof accessPolicySpec>;
/** Settings that a Box declares. */
export type BoxSpec = Static<typeof boxSpec>;
/** Settings that a Group declares. */
export type GroupSpec = Static<typeof groupSpec>;
