import { randomBytes } from 'node:crypto';
import { generatedSecretText } from '../../crds/generated-secret-text.ts';
import type { JsonObject } from '../../crds/path.ts';
import { askOrReadSecret } from './terminal.ts';
import { usageError } from './cli-error.ts';
import type { Command, Invocation } from './command.ts';
import { storedCommands } from './resource.ts';
import { several } from './pages.ts';

/** `boxctl client list`, `show`, `new`, `set` and `delete`. */
export const clientCommands: readonly Command[] = storedCommands({
  word: 'client',
  kind: 'Client',
  noun: 'client',
  filters: {
    name: { type: 'string', value: '<name>', summary: 'only those with this name' },
    grant_types: { type: 'string', value: '<grant>', summary: 'only those that list this grant' },
    active: { type: 'string', value: 'true|false', summary: 'only those that are active, or are not' },
  },
  fields: {
    name: { type: 'string', value: '<name>', summary: 'name for people' },
    grant: { type: 'string', multiple: true, value: '<grant>', summary: 'a grant that it may use' },
    scope: { type: 'string', multiple: true, value: '<scope>', summary: 'a scope that it may request' },
    'redirect-uri': { type: 'string', multiple: true, value: '<URI>', summary: 'a redirect URI of its code grant' },
    active: { type: 'string', value: 'true|false', summary: 'false: it gets no token, and its tokens are refused' },
    secret: { type: 'boolean', summary: 'asks for its secret, or reads it as a line of standard input' },
    'generate-secret': { type: 'boolean', summary: 'gives it a new secret, and prints that' },
  },
  fieldsOf,
  examples: {
    list: ['boxctl client list', 'boxctl client list --grant_types client_credentials --output json'],
    show: ['boxctl client show orders'],
    new: [
      'boxctl client new orders --grant client_credentials --generate-secret',
      'boxctl client new shop --grant authorization_code --redirect-uri https://shop.example/back',
      'boxctl client new reports --file client.yaml --secret < secret.txt',
    ],
    set: ['boxctl client set orders --active false', 'boxctl client set orders --generate-secret'],
    delete: ['boxctl client delete orders'],
  },
});

async function fieldsOf(invocation: Invocation): Promise<JsonObject> {
  const { values } = invocation;
  const { name, active } = values;
  const grants = several(values['grant']);
  const scopes = several(values['scope']);
  const uris = several(values['redirect-uri']);
  const secret = await secretOf(invocation);
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof active === 'string' ? { active: flagOf(active) } : {}),
    ...(grants.length === 0 ? {} : { grant_types: grants }),
    ...(scopes.length === 0 ? {} : { scope: scopes }),
    ...(uris.length === 0 ? {} : { auth: { authorization_code: { redirect_uris: uris } } }),
    ...(secret === undefined ? {} : { secret }),
  };
}

function flagOf(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw usageError('--active must be true or false');
}

async function secretOf({ values, terminal }: Invocation): Promise<string | undefined> {
  if (values['generate-secret'] === true) return generatedSecretText(randomBytes(32));
  return values['secret'] === true ? askOrReadSecret(terminal, 'Client secret: ') : undefined;
}
