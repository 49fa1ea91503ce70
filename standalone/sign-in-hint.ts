import type { ObjectStatus } from '../operator/object-status.ts';
import { isGood } from './status-table.ts';

/** Somebody who can sign in: the first admin of a box. */
export interface AccountSubject {
  readonly box: string;
  readonly email: string;
  /** Name of the Secret that holds the password. */
  readonly secret: string;
}

/** Of a Box that is Ready: its first admin. */
export function accountSubject(status: ObjectStatus): AccountSubject | undefined {
  const { columns, namespace } = status;
  if (columns.kind !== 'Box' || columns.admin === undefined || !isGood(status)) return undefined;
  return { box: namespace, ...columns.admin };
}

/** An app that an address alone leads to. */
export interface AppSubject {
  readonly box: string;
  readonly id: string;
}

/** Of a client that is Ready: its app, if it has the implicit grant. For a code an app has to ask by itself. */
export function appSubject(status: ObjectStatus): AppSubject | undefined {
  const { columns, namespace } = status;
  if (columns.kind !== 'Client' || !isGood(status)) return undefined;
  return columns.grants.split(',').includes('implicit') ? { box: namespace, id: columns.id } : undefined;
}

/** Who signs in, and the address to open: that of an app, else the sign-in page. `boxUrl` is the address of the box. */
export function signInHint(boxUrl: string, account: AccountSubject, app: AppSubject | undefined): string {
  const address =
    app?.box === account.box
      ? `${boxUrl}/auth/authorize?response_type=token&client_id=${encodeURIComponent(app.id)}`
      : `${boxUrl}/auth/signin`;
  return `To sign in as ${account.email}, with the password in Secret ${account.secret}, open:\n\n  ${address}\n`;
}
