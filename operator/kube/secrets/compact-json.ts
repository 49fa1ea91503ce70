/**
 * Text that occurs in nearly every status and Secret of ours as JSON, with members sorted by name as an API server
 * writes them; of two with the same beginning the longer one comes first. At most 32.
 */
const phrases = [
  // Statuses.
  '{"conditions":[{"lastTransitionTime":"',
  '"},{"lastTransitionTime":"',
  '","message":"","observedGeneration":1,"reason":"',
  '","message":"',
  '","observedGeneration":1,"reason":"',
  'Ready","status":"True","type":"Ready',
  'Accepted","status":"True","type":"Valid',
  'SecretGenerated","status":"True","type":"SecretReady',
  'Applied","status":"True","type":"Synced',
  'PolicyLinked","status":"True","type":"Granted',
  'AllFound","status":"True","type":"LinksResolved',
  '","status":"True","type":"',
  '"}],"grants":"client_credentials","id":"',
  '"}],"danglingLinks":[],"id":"',
  '","observedGeneration":1,"policies":',
  '","observedGeneration":1,"resolvedLinks":["Client/',
  ',"secret":"generated","secretName":"',
  // Secrets, see SecretContent.
  '{"type":"Opaque","created":"',
  '","labels":{"app.kubernetes.io/managed-by":"boxgate","boxgate.dev/client-secret":"true"},"annotations":{"',
  'boxgate.dev/client-id":"',
  '","boxgate.dev/made-at":"',
  String.raw`","boxgate.dev/written":"{\"entries\":[\"client_id\",\"client_secret\",\"issuer\",\"token_url\",\"jwks_url\"],`,
  String.raw`\"labels\":[],\"annotations\":[\"boxgate.dev/previous-until\"]}"}`,
  ',"owners":[{"apiVersion":"boxgate.dev/v1","kind":"Client","name":"',
  '","uid":"',
  '","controller":true}],"data":{"',
  '","client_secret":"',
  '","issuer":"',
  '","jwks_url":"',
  '","token_url":"',
];

/** Control characters, one for each phrase: JSON has none of its own (RFC 8259 §7). */
const signs = new Map(phrases.map((phrase, nth) => [phrase, String.fromCharCode(nth)]));
const anyPhrase = new RegExp(phrases.map((phrase) => phrase.replace(/[\\[\]{}.]/g, String.raw`\$&`)).join('|'), 'g');
const anySign = new RegExp([...signs.values()].join('|'), 'g');

/** Returns a value as JSON in a fraction of the memory, for many rarely read values; equal texts for equal JSON. */
export function toCompactJson(value: unknown): string {
  return JSON.stringify(value).replace(anyPhrase, (phrase) => signs.get(phrase) ?? phrase);
}

/** Returns the value that was packed. */
export function fromCompactJson(text: string): unknown {
  return JSON.parse(text.replace(anySign, (sign) => phrases[sign.charCodeAt(0)] ?? sign));
}
