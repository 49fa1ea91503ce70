import { URI_TEXT } from '../../../crds/fields.ts';
import type { RequestedAccess } from './plan.ts';
import { OAuthError } from '../oauth-error.ts';
import type { Parameters } from './parameters.ts';

/** Reads the requested audience and scope. Throws OAuthError `invalid_target` for a malformed `resource`. */
export function requestedAccess(parameters: Parameters): RequestedAccess {
  return { audience: requestedTarget(parameters), scope: parameters.get('scope') };
}

/** Reads the audience. RFC 8707 §2 names it `resource`, which must be an absolute URI. */
function requestedTarget(parameters: Parameters): string | undefined {
  const audience = parameters.get('audience');
  const resource = parameters.get('resource');
  if (resource === undefined) return audience;
  if (!isAbsoluteUri(resource)) {
    throw new OAuthError('invalid_target', 'resource must be an absolute URI without a fragment (RFC 8707 section 2)');
  }
  if (audience !== undefined && audience !== resource) {
    throw new OAuthError('invalid_target', 'resource and audience name two targets: a token is for one');
  }
  return resource;
}

const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:[^#]+$/;
const characters = new RegExp(URI_TEXT);

/** Checks for the form of RFC 3986 §4.3: a scheme, something after it, no fragment. */
function isAbsoluteUri(text: string): boolean {
  return scheme.test(text) && characters.test(text);
}
