import type { HttpsBox } from './https-box.ts';

/** Makes the user of a box a member of new groups, and of no others. */
export async function joinGroups({ admin, user }: HttpsBox, names: readonly string[]): Promise<void> {
  const ids: unknown[] = [];
  for (const name of names) ids.push((await admin('POST', '/Group', { resourceType: 'Group', name }))['id']);
  await admin('PUT', `/users/${user}`, { 'group-ids': ids });
}
