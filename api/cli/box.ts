import { isObject } from '../../crds/path.ts';
import { createBoxClient, noBoxAnswer } from './box-client.ts';
import type { Command } from './command.ts';
import { OWN_CLIENT } from './kept-login.ts';
import { column } from '../schemas/columns.ts';
import { usageError } from './cli-error.ts';
import { boxName, serverTarget } from './current-box.ts';
import { textOption } from './option-values.ts';

/** `boxctl box use`. */
export const useBox: Command = {
  name: 'box use',
  synopsis: '<box> [--server <URL>]',
  summary: 'chooses the box, and with --server its installation, of later commands',
  examples: ['boxctl box use shop --server https://auth.example.com', 'boxctl box use default'],
  hasNoRecord: true,
  arguments: [1, 1],
  async run({ args: [box = ''], values, state, terminal }) {
    const server = textOption(values, 'server');
    const name = boxName(box, 'the box');
    const kept = await state.read();
    const target = server === undefined ? undefined : await serverTarget(server, '--server');
    const { installation, box: addressed = name } = target ?? {};
    if (installation !== undefined && addressed !== name)
      throw usageError(`--server is the address of the box ${addressed}, not of ${name}`);
    const base = target?.base ?? (server === undefined && kept.box === name ? kept.base : undefined);
    if (server === undefined && kept.server === undefined && base === undefined)
      terminal.messages.write(
        'boxctl: no installation is chosen yet: add --server <public URL>, or set BOXCTL_SERVER\n',
      );
    await state.write({ box: name, base, ...(server === undefined ? {} : { server: installation }) });
    terminal.output.write(
      `Later commands use the box ${name}, unless --box, BOXCTL_BOX or a kube context names another.\n`,
    );
  },
};

/** `boxctl box list`: the boxes of the state file. An installation tells nobody which boxes it has. */
export const listBoxes: Command = {
  name: 'box list',
  summary: 'lists the boxes that you signed in to, and the one that is chosen',
  examples: ['boxctl box list', 'boxctl box list --output json'],
  arguments: [0, 0],
  async run({ state, print }) {
    const { box, server, base: ownBase, logins = {} } = await state.read();
    const chosenServer = ownBase ?? server;
    const signedIn = Object.entries(logins).map(([base, { client, box: named = '' }]) => {
      const [, installation = base, name = named] = /^(.*)\/boxes\/([^/]+)$/.exec(base) ?? [];
      return { box: name, server: installation, client };
    });
    const isKnown = signedIn.some((one) => one.box === box && one.server === chosenServer);
    const chosen = box === undefined || isKnown ? [] : [{ box, server: chosenServer, client: '' }];
    const known = [...signedIn, ...chosen].map((one) => ({
      ...one,
      chosen: one.box === box && one.server === chosenServer,
    }));
    await print(known, 'table', [
      { heading: 'CHOSEN', text: (record) => (record['chosen'] === true ? '*' : '') },
      column('BOX', 'box'),
      column('SERVER', 'server'),
      {
        heading: 'SIGNED IN AS',
        text: (record) => (record['client'] === OWN_CLIENT ? 'you' : String(record['client'])),
      },
    ]);
  },
};

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
    await print(status, 'table', [
      column('BOX', 'box'),
      column('CHOSEN BY', 'box_from'),
      column('SERVER', 'server'),
      column('GIVEN BY', 'server_from'),
      column('ISSUER', 'issuer'),
    ]);
  },
};
