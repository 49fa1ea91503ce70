import { plainText } from '../../program/text.ts';
import { faultSentence, joinedSentences, type Fault } from '../../crds/fault.ts';
import type { Kind } from '../../crds/kind.ts';
import { hasNoCondition, idleRefresh, linksToNothing, nobodyLinked, opensToAll, someOf } from '../../crds/warnings.ts';
import type { Declared } from '../desired/declared.ts';
import { databaseReasons, isOfDatabase, type ReconcileResult } from './reconcile-result.ts';
import type { Condition } from './object-status.ts';
import { CONDITIONS, HOLDING_BACK, isConditionType, NEXT_STEPS, type ConditionType, type Reason } from './reasons.ts';
import { accountName, strangerAmong, type AccountState } from '../desired/declared.ts';
import { grantCommand, SECRET_METADATA_ANNOTATION } from '../desired/candidates.ts';
import { secretName } from '../secrets/resolve.ts';

/** A condition without its generation and transition time. */
export type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

type Answer = readonly [status: Condition['status'], reason: Reason, message: string];

/** Returns the conditions of an object; those that are `absent` when all is well (reasons.ts) only if true. */
export function conditionsOf(input: ReconcileResult): readonly Verdict[] {
  const verdicts = Object.entries(QUESTIONS).flatMap(([type, question]) => verdictOf(type, question(input)));
  return [ready(input, verdicts), ...verdicts];
}

const QUESTIONS = {
  Valid: valid,
  Conflict: conflict,
  Stalled: stalled,
  SecretReady: secretReady,
  Synced: synced,
  Granted: granted,
  LinksResolved: linksResolved,
  ServiceReady: serviceReady,
  InlineSecret: inlineSecret,
  NoSubjects: noSubjects,
  OpenToAll: openToAll,
  GrantsEverything: grantsEverything,
  NotInForce: withoutEffect,
  OperatorOlder: operatorOlder,
} as const satisfies Record<Exclude<ConditionType, 'Ready'>, (input: ReconcileResult) => Answer | undefined>;

function verdictOf(type: string, answer: Answer | undefined): Verdict[] {
  return answer === undefined || !isConditionType(type) ? [] : [verdict(type, answer)];
}

/**
 * Adds the next step to the message unless all is well: `kubectl describe` shows it. The message may quote a manifest,
 * whose control characters would reach a terminal.
 */
function verdict(type: ConditionType, [status, reason, text]: Answer): Verdict {
  const message = plainText(text);
  const step = status === CONDITIONS[type].well ? '' : NEXT_STEPS[reason];
  return {
    type,
    status,
    reason,
    message: step === '' ? message : `${message}${message.endsWith('?') ? '' : '.'} ${step}`,
  };
}

function ready({ desired: { validated }, refusal, apiFault }: ReconcileResult, verdicts: readonly Verdict[]): Verdict {
  if (validated.suspended) return verdict('Ready', ['Unknown', 'Suspended', 'spec.suspend is true']);
  for (const type of HOLDING_BACK) {
    const found = verdicts.find((one) => one.type === type);
    if (found !== undefined && found.status !== CONDITIONS[type].well)
      return { ...found, type: 'Ready', status: 'False' };
  }
  if (refusal !== undefined) return verdict('Ready', ['False', 'FinalizerRefused', notHeld(refusal)]);
  if (apiFault !== undefined) return verdict('Ready', ['False', 'Unavailable', `${API_AWAY}: ${apiFault}`]);
  return { type: 'Ready', status: 'True', reason: 'Ready', message: '' };
}

function notHeld(refusal: string): string {
  return `what the object declares is in force, but its deletion would not wait until it no longer is: the finalizer cannot be added: ${refusal}`;
}

const API_AWAY = 'nothing new is applied in the box, and it may issue no tokens';

