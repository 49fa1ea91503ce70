/** A TCP port (1 to 65535). */
const PORT = '([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const HOST = `(\\[[0-9A-Fa-f:.]{2,45}\\]|${LABEL}(\\.${LABEL})*)`;
const LOOPBACK = '(127\\.0\\.0\\.1|\\[::1\\]|localhost)';
/** User information is let through here, so that the rule about it can say so. */
const HTTPS = `https://([^/?#@]*@)?${HOST}(:${PORT})?([/?#].*)?`;
const LOOPBACK_HTTP = `http://${LOOPBACK}(:${PORT})?([/?#].*)?`;
/** A scheme made from a domain of its owner has a dot in it, which `javascript` and `data` have not (RFC 8252 §7.1, §8.4). */
const PRIVATE_USE = '[a-z][a-z0-9+-]*(\\.[a-z0-9+-]+)+:/.*';

/** Where an answer may be redirected to (RFC 8252 §7, RFC 9700 §4.1.3); text for RE2 and for JavaScript. */
export const REDIRECT_ADDRESS = `^(${HTTPS}|${LOOPBACK_HTTP}|${PRIVATE_USE})$`;
/** An address that somebody fetches: https, or http on loopback. */
export const WEB_ADDRESS = `^(https://${HOST}(:${PORT})?([/?][^#]*)?|http://${LOOPBACK}(:${PORT})?([/?][^#]*)?)$`;
/** An issuer: https, no query, no fragment, no slash at the end (RFC 8414 §2). */
export const ISSUER = `^https://${HOST}(:${PORT})?(/[^/?#]+)*$`;
/** User information before the host: `https://someone@example.com`. */
export const USER_INFORMATION = '^[a-z]+://[^/?#]*@';
