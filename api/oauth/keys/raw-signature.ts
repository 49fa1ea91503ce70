/** Bytes of R and of S in a signature on P-256. */
const half = 32;

/**
 * Converts an ECDSA signature on P-256 to the form of JWS (RFC 7518 §3.4: R followed by S, 64 bytes) from the DER form
 * (RFC 3279 §2.2.3: `30 n 02 r R 02 s S`) that node signs in. If node itself makes the form of JWS, it takes twice the
 * time (measured, Node 24: 50 µs, against 23 µs for a bare key object).
 */
export function rawSignature(der: Uint8Array): Buffer {
  const raw = Buffer.alloc(2 * half);
  const lengthOfR = der[3] ?? 0;
  const endOfR = 4 + lengthOfR;
  put(der.subarray(4, endOfR), raw, half);
  put(der.subarray(endOfR + 2), raw, 2 * half);
  return raw;
}

/** Puts an integer so that it ends at `end`: DER leads with a zero where the first bit is set, and leaves zeros out. */
function put(integer: Uint8Array, raw: Buffer, end: number): void {
  const digits = integer.length > half ? integer.subarray(-half) : integer;
  raw.set(digits, end - digits.length);
}
