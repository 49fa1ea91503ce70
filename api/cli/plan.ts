import { CliError } from './cli-error.ts';
import type { Command } from './command.ts';
import { textOption } from './option-values.ts';
import { planAnswerOf, planExit, planMarkdown, planText } from './plan-report.ts';

/** `boxctl plan <folder>`: the effect that the manifests of a folder would have on the box. */
export const planFolder: Command = {
  name: 'plan',
  synopsis: '<folder> [--requests <file>]',
  summary: 'shows who would lose or gain access if the manifests in a folder were all that is declared in the box',
  examples: [
    'boxctl plan deploy/shop',
    'boxctl plan deploy/shop --requests requests.yaml',
    'boxctl plan deploy/shop --output markdown > comment.md',
  ],
  options: {
    requests: {
      type: 'string',
      value: '<file>',
      summary: 'requests to compare besides the recorded ones; by default requests.yaml of the folder',
    },
  },
  formats: ['markdown'],
  arguments: [1, 1],
  async run({ args: [folder = ''], values, terminal, address, box, print }) {
    const { output } = values;
    // The schemas of resources take longer to load than most commands to run.
    const [{ declaredObjects }, { givenRequests }] = await Promise.all([
      import('./declared-folder.ts'),
      import('./plan/requests-file.ts'),
    ]);
    const objects = declaredObjects(folder, (await address()).box);
    const requests = givenRequests(folder, textOption(values, 'requests'));
    if (terminal.messages.isTTY === true)
      terminal.messages.write(`comparing ${objects.length.toLocaleString('en-US')} objects with the box …`);
    const client = await box();
    const lines = [...objects.map((object) => ({ object })), ...requests.map((request) => ({ request }))];
    const { body } = await client.request('POST', '/$plan', { lines });
    if (terminal.messages.isTTY === true) terminal.messages.write('\r\x1b[K');
    const answer = planAnswerOf(body);
    if (output === 'markdown') terminal.output.write(planMarkdown(answer));
    else if (output === 'json' || output === 'yaml') await print(answer, 'json', []);
    else terminal.output.write(planText(answer));
    const exit = planExit(answer);
    if (exit !== 0) throw new CliError(exit, exit === 1 ? 'the box would refuse some of the objects' : '');
  },
};
