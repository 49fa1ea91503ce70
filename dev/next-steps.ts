import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  askingCurlCommand,
  curlCommand,
  quoted,
  shortPath,
  exampleClient,
  signInHint,
  type AccountSubject,
} from './hints.ts';
import type { DevOutput } from './output.ts';
import type { FolderReader } from './folder/reader.ts';
import { placeOfField } from './folder/source.ts';
import type { SecretFiles } from './folder/generated-secrets.ts';

/** The sources of the next steps, and the folder that their paths are relative to. */
export interface NextStepsContext {
  /** Base URL of the API. */
  readonly publicUrl: string;
  readonly secrets: SecretFiles;
  readonly reader: FolderReader;
  readonly cwd: string;
}

/** Prints the next steps for a person, as commands to paste: get a token, sign in. No output ever has a secret. */
export function printNextSteps(output: DevOutput, context: NextStepsContext): void {
  const { publicUrl, secrets, cwd } = context;
  const { generated, chosen, account } = output.subjects();
  const file = generated === undefined ? undefined : secrets.tokenRequest(generated.box, generated.secret);
  if (generated !== undefined && file !== undefined) {
    const boxUrl = addressOf(generated.box, publicUrl);
    output.result(`A token for ${generated.id}:\n\n  ${curlCommand(boxUrl, file, cwd)}\n`);
  }
  if (chosen !== undefined) {
    const command = askingCurlCommand(addressOf(chosen.box, publicUrl), chosen.id);
    const place =
      chosen.secret === ''
        ? placeOfField(chosen.place, 'spec.secret')
        : `${placeOfSecret(context, chosen.box, chosen.secret) ?? 'the folder'} (Secret ${chosen.secret})`;
    output.result(`A token for ${chosen.id}:\n\n  ${command}\n\ncurl asks for the secret; it is in ${place}.\n`);
  }
  if (account !== undefined) output.result(signIn(account, context));
  const boxes = context.reader.index.boxes();
  const [box] = boxes;
  if (box === undefined) return;
  // The root is a page that links them.
  const consoles = `The consoles of the ${String(boxes.length)} boxes: ${publicUrl}/`;
  output.result(boxes.length > 1 ? consoles : `The console of the box ${box}: ${addressOf(box, publicUrl)}/ui/`);
}

function signIn(account: AccountSubject, context: NextStepsContext): string {
  const command = appCommand(account, context);
  const address = `${addressOf(account.box, context.publicUrl)}/auth/signin`;
  return signInHint(
    account,
    placeOfSecret(context, account.box, account.secret),
    command === undefined ? { address } : { command },
  );
}

function placeOfSecret({ reader, cwd }: NextStepsContext, box: string, name: string): string | undefined {
  const secret = reader.index.contents(box).secrets.get(name);
  return secret === undefined ? undefined : `${shortPath(secret.file, cwd)}:${String(secret.line)}`;
}

/** Returns the command that starts examples/app for a client of the account's box, or undefined if none fits it. */
function appCommand({ box, issuer }: AccountSubject, { reader, publicUrl, cwd }: NextStepsContext): string | undefined {
  // A custom issuer is an address that this program does not serve.
  if (issuer !== addressOf(box, publicUrl)) return undefined;
  const app = exampleClientOf(reader, box);
  if (app === undefined) return undefined;
  const root = fileURLToPath(new URL('..', import.meta.url));
  // Only a checkout has it.
  if (!existsSync(path.join(root, 'examples/app/app.js'))) return undefined;
  const isHere = path.relative(root, cwd) === '';
  const node = isHere ? 'npx node' : quoted(shortPath(process.execPath, cwd));
  const settings = [
    ...(issuer === 'http://127.0.0.1:8080/boxes/default' ? [] : [`ISSUER=${quoted(issuer)}`]),
    ...(app === 'app' ? [] : [`CLIENT_ID=${quoted(app)}`]),
  ];
  return [...settings, node, quoted(shortPath(path.join(root, 'examples/app/app.js'), cwd))].join(' ');
}

/** Returns the ID of the first suitable client in the order of files. */
function exampleClientOf(reader: FolderReader, box: string): string | undefined {
  const clients = reader.index.contents(box).objects.filter(({ kind }) => kind === 'Client');
  const inOrder = clients.sort((one, other) => (one.place < other.place ? -1 : 1));
  for (const client of inOrder) {
    const id = exampleClient(client.body());
    if (id !== undefined) return id;
  }
  return undefined;
}

/** Returns the address of a box that stays valid when another box comes. */
function addressOf(box: string, publicUrl: string): string {
  return `${publicUrl}/boxes/${box}`;
}
