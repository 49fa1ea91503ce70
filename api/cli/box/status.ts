import { isObject } from '../../../crds/json-value.ts';
import { createBoxClient, noBoxAnswer } from '../box-client.ts';
import type { Command } from '../command.ts';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** `boxctl box status`: reads the public metadata of the box, so it needs no credential. */
export const boxStatus: Command = {
  name: 'box status',
  summary: 'prints which box is the current one, who chose it, and whether it answers',
  examples: ['boxctl box status', 'boxctl box status --box shop --output json'],
  arguments: [0, 0],
  async run({ address, print }) {
    const found = await address();
    const client = createBoxClient(found.box, found.base, '');
    const { body } = await client.request('GET', '/.well-known/openid-configuration');
    const issuer = isObject(body) ? body['issuer'] : undefined;
    if (typeof issuer !== 'string') throw noBoxAnswer(found.base);
    const status = {
      box: found.box,
      box_from: found.boxFrom,
      server: found.server,
      server_from: found.serverFrom,
      issuer,
    };
    const column = (heading: string, name: keyof typeof status) => ({
      heading,
      text: (record: Readonly<Record<string, unknown>>) => textOf(record[name]),
    });
    await print(status, 'table', [
      column('BOX', 'box'),
      column('CHOSEN BY', 'box_from'),
      column('SERVER', 'server'),
      column('GIVEN BY', 'server_from'),
      column('ISSUER', 'issuer'),
    ]);
  },
};
