import Negotiator from 'negotiator';

const offered = ['br', 'gzip', 'identity'] as const;

/** A form in which a file is sent. */
export type Encoding = (typeof offered)[number];

/** Returns the content coding for an Accept-Encoding header (RFC 9110 §12.5.3); `identity` if none is accepted. */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding {
  if (acceptEncoding === undefined) return 'identity';
  const accepted = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([...offered]);
  return offered.find((one) => accepted.includes(one)) ?? 'identity';
}
