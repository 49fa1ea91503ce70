import type { Publication } from './publication.ts';

/** The value of SIGN for a signature without a key: by the identity of a workflow, as cosign does by default. */
const keyless = 'keyless';

/**
 * Returns the parameters with which cosign signs something in the registry, by its digest; undefined if nothing is to
 * be signed. `sign` is a key as cosign takes it (a file, or the address of one in a KMS), or `keyless`. A signature
 * with a key is in the registry alone; one without is in the public log, too, as its verification needs it.
 */
export function signingOf(
  sign: string,
  { isPlain }: Pick<Publication, 'isPlain'>,
): ((subject: string) => readonly string[]) | undefined {
  if (sign === '') return undefined;
  const key = sign === keyless ? [] : ['--key', sign, '--tlog-upload=false'];
  const plain = isPlain ? ['--allow-http-registry'] : [];
  return (subject) => ['sign', '--yes', ...key, ...plain, subject];
}
