import { readEmails } from './db/user/user-emails.ts';
import { emailKey } from './users/user/email.ts';

/**
 * Lists the users of a database whose email differs from the form in which it would be stored today, one line each;
 * changes nothing. Shows the email as JSON text, since it may contain line feeds. `ownerUrl` as for `migrate`.
 */
export async function* affectedEmails(ownerUrl: string): AsyncGenerator<string> {
  for await (const { box, id, email, emailKey: key } of readEmails(ownerUrl)) {
    const normal = emailKey(email);
    if (normal === email && normal === key) continue;
    const form = normal === undefined ? 'is no email' : `has the normal form ${normal}`;
    yield `box ${box}, user ${String(id)}: ${JSON.stringify(email)} ${form}`;
  }
}
