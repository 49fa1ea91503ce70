import { isTerminating, type BoxPass } from './box-pass.ts';

/**
 * Keeps the Service of a box in which anything is declared: once, and then in each pass over everything. The Service
 * stays when nothing is declared any more, because retained clients may still use its name.
 */
export async function keepService(pass: BoxPass): Promise<void> {
  const { box, scope, listing, cache, context, signal } = pass;
  const { keepService: keep } = context.source;
  if (keep === undefined || listing.objects.length === 0 || isTerminating(pass)) return;
  if (scope === 'changes' && cache.service !== undefined) return;
  cache.service = (await keep(box, signal)) ?? cache.service;
}
