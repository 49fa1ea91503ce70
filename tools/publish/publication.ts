/** Error for the person who publishes: says what is wrong and what to do. */
export class PublishError extends Error {
  override readonly name = 'PublishError';
}

/** The state of the checkout that is published. */
export interface Checkout {
  /** The version in package.json. */
  readonly version: string;
  /** Tags of the commit that is checked out. */
  readonly tags: readonly string[];
  /** Files that differ from it, as `git status --porcelain` prints them; '' if there are none. */
  readonly changed: string;
}

/** A release and the registry that it is pushed to. */
export interface Publication {
  readonly version: string;
  /** Name of the image, without a tag. */
  readonly image: string;
  /** Address of the folder of the chart, as helm takes it. */
  readonly charts: string;
  /** The registry is on a loopback address and speaks plain HTTP. */
  readonly isPlain: boolean;
}

const shape = /^([a-z0-9][a-z0-9.-]*|\[[0-9a-f:]+\])(:\d{1,5})?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;
const versionShape = /^\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;

/**
 * Returns what is published, and where. Without a version it is the release of the checkout, which must be tagged and
 * unchanged. Throws PublishError.
 */
export function publicationOf(registry: string, version: string, checkout: Checkout): Publication {
  if (!shape.test(registry)) {
    throw new PublishError('REGISTRY must be a registry and a path in it, such as images.example.com/team');
  }
  const [host = ''] = registry.split('/');
  return {
    version: version === '' ? releaseOf(checkout) : checkedVersion(version),
    image: `${registry}/boxgate`,
    charts: `oci://${registry}/charts`,
    isPlain: /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(host),
  };
}

function checkedVersion(version: string): string {
  if (versionShape.test(version)) return version;
  throw new PublishError(`VERSION must be a version such as 1.4.0-rc.1, not "${version}" (https://semver.org)`);
}

function releaseOf({ version, tags, changed }: Checkout): string {
  const advice = 'check out a release (make release tags one), or name another VERSION';
  if (!tags.includes(`v${version}`)) throw new PublishError(`this commit is not tagged v${version}: ${advice}`);
  if (changed !== '') throw new PublishError(`these files differ from the release: ${advice}\n${changed}`);
  return version;
}

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
