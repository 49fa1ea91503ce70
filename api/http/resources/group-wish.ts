import { jsonPatch } from '../../resources/patch/json-patch.ts';
import { mergePatch } from '../../resources/patch/merge-patch.ts';
import type { GroupWish } from '../../users/group/change.ts';
import type { ResourceExchange } from './resource-exchange.ts';
import { documentIn, patchIn } from '../formats/submitted-body.ts';

/** Returns the function that computes the requested group of a PUT or PATCH from the current one. */
export function wishOf(write: Pick<ResourceExchange, 'method' | 'body' | 'contentType'>): GroupWish {
  if (write.method !== 'PATCH') {
    const document = documentIn(write);
    return () => document;
  }
  const patch = patchIn(write);
  return (present) =>
    patch.form === 'json-patch' ? jsonPatch(present, patch.value) : mergePatch(present, patch.value);
}
