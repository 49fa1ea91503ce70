import { isList, isObject } from '../../crds/path.ts';
import { newBrowser } from '../http/pages/browser.ts';
import { startBoxApi } from '../http/resources/box-api.ts';
import type { BoxApi } from '../http/resources/box-api.ts';
import { unthrottled } from '../support/unthrottled.ts';
import { makeSigner } from './assertions.ts';
import type { Signer } from './assertions.ts';
import { DiscoveredBox, back, person, secret } from './discovered-box.ts';
import { readReply } from './requests.ts';

/** Address to which people return after signing out. */
export const goodbye = 'https://app.example/goodbye';

/** The scope that the Box declares, and only the client `orders` may request. */
export const ordersScope = 'orders.read';

/** Every claim of OpenID Connect Core §5.1 that an administrator can store about a person. */
const data = {
  ...{ name: 'Ann Day', family_name: 'Day', given_name: 'Ann', middle_name: 'B', nickname: 'annie' },
  ...{ preferred_username: 'ann', profile: 'https://a.example', picture: 'https://a.example/a.png' },
  ...{ website: 'https://a.example', gender: 'female', birthdate: '1990-02-03', zoneinfo: 'Europe/Amsterdam' },
  ...{ locale: 'nl-NL', updated_at: 1_700_000_000, address: { country: 'NL' } },
  ...{ phone_number: '+31 20 123 4567', phone_number_verified: true },
};

const signingIn = {
  kind: 'Client',
  grant_types: ['authorization_code'],
  auth: { authorization_code: { redirect_uri: back } },
} as const;

/** Starts a box whose metadata list everything that they can, reads the document, and declares its clients. */
export async function discoverBox(document: string): Promise<DiscoveredBox> {
  const api = await startBoxApi(unthrottled);
  try {
    return await discovered(api, document);
  } catch (error) {
    await api.stop();
    throw error;
  }
}

async function discovered(api: BoxApi, document: string): Promise<DiscoveredBox> {
  await api.declare('default', [
    {
      kind: 'Box',
      id: 'default',
      scopes: { [ordersScope]: { en: 'see your orders' } },
      registration: { enabled: true },
    },
    { kind: 'Client', id: 'passwords', grant_types: ['password'], secret },
    // The metadata list the algorithms of the keys that clients need.
    ...(['RS256', 'ES256', 'EdDSA'] as const).map(
      (alg) => ({ ...signingIn, id: `needs-${alg}`, id_token_signed_response_alg: alg }) as const,
    ),
  ]);
  await addPerson(api);
  const reply = await readReply(await fetch(`${api.base}/.well-known/${document}`));
  const algorithms = reply.body['token_endpoint_auth_signing_alg_values_supported'];
  const signers = isList(algorithms) ? await Promise.all(algorithms.map((alg) => makeSigner(String(alg)))) : [];
  const box = new DiscoveredBox(api, reply.body, new Map(signers.map((signer) => [signer.alg, signer])));
  await declareClients(box, signers);
  return box;
}

/** Registers the person, and stores what an administrator knows of them. */
async function addPerson(api: BoxApi): Promise<void> {
  await newBrowser(api).submit('/auth/signup', person);
  const found = await api.call('GET', `/users?email=${person.email}`);
  const group = await api.call('POST', '/Group', { body: { name: 'staff' } });
  const [user] = isList(found.body) ? found.body : [];
  if (!isObject(user) || !isObject(group.body)) throw new Error(`${found.text} ${group.text}`);
  const body = { data: JSON.stringify(data), 'group-ids': [group.body['id']] };
  const changed = await api.call('PUT', `/users/${String(user['id'])}`, { body });
  if (changed.status !== 200) throw new Error(changed.text);
}

async function declareClients(box: DiscoveredBox, signers: readonly Signer[]): Promise<void> {
  const auth = { implicit: { redirect_uri: back }, authorization_code: { redirect_uri: back, refresh_token: true } };
  const people = {
    kind: 'Client',
    grant_types: ['authorization_code', 'implicit'],
    auth,
    first_party: true,
    post_logout_redirect_uris: [goodbye],
  } as const;
  await box.api.declare('default', [
    { ...people, id: 'app', secret },
    { ...people, id: 'public' },
    { ...people, id: 'orders', secret, scope: [ordersScope] },
    { ...people, id: 'foreign', secret, first_party: false },
    { kind: 'Client', id: 'machine', grant_types: ['client_credentials'], secret },
    {
      kind: 'Client',
      id: 'keys',
      grant_types: ['client_credentials'],
      jwks: { keys: signers.map(({ publicJwk }) => publicJwk) },
    },
    ...box
      .values('id_token_signing_alg_values_supported')
      .map((alg) => ({ ...people, id: `signed-${alg}`, secret, id_token_signed_response_alg: alg }) as const),
  ]);
}
