import { isList, isObject } from '../../../crds/json-value.ts';
import { plainText } from '../../../process/plain-text.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Command, Invocation } from '../command.ts';
import { cell, column } from '../resource/texts.ts';
import { askPolicies, reasonOf, QUESTION, QUESTION_OPTIONS } from './subject.ts';
import type { Explanation } from './subject.ts';

const columns = [column('GRANTED', 'granted'), column('POLICY', 'policy')];

/** `boxctl can`: exits with 0 if a policy allows the request, and with 1 if none does. */
export const can: Command = {
  name: 'can',
  synopsis: QUESTION,
  summary: 'tells whether a client or user may send a request, and by which policy; exits with 1 if not',
  examples: [
    'boxctl can client:orders GET /Client',
    'boxctl can ann@example.com DELETE /users/7',
    'boxctl can user:7 GET /invoices --app billing',
  ],
  options: QUESTION_OPTIONS,
  arguments: [3, 3],
  async run(invocation) {
    const explanation = await askPolicies(await invocation.box(), invocation);
    const { granted, policy = '', candidates, wouldGrant } = explanation;
    const hasRecord = invocation.values['output'] !== undefined;
    const record = { granted, policy: explanation.policy, candidates, would_grant: wouldGrant };
    if (granted || hasRecord) await invocation.confirm(`yes, by the policy ${plainText(policy)}`, record, columns);
    if (granted) return;
    throw new CliError(EXIT.refused, hasRecord ? '' : `no: ${denialOf(explanation)}${hintFor(invocation)}`);
  },
};

/** Tells what is missing: a policy for the subject, or a rule that is true for the request. */
function denialOf({ candidates, wouldGrant }: Explanation): string {
  const head =
    candidates.length === 0
      ? 'no policy is for this subject. Link one to it (`boxctl policy new --help`)'
      : 'the policies for this subject do not allow it';
  const closest = candidates.map((candidate) => {
    const reason = reasonOf(candidate) || 'its rule is not true for this request';
    return `${cell(candidate['policy'])} (${cell(candidate['engine'])}): ${reason}`;
  });
  const others = wouldGrant.map(({ policy, link }) => `${cell(policy)} would allow it: it is for ${linkedText(link)}`);
  return [head, ...[...closest, ...others].map((line) => `  ${plainText(line)}`)].join('\n');
}

/** Names whom a policy is linked to: `members of the group admins`. */
function linkedText(links: unknown): string {
  const texts = (isList(links) ? links : []).filter(isObject).map(({ resourceType, id }) => {
    if (resourceType === 'Group') return `members of the group ${cell(id)}`;
    return `the ${cell(resourceType).toLowerCase()} ${cell(id)}`;
  });
  return texts.join(', ');
}

/** Returns a line about the scope, which a token of a client has only if it is requested. */
function hintFor({ args, values }: Invocation): string {
  const isClient = /^client[:/]/i.test(args[0] ?? '');
  return isClient && values['scope'] === undefined
    ? '\n  the token is taken to have no scope; --scope gives it one'
    : '';
}
