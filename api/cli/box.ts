import { setTimeout as pause } from 'node:timers/promises';
import { DATABASE_ANNOTATION, DATABASE_NAME } from '../../crds/kind.ts';
import { isList, isObject } from '../../crds/path.ts';
import { plainText } from '../../program/text.ts';
import { createBoxClient, noBoxAnswer } from './box-client.ts';
import type { Command } from './command.ts';
import { OWN_CLIENT } from './kept-login.ts';
import { column } from '../schemas/columns.ts';
import { CliError, EXIT, usageError } from './cli-error.ts';
import { boxName, serverTarget } from './current-box.ts';
import { kubectlOf, type Kubectl } from './kubectl.ts';
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

/** Seconds that `box move` waits without --timeout. */
const LONGEST_MOVE = 600;

/** Milliseconds between two looks at the status of a box that moves. */
const LOOK = 1_000;

/** `boxctl box move`: the operator moves a box to the database that its Namespace names. */
export const moveBox: Command = {
  name: 'box move',
  synopsis: '<box> <database>',
  summary: 'moves a box of the cluster of the kube context to another database, and waits until it is there',
  examples: ['boxctl box move shop eu', 'boxctl box move shop eu --no-wait'],
  options: {
    'no-wait': { type: 'boolean', summary: 'ends once the Namespace names the database' },
    timeout: {
      type: 'string',
      value: '<seconds>',
      summary: `waits so long at most; ${String(LONGEST_MOVE)} unless you say otherwise`,
    },
  },
  hasNoRecord: true,
  arguments: [2, 2],
  async run({ args: [name = '', database = ''], values, environment, terminal }) {
    const box = boxName(name, 'the box');
    if (!new RegExp(DATABASE_NAME).test(database))
      throw usageError('the name of a database is up to 32 of a to z, 0 to 9 and hyphens, and begins with a letter');
    const seconds = Number(textOption(values, 'timeout') ?? LONGEST_MOVE);
    if (!(seconds > 0)) throw usageError('--timeout must be a number of seconds above 0');
    const waits = values['no-wait'] !== true;
    const kubectl = kubectlOf(environment);
    if ((await kubectl.get(['namespaces', box])) === undefined)
      throw new CliError(EXIT.refused, `the cluster of the kube context has no namespace ${box}`);
    if (waits) await whereabouts(kubectl, box);
    await kubectl.run(['annotate', '--overwrite', 'namespace', box, `${DATABASE_ANNOTATION}=${database}`]);
    if (!waits) {
      terminal.output.write(`The operator moves the box ${box} to the database ${database}.\n`);
      return;
    }
    terminal.messages.write(`boxctl: waiting until the box ${box} is in the database ${database}\n`);
    await untilIn(database, { kubectl, box, seconds });
    terminal.output.write(`The box ${box} is in the database ${database}.\n`);
  },
};

/** Waits until a box is in a database. Throws CliError if there is no such database, and after some seconds. */
async function untilIn(
  database: string,
  { kubectl, box, seconds }: { readonly kubectl: Kubectl; readonly box: string; readonly seconds: number },
): Promise<void> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const { database: now, sentences } = await whereabouts(kubectl, box);
    if (now === database) return;
    const unknown = sentences.find((sentence) => sentence.includes(`no database ${database};`));
    if (unknown !== undefined) throw new CliError(EXIT.refused, unknown);
    if (Date.now() > end) {
      const why = sentences.map((sentence) => `: ${sentence}`)[0] ?? '';
      throw new CliError(
        EXIT.unreachable,
        `the box ${box} is not in the database ${database} after ${String(seconds)} seconds, and the operator goes on${why}`,
      );
    }
    await pause(LOOK);
  }
}

/** Returns the database in the status of a Box, and what its conditions say. Throws CliError if there is no Box. */
async function whereabouts(
  kubectl: Kubectl,
  box: string,
): Promise<{ readonly database: unknown; readonly sentences: readonly string[] }> {
  const found = await kubectl.get(['boxes.boxgate.dev', 'box', '--namespace', box]);
  if (found === undefined)
    throw new CliError(
      EXIT.refused,
      `the namespace ${box} has no Box, whose status tells when it has moved: declare one, or give --no-wait`,
    );
  const { conditions, database } = isObject(found['status']) ? found['status'] : {};
  const said = (isList(conditions) ? conditions : []).filter(isObject).map(({ message }) => message);
  const sentences = said.filter((message) => typeof message === 'string').filter((message) => message !== '');
  return { database, sentences: sentences.map(plainText) };
}