function valid(input: ReconcileResult): Answer {
  const faults = faultsOf(input);
  const { object, validated } = input.desired;
  const reason = validated.isTooLarge === true ? 'TooLarge' : 'Invalid';
  if (faults.length > 0) return ['False', reason, joinedSentences(faults.map(faultSentence))];
  if (object.kind === 'AccessPolicy' && validated.newer.length > 0) {
    return ['False', 'NewerFields', `${newerFields(validated.newer)}: the policy grants nothing`];
  }
  if (typeof input.row === 'object' && input.row.result === 'quota')
    return ['False', 'QuotaExceeded', input.row.detail];
  if (object.kind === 'Box' && typeof input.row === 'object' && input.row.result === 'unknown-database')
    return ['False', 'DatabaseUnknown', input.row.detail];
  return ['True', 'Accepted', ''];
}

/** Returns all faults of an object, whether the operator or the API found them. */
export function faultsOf({ desired: { object, validated }, row, unusable }: ReconcileResult): readonly Fault[] {
  if (typeof row === 'object' && row.result === 'invalid') return row.faults;
  // An unusable part of a client is not a fault of the object: another setting of the API helps.
  if (object.kind === 'Client') return validated.faults;
  return [...validated.faults, ...unusable.filter((fault) => !isAboutHosts(fault))];
}

/** Returns the field that two objects of a kind cannot share in a box. */
function identityOf({ kind }: Declared): 'id' | 'name' {
  return kind === 'Group' ? 'name' : 'id';
}

/** Checks whether a fault of a Box is about a host that another box has. */
function isAboutHosts({ path }: Fault): boolean {
  return path === 'spec.hosts';
}

function conflict({ desired: { object, validated, loses }, row, unusable }: ReconcileResult): Answer | undefined {
  if (typeof row === 'object' && row.result === 'locked') return ['True', 'NamespaceRecreated', row.detail];
  if (loses !== undefined)
    return ['True', 'DeclaredTwice', `${loses} declares the same ${identityOf(object)} and has it`];
  if (typeof row === 'object' && row.result === 'conflict') return ['True', 'OwnedByAnother', row.detail];
  if (validated.denied !== undefined) return ['True', validated.denied.reason, validated.denied.message];
  const lost = object.kind === 'Box' ? unusable.filter(isAboutHosts) : [];
  if (lost.length > 0) return ['True', 'HostConflict', lost.map(({ message }) => message).join('; ')];
  return undefined;
}

/** Returns the condition that kstatus treats as failed instead of in progress: only a change of the object helps. */
function stalled(input: ReconcileResult): Answer | undefined {
  const [status, reason, message] = valid(input);
  // Free quota, a newer operator, or another annotation of the Namespace helps too.
  if (reason === 'QuotaExceeded' || reason === 'NewerFields' || reason === 'DatabaseUnknown') return undefined;
  return status === 'False' ? ['True', reason, message] : undefined;
}

/** Kinds whose objects never have a secret. */
const withoutSecrets: readonly Kind[] = ['AccessPolicy', 'Group'];

function secretReady(input: ReconcileResult): Answer | undefined {
  const { object, validated, secret } = input.desired;
  if (validated.faults.length > 0 || withoutSecrets.includes(object.kind)) return undefined;
  if (object.kind === 'Box' && validated.secret.from === 'nowhere') return undefined;
  // The secret is neither checked nor rotated; the one in its Secret stays in use.
  if (validated.suspended && validated.secret.from === 'generated')
    return ['Unknown', 'Suspended', 'spec.suspend is true'];
  if (secret.state === 'missing') return ['False', secret.reason, secret.message];
  const stranger = strangerAmong(input.accounts);
  if (stranger !== undefined) return lostAccount(stranger, object);
  switch (validated.secret.from) {
    case 'nowhere':
      return withoutSecret(input);
    case 'inline':
      return ['True', 'SecretInline', ''];
    case 'reference':
      return ['True', 'SecretFound', `Secret ${secretName(validated.secret, object.name) ?? ''}`];
    case 'generated':
      return ['True', 'SecretGenerated', `Secret ${secretName(validated.secret, object.name) ?? ''}`];
  }
}

