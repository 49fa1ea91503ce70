import { MOST_GROUPS_OF_USER } from '../../../crds/user-faults.ts';
import type { RefusalName } from '../../../crds/user-faults.ts';
import { PASSWORD_BYTES } from '../../../crds/secret-text.ts';
import type { JsonFault } from '../check-json.ts';

/** The tabs, in order; the last one is for everybody. */
export const TABS = ['users', 'groups', 'sessions', 'clients', 'policies', 'audit', 'account'] as const;

/** One of {@link TABS}. */
export type Tab = (typeof TABS)[number];

/** All texts of the UI, in one language. */
export type Messages = Readonly<typeof english>;

/** The texts in English. */
export const english = {
  administration: 'Administration',
  tabs: {
    users: 'Users',
    groups: 'Groups',
    sessions: 'Sessions',
    clients: 'Clients',
    policies: 'Policies',
    audit: 'Audit',
    account: 'Account',
  } satisfies Readonly<Record<Tab, string>>,
  sections: 'Sections',
  signIn: 'Sign in',
  signOut: 'Sign out',
  signedInAs: (email: string) => `Signed in as ${email}`,
  signedOut: 'You are signed out. Use another tab to sign in, then come back here. Your text is kept.',
  signedOutHere: 'You are not signed in.',
  signInRefused: (reason: string) =>
    `The box does not allow this page to sign in (${reason}). Contact the administrator of the service.`,
  insecure:
    'This page was loaded without encryption. Open it over HTTPS, or at 127.0.0.1 if the service runs on this machine.',
  goOn: 'Continue',
  loading: 'Loading …',
  offline: 'The service cannot be reached. Your text is kept. Try again when you are online.',
  unavailable: (seconds: number | undefined) =>
    seconds === undefined
      ? 'The service is not available right now. Your text is kept. Try again in a moment.'
      : `The service is not available right now. Your text is kept. Try again in ${String(seconds)} s.`,
  /** `status` is the one of an answer that the API did not write. */
  unreadable: (status: number) =>
    `The response did not come from the service (status ${String(status)}). A proxy may have sent it. Your text is kept.`,
  /** `email` is that of the user for whom the page was opened. */
  otherUser: (email: string) =>
    `Another user has signed in with this browser, so this page no longer sends requests for ${email}. Reload it to continue as the other user, or sign in as ${email} again in another tab.`,
  otherUserHere: 'Another user is signed in with this browser.',
  reload: 'Reload the page',
  tryAgain: 'Try again',
  gone: 'This record no longer exists.',
  textStays: 'Your text is still here.',
  createAgain: 'Create it again',
  takeFromList: 'Remove it from the list',
  refusals: {
    taken: 'Another user already has this email address.',
    'no-email': 'This must be an email address, such as ann@example.com.',
    'too-long': `A password can have at most ${String(PASSWORD_BYTES)} characters, fewer with accents, other scripts or emoji.`,
    'stored-form': 'This is the stored form of a password. Type the password itself.',
    'most-used': 'This is one of the most common passwords, which are guessed first. Choose another one.',
    'wrong-password': 'This is not your current password.',
    'too-many-groups': `A user can be in at most ${String(MOST_GROUPS_OF_USER)} groups.`,
    'group-taken': 'Another group of this box already has this name.',
  } satisfies Readonly<Record<RefusalName, string>>,
  tooShort: (least: number) => `A password must have at least ${String(least)} characters.`,
  /** `meant` is the field that was probably meant; undefined if there is none. */
  unknownField: (field: string, meant: string | undefined) =>
    meant === undefined ? `${field} is not a known field.` : `${field} is not a known field. Did you mean ${meant}?`,
  /** `value` is in the field `path`. */
  unknownValue: (path: string, value: string, meant: string) =>
    `${value} is not a known value of ${path}. Did you mean ${meant}?`,
  noSuchUser: (text: string) => `There is no user with the email address ${text}.`,
  noRight: (method: string, path: string) => `No access policy allows you to do this: ${method} ${path}`,
  noRightRemedy:
    'If you should have this right, an administrator can add you to a group that has it, or apply this policy:',
  managed: (object: string) =>
    `The custom resource ${object} declares this record. It is read-only here. Change the custom resource instead.`,
  managedInFolder: (object: string, folder: string) =>
    `The manifest of ${object} in the folder ${folder} declares this record. It is read-only here. Change the manifest instead.`,
  command: 'Command that shows the custom resource',
  filter: 'Filter',
  filterGroups: 'Filter groups',
  shown: (count: number, hasMore: boolean) =>
    hasMore ? `${String(count)} shown, more available` : `${String(count)} shown`,
  more: 'Show more',
  chooseRecord: 'Select a record to see it.',
  backToList: 'Back to the list',
  save: 'Save',
  delete: 'Delete',
  discard: 'Discard changes',
  undo: 'Undo',
  saved: (title: string) => `Saved: ${title}`,
  deleted: (title: string) => `Deleted: ${title}`,
  restored: (title: string) => `Restored: ${title}`,
  notRestored: (title: string) => `Could not be restored: ${title}`,
  conflict: 'Somebody else has changed this record since you opened it. Nothing was saved. These are the differences:',
  noDifference: 'The fields shown here are the same.',
  storedNow: (field: string) => `${field}, as stored now`,
  yourText: (field: string) => `${field}, your text`,
  keepMine: 'Keep my text, then save',
  takeStored: 'Use the stored text',
  notJson: ({ line, column, found }: JsonFault) =>
    `Invalid JSON at line ${String(line)}, column ${String(column)}: ${found === '' ? 'the text ends too early' : `unexpected “${found}”`}.`,
  newUser: 'New user',
  newGroup: 'New group',
  newClient: 'New client',
  newPolicy: 'New policy',
  name: 'Name',
  description: 'Description',
  email: 'Email',
  password: 'Password',
  passwordStays: 'Leave this empty to keep the password. A new password ends all sessions of the user.',
  oldPassword: 'Current password',
  newPassword: 'New password',
  newPasswordHint: 'A new password ends all your sessions, including those in other browsers.',
  changePassword: 'Change your password',
  passwordChanged: 'Your password has been changed. Sign in with the new one.',
  data: 'Data',
  groupIds: 'Group-ids',
  noGroups: 'There are no groups in this box.',
  status: 'Status',
  active: 'active',
  inactive: 'inactive',
  session: 'Session',
  userSubject: (user: string, client: string) => `User ${user} · ${client}`,
  clientSubject: (client: string) => `Client ${client}`,
  user: 'User',
  client: 'Client',
  address: 'Address',
  started: 'Start',
  expires: 'End',
  type: 'Grant',
  scope: 'Scope',
  userAgent: 'User agent',
  endSession: 'End this session',
  endSessionsOf: (client: string) => `End all sessions of ${client}`,
  sessionsEnded: (count: number) => (count === 1 ? 'One session ended' : `${String(count)} sessions ended`),
  question: 'May X do Y?',
  clientId: 'Client ID',
  userId: 'User ID or email',
  app: 'App',
  appHint: 'Only for an app behind a gateway. Leave this empty for the endpoints of the box.',
  method: 'Method',
  path: 'Path',
  body: 'Body',
  ask: 'Ask the policies',
  granted: (policy: string) => `Granted by the policy ${policy}.`,
  denied: 'Denied: no policy grants it.',
  assumedClient: (client: string) => `The user is taken to be signed in to the client ${client}.`,
  candidates: 'Candidates',
  noCandidates: 'No policy applies to this subject.',
  policy: 'Policy',
  engine: 'Engine',
  verdict: 'Verdict',
  grants: 'Grants.',
  doesNotGrant: 'Does not grant.',
  lacks: (path: string, wants: string) => `The rule requires ${path === '' ? 'of the request' : path}: ${wants}`,
  wouldGrant: (linked: string) => `would grant it, but applies only to ${linked}.`,
  time: 'Time',
  result: 'Result',
  actor: 'Actor',
  target: 'Target',
  member: 'Member',
  changed: 'Changed fields',
  count: 'Count',
  requestId: 'Request ID',
  grantsOfUser: 'Apps that may act in your name',
  noGrants: 'There are none.',
  takeBack: (client: string) => `Withdraw consent for ${client}`,
};
