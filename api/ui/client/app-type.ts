import type { JsonObject } from '../../../crds/path.ts';
import { base64url } from '../connection/members.ts';
import { draftValue, memberAt, stringsOf, withMember } from '../record/json-draft.ts';
import type { JsonDraft } from '../record/json-draft.ts';

/** Types of app, each with its grant and with the way it authenticates. */
export const APP_TYPES = ['service', 'web', 'spa', 'api'] as const;

/** One of {@link APP_TYPES}. */
export type AppType = (typeof APP_TYPES)[number];

/** Path of the setting that tells a web app from an app that cannot keep a secret. */
const SECRET_REQUIRED = 'auth.authorization_code.secret_required';

/** Returns the type of app that a client is; undefined for another combination of grants. */
export function appTypeOf(client: JsonObject): AppType | undefined {
  const grants = stringsOf(client['grant_types']).filter((grant) => grant !== 'refresh_token');
  if (grants.length === 0) return 'api';
  if (grants.length > 1) return undefined;
  if (grants[0] === 'client_credentials') return 'service';
  const required = memberAt(client, SECRET_REQUIRED);
  return grants[0] === 'authorization_code' && typeof required === 'boolean' ? (required ? 'web' : 'spa') : undefined;
}

/** Returns a client as another type of app: with its grant, and without the settings of others. */
export function withAppType(client: JsonObject, type: AppType): JsonObject {
  const signsIn = type === 'web' || type === 'spa';
  const grants = signsIn ? ['authorization_code'] : type === 'service' ? ['client_credentials'] : [];
  const others = signsIn ? ['client_credentials', 'implicit'] : ['authorization_code', 'implicit'];
  const kept = others.reduce((value, grant) => withMember(value, `auth.${grant}`, undefined), client);
  const listed = { ...kept, grant_types: grants };
  return signsIn ? withMember(listed, SECRET_REQUIRED, type === 'web') : listed;
}

/** Returns the JSON of a new client as it is sent: with a secret, where it needs one and has none. */
export function newClientText({ json }: JsonDraft): string {
  const client = draftValue({ json });
  if (client === undefined || !needsSecret(client)) return json;
  // The text stays as it was typed: the API reports what a parser would hide.
  return json.replace('{', `{"secret": "${generatedSecret()}", `);
}

/** Checks whether a client must authenticate and nothing in it does. */
export function needsSecret(client: JsonObject): boolean {
  if (['secret', 'jwks', 'jwks_uri', 'service_accounts'].some((name) => client[name] !== undefined)) return false;
  const grants = client['grant_types'];
  if (!Array.isArray(grants)) return false;
  return grants.length === 0 || grants.includes('client_credentials') || memberAt(client, SECRET_REQUIRED) === true;
}

/** Makes a client secret in the form of `crds/generated-secret-text.ts`: 32 random bytes and their CRC-32. */
export function generatedSecret(): string {
  const bytes = new Uint8Array(36);
  crypto.getRandomValues(bytes.subarray(0, 32));
  new DataView(bytes.buffer).setUint32(32, crc32(bytes.subarray(0, 32)));
  return `bgs_${base64url(bytes)}`;
}

/** The checksum of RFC 1952 §8, bit by bit: there is none in a browser. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ ((crc & 1) * 0xedb88320);
  }
  return ~crc >>> 0;
}
