import type { Command } from '../command.ts';
import { column } from '../resource/texts.ts';
import { askPolicies, reasonOf, QUESTION, QUESTION_OPTIONS } from './subject.ts';

/** `boxctl explain`. */
export const explain: Command = {
  name: 'explain',
  synopsis: QUESTION,
  summary: 'prints every policy for a client or user, and whether it allows a request',
  examples: [
    'boxctl explain client:orders GET /Client',
    'boxctl explain ann@example.com POST /users --body \'{"email": "bea@example.com"}\' --output json',
  ],
  options: QUESTION_OPTIONS,
  arguments: [3, 3],
  async run(invocation) {
    const { candidates } = await askPolicies(await invocation.box(), invocation);
    await invocation.print(candidates, 'table', [
      column('POLICY', 'policy'),
      column('ENGINE', 'engine'),
      { heading: 'GRANTS', text: ({ granted }) => (granted === true ? 'yes' : 'no') },
      { heading: 'REASON', text: reasonOf },
    ]);
  },
};
