/** Standard scopes (OpenID Connect Core §5.4, §11) and `groups`, which every box has. */
export const STANDARD_SCOPES: readonly string[] = [
  'openid',
  'profile',
  'email',
  'address',
  'phone',
  'groups',
  'offline_access',
];

/** Scopes that mean the same in every box. Their sentences on the consent page are ours, and no Box declares them. */
export const RESERVED_SCOPES: readonly string[] = [...STANDARD_SCOPES, 'boxgate'];

/** A TCP port (1 to 65535). */
const PORT = '([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const HOST = `(\\[[0-9A-Fa-f:.]{2,45}\\]|${LABEL}(\\.${LABEL})*)`;
const LOOPBACK = '(127\\.0\\.0\\.1|\\[::1\\]|localhost)';
/** User information is accepted here, so that its own rule can report it. */
const HTTPS = `https://([^/?#@]*@)?${HOST}(:${PORT})?([/?#].*)?`;
const LOOPBACK_HTTP = `http://${LOOPBACK}(:${PORT})?([/?#].*)?`;
/** A scheme named after its owner's domain contains a dot; `javascript` and `data` do not (RFC 8252 §7.1, §8.4). */
const PRIVATE_USE = '[a-z][a-z0-9+-]*(\\.[a-z0-9+-]+)+:/.*';

/** A redirect URI (RFC 8252 §7, RFC 9700 §4.1.3); text for RE2 and for JavaScript. */
export const REDIRECT_ADDRESS = `^(${HTTPS}|${LOOPBACK_HTTP}|${PRIVATE_USE})$`;
/** An address that is fetched: https, or http on loopback. */
export const WEB_ADDRESS = `^(https://${HOST}(:${PORT})?([/?][^#]*)?|http://${LOOPBACK}(:${PORT})?([/?][^#]*)?)$`;
/** An issuer: https, no query, no fragment, no slash at the end (RFC 8414 §2). */
export const ISSUER = `^https://${HOST}(:${PORT})?(/[^/?#]+)*$`;
/** User information before the host: `https://someone@example.com`. */
export const USER_INFORMATION = '^[a-z]+://[^/?#]*@';