/** Reports a missing pinned ServiceAccount, whatever else authenticates the client, and how to accept another. */
function lostAccount({ index, seen, uid, ...account }: AccountState, { name, namespace }: Declared): Answer {
  const which = `ServiceAccount ${accountName(account)}`;
  if (typeof seen !== 'string')
    return ['False', 'ServiceAccountDeleted', `${which} (uid ${uid}) was deleted, or never existed`];
  const patch = JSON.stringify([{ op: 'add', path: `/spec/service_accounts/${String(index)}/uid`, value: seen }]);
  const command = `kubectl patch client ${name} -n ${namespace} --type=json -p '${patch}'`;
  return [
    'False',
    'ServiceAccountRecreated',
    `${which} was created again, or never had the uid ${uid}, and has no access (to accept it: ${command})`,
  ];
}

/** Returns the condition of a client with keys or ServiceAccounts, or of a public client. */
function withoutSecret(input: ReconcileResult): Answer {
  if (input.servesServiceAccounts) return ['True', 'SecretNotNeeded', ''];
  if (input.desired.validated.serviceAccounts === 'alone') return ['False', 'ServiceAccountsNotServed', NOT_SERVED];
  const unlisted = unlistedHost(input);
  return unlisted === undefined ? ['True', 'SecretNotNeeded', ''] : ['False', 'JwksHostNotListed', unlisted];
}

/** Returns why no keys are fetched from the `jwks_uri` of a client; undefined if nothing prevents it. */
function unlistedHost({ desired: { validated }, unusable }: ReconcileResult): string | undefined {
  const { traits } = validated;
  if (traits.kind !== 'Client' || !traits.hasJwksUri || unusable.length === 0) return undefined;
  return joinedSentences(unusable.map(faultSentence));
}

const NOT_SERVED =
  'nothing here says who makes the tokens of ServiceAccounts, so that none of them authenticates the client';

function synced({ desired: { object, validated, loses, secret }, row }: ReconcileResult): Answer {
  if (validated.suspended) return ['Unknown', 'Suspended', 'spec.suspend is true'];
  if (validated.faults.length > 0) return ['False', 'Rejected', 'the object is not valid'];
  if (loses !== undefined) return ['False', 'Rejected', `the ${identityOf(object)} belongs to ${loses}`];
  if (typeof row === 'object' && row.result === 'failed')
    return ['False', 'NotApplied', `it could not be applied: ${row.detail}`];
  if (isOfDatabase(row)) return ['False', databaseReasons[row.result], row.detail];
  if (typeof row === 'object') return ['False', 'Rejected', row.detail];
  if (row === 'applied') return ['True', 'Applied', ''];
  if (row === 'unreachable') return ['False', 'Unavailable', 'it could not be applied; it is tried again'];
  return ['False', 'Waiting', secret.state === 'missing' ? secret.message : 'not applied yet'];
}

function granted({ desired: { validated }, policies }: ReconcileResult): Answer | undefined {
  // Access of users through other clients depends on the policies of these users.
  if (validated.traits.kind !== 'Client' || !validated.traits.grants.includes('client_credentials')) return undefined;
  if (policies === 0)
    return [
      'False',
      'NoPolicy',
      'no declared AccessPolicy concerns this client: the endpoints of the box refuse its own tokens',
    ];
  return ['True', 'PolicyLinked', policies === 1 ? '1 policy' : `${policies} policies`];
}

function linksResolved({ desired: { validated }, dangling }: ReconcileResult): Answer | undefined {
  if (validated.traits.kind !== 'AccessPolicy') return undefined;
  const said = linksToNothing(dangling);
  return said === undefined ? ['True', 'AllFound', ''] : ['False', 'DanglingLinks', said];
}

