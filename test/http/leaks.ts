/** Returns the places of secrets in texts, in any form in which they could be written. Empty: no secret was found. */
export function leaksIn(
  texts: Readonly<Record<string, readonly string[]>>,
  secrets: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    Object.entries(formsOf(secret)).flatMap(([form, text]) =>
      Object.entries(texts)
        .filter(([, lines]) => lines.some((line) => line.includes(text)))
        .map(([place]) => `${name} (${form}) in ${place}`),
    ),
  );
}

function formsOf(secret: string): Readonly<Record<string, string>> {
  const bytes = Buffer.from(secret);
  return {
    plain: secret,
    'percent-encoded': encodeURIComponent(secret),
    'in JSON': JSON.stringify(secret).slice(1, -1),
    // Behind `id:` of Basic credentials, wherever it begins among three bytes.
    ...Object.fromEntries([0, 1, 2].map((at) => [`base64 ${String(at)}`, inBase64(bytes, at)])),
    base64url: bytes.toString('base64url'),
    hexadecimal: bytes.toString('hex'),
    'its second half': secret.slice(Math.ceil(secret.length / 2)),
  };
}

/** The part of its base64 that does not depend on what stands before and behind it. */
function inBase64(bytes: Buffer, at: number): string {
  const text = Buffer.concat([Buffer.alloc(at), bytes]).toString('base64');
  return text.slice(at === 0 ? 0 : 4, text.length - 4);
}
