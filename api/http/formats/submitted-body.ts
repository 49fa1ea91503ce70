import type { Patch, RequestedChange } from '../../records/record.ts';
import { bodyFormat } from './body-format.ts';
import type { ResourceExchange } from '../resources/resource-exchange.ts';

type Submitted = Pick<ResourceExchange, 'contentType' | 'body'>;

/** Returns the document in the body of a PUT or POST. Throws Problem `unsupported-media-type` for a patch. */
export function documentIn({ contentType, body }: Submitted): unknown {
  bodyFormat(contentType, 'PUT');
  return body;
}

/** Returns the change that a PUT, a PATCH or a POST requests. Throws Problem `unsupported-media-type`. */
export function requestedChange(write: Submitted & Pick<ResourceExchange, 'method'>): RequestedChange {
  return write.method === 'PATCH' ? patchIn(write) : { form: 'document', value: documentIn(write) };
}

/** Returns the patch in the body of a PATCH: a plain document is a merge patch. */
function patchIn({ contentType, body }: Submitted): Patch {
  const { meaning } = bodyFormat(contentType);
  if (meaning === 'json-patch' && Array.isArray(body)) return { form: 'json-patch', value: body };
  return { form: 'merge-patch', value: body };
}