function serviceReady({ service }: ReconcileResult): Answer | undefined {
  if (service === undefined) return undefined;
  if (service.state === 'missing') return ['False', service.reason, service.message];
  return ['True', 'ServiceCreated', ''];
}

function inlineSecret({ desired: { validated } }: ReconcileResult): Answer | undefined {
  if (validated.secret.from !== 'inline') return undefined;
  return ['True', 'SecretInManifest', 'spec.secret is for development only'];
}

function noSubjects({ desired: { validated } }: ReconcileResult): Answer | undefined {
  const { traits } = validated;
  const said = traits.kind === 'AccessPolicy' ? nobodyLinked(traits, 'spec.') : undefined;
  return said === undefined ? undefined : ['True', 'NobodyLinked', said];
}

function openToAll({ desired: { validated } }: ReconcileResult): Answer | undefined {
  const { traits } = validated;
  const said = traits.kind === 'AccessPolicy' ? opensToAll(traits) : undefined;
  return said === undefined ? undefined : ['True', 'GrantsEverybody', said];
}

function grantsEverything({ desired: { validated } }: ReconcileResult): Answer | undefined {
  const { traits } = validated;
  const said = traits.kind === 'AccessPolicy' ? hasNoCondition(traits) : undefined;
  return said === undefined ? undefined : ['True', 'NoCondition', said];
}

function operatorOlder({ desired: { object, validated } }: ReconcileResult): Answer | undefined {
  if (validated.newer.length === 0) return undefined;
  const effect = object.kind === 'AccessPolicy' ? 'the policy grants nothing' : 'they are ignored';
  return ['True', 'NewerFields', `${newerFields(validated.newer)}: ${effect}`];
}

function newerFields(fields: readonly string[]): string {
  return `this operator is older than the custom resource definitions and does not know ${someOf(fields.map((field) => `spec.${field}`))}`;
}

function withoutEffect(input: ReconcileResult): Answer | undefined {
  const { unimplementedFields, serviceAccounts } = input.desired.validated;
  const said: string[] = [];
  if (unimplementedFields.length > 0) said.push(`no effect in this version: ${unimplementedFields.join(', ')}`);
  if (serviceAccounts === 'beside' && !input.servesServiceAccounts) {
    said.push('no effect here, where nothing serves ServiceAccounts: spec.service_accounts');
  }
  const { traits } = input.desired.validated;
  const idle = idleRefresh(traits.kind === 'Client' && traits.listsIdleRefresh, 'spec.');
  const all = [...said, ...(idle === undefined ? [] : [idle])];
  if (input.quotaFault !== undefined) return ['True', 'QuotaNotReadable', joinedSentences([input.quotaFault, ...all])];
  const { database = '', destination } = input;
  if (destination !== undefined) {
    const moving = `the box is still in the database ${database}, and is being moved to ${destination}`;
    return ['True', 'Moving', joinedSentences([moving, ...all])];
  }
  const unlisted = unlistedHost(input);
  if (unlisted !== undefined) return ['True', 'JwksHostNotListed', joinedSentences([unlisted, ...all])];
  const closed = notPermitted(input);
  if (closed !== undefined) return ['True', 'MetadataNotPermitted', joinedSentences([closed, ...all])];
  if (said.length > 0) return ['True', 'WithoutEffect', joinedSentences(all)];
  return idle === undefined ? undefined : ['True', 'RefreshNotEnabled', idle];
}

/** Returns the labels and annotations that a generated Secret does not get, and the command that permits them. */
function notPermitted({ desired: { object, validated } }: ReconcileResult): string | undefined {
  const { notPermitted: keys = [] } = validated;
  if (keys.length === 0) return undefined;
  const command = grantCommand(object.namespace, SECRET_METADATA_ANNOTATION, keys);
  return `the namespace does not permit ${someOf(keys)} on a generated Secret (an admin may: ${command})`;
}
