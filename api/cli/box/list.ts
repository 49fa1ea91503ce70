import type { Command } from '../command.ts';
import { OWN_CLIENT } from '../login/kept-login.ts';
import { column } from '../resource/texts.ts';

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
