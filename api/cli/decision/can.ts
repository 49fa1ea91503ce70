import { plainText } from '../../../process/plain-text.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Command, Invocation } from '../command.ts';
import { cell, column } from '../resource/texts.ts';
import { askPolicies, QUESTION, QUESTION_OPTIONS } from './subject.ts';
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
    const { granted, policy = '' } = explanation;
    const hasRecord = invocation.values['output'] !== undefined;
    if (granted || hasRecord) await invocation.confirm(`yes, by the policy ${plainText(policy)}`, explanation, columns);
    if (granted) return;
    throw new CliError(EXIT.refused, hasRecord ? '' : `no: ${reasonOf(explanation)}${hintFor(invocation)}`);
  },
};

/** Tells what is missing: a policy for the subject, or a rule that is true for the request. */
function reasonOf({ candidates }: Explanation): string {
  const [closest] = candidates;
  if (closest === undefined) return 'no policy is for this subject. Link one to it (`boxctl policy new --help`)';
  const lines = candidates.map(({ policy, engine, fault }) => {
    const reason = typeof fault === 'string' ? fault : 'its rule is not true for this request';
    return plainText(`${cell(policy)} (${cell(engine)}): ${reason}`);
  });
  return `the policies for this subject do not allow it\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** Returns a line about the scope, which a token of a client has only if it is requested. */
function hintFor({ args, values }: Invocation): string {
  const isClient = /^client[:/]/i.test(args[0] ?? '');
  return isClient && values['scope'] === undefined
    ? '\n  the token is taken to have no scope; --scope gives it one'
    : '';
}
