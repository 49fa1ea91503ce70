import type { Language } from './page.ts';

/** All texts of the pages, in one language. */
export interface Messages {
  readonly signIn: string;
  readonly toContinueTo: (app: string) => string;
  readonly email: string;
  readonly password: string;
  readonly wrongPassword: string;
  readonly signUp: string;
  readonly noAccount: string;
  readonly haveAccount: string;
  readonly emailHint: (domains: string) => string;
  readonly passwordHint: (least: number) => string;
  readonly emailFaults: Readonly<Record<'no-email' | 'other-domain' | 'taken' | 'full', string>>;
  readonly passwordFaults: Readonly<Record<'too-short' | 'too-long' | 'most-used' | 'stored-form', string>>;
  readonly registered: string;
  readonly waitsForAdmin: string;
  readonly front: string;
  readonly frontText: string;
  readonly frontBoxes: string;
  readonly signedIn: string;
  readonly signedInAs: (email: string) => string;
  readonly openConsole: string;
  readonly openAccount: string;
  readonly signOut: string;
  readonly signOutQuestion: string;
  readonly signOutOnward: string;
  readonly logoutFaults: Readonly<Record<'unlisted' | 'no-client', string>>;
  readonly signedOut: string;
  readonly signedOutText: string;
  readonly signInAgain: string;
  readonly consent: (app: string) => string;
  readonly consentApp: string;
  readonly consentAudience: string;
  readonly consentGoesTo: string;
  readonly consentLasts: string;
  readonly consentMay: string;
  readonly consentKnowsYou: string;
  /** The rights that `boxgate` and the standard scopes of OpenID Connect give an app; other scopes show as they are. */
  readonly scopes: Readonly<Record<string, string>>;
  readonly consentSeesDetails: (details: string) => string;
  /** The standard claims of OpenID Connect, as details about a user. */
  readonly claims: Readonly<Record<string, string>>;
  readonly allow: string;
  readonly deny: string;
  readonly backToApp: string;
  readonly backToAppText: string;
  readonly goOn: string;
  readonly problem: string;
  readonly problems: Readonly<Record<PageProblem, string>>;
  readonly tryAgain: string;
  readonly requestId: string;
  readonly administration: string;
  readonly uiLoads: string;
  readonly uiNeedsScript: string;
}

/** Problems that a page can report. */
export type PageProblem =
  | 'bad-request'
  | 'untrusted'
  | 'logout-untrusted'
  | 'expired'
  | 'closed'
  | 'not-found'
  | 'form-expired'
  | 'method-not-allowed'
  | 'too-large'
  | 'headers-too-large'
  | 'token-too-large'
  | 'throttled'
  | 'unavailable'
  | 'bug';

/** The message table. */
export const messages: Readonly<Record<Language, Messages>> = {
  en: {
    signIn: 'Sign in',
    toContinueTo: (app) => `to continue to ${app}`,
    email: 'Email',
    password: 'Password',
    wrongPassword: 'Wrong email or password. Check both and try again.',
    signUp: 'Create an account',
    noAccount: 'No account yet?',
    haveAccount: 'Already have an account?',
    emailHint: (domains) => `With one of these domains: ${domains}`,
    passwordHint: (least) => `At least ${String(least)} characters`,
    emailFaults: {
      'no-email': 'Type an email address, such as ann@example.com.',
      'other-domain': 'You cannot register here with an address of this domain.',
      taken: 'Somebody has registered with this email. If it was you, sign in.',
      full: 'No more accounts can be created here. Ask the administrator.',
    },
    passwordFaults: {
      'too-short': 'This password is too short.',
      'too-long': 'A password has at most 4096 characters, fewer with accents, other scripts or emoji.',
      'stored-form': 'This is the stored form of a password. Type the password itself.',
      'most-used': 'This is one of the most common passwords, which are guessed first. Choose another one.',
    },
    registered: 'You are registered',
    waitsForAdmin:
      'Your account is waiting for the approval of an administrator. Until then, signing in says that the email or password is wrong. Once the account is approved, sign in with the email and password that you chose. No mail is sent.',
    front: 'Boxgate',
    frontText:
      'This server signs people in to apps and issues their tokens. To sign in, open the app that you want to use.',
    frontBoxes: 'Consoles of the boxes here:',
    signedIn: 'You are signed in',
    signedInAs: (email) => `Signed in as ${email}`,
    openConsole: 'Open the console',
    openAccount: 'Open your account',
    signOut: 'Sign out',
    signOutQuestion: 'Do you want to sign out in this browser?',
    signOutOnward: 'An app wants to sign you out. If nothing happens, press the button.',
    logoutFaults: {
      unlisted:
        'The request of the app that sent you here is wrong: the app has not registered the address to which you should return. That address was not called. The operator of the app must check its post_logout_redirect_uri.',
      'no-client':
        'The request of the app that sent you here is wrong: it does not say which app it comes from. The address to which you should return was not called. The operator of the app must send its id_token_hint or client_id.',
    },
    signedOut: 'You are signed out',
    signedOutText: 'You can close this window.',
    signInAgain: 'Sign in again',
    consent: (app) => `Allow ${app} access?`,
    consentApp: 'App',
    consentAudience: 'Its access is for',
    consentGoesTo: 'It takes you back to',
    consentLasts: 'Access lasts at most',
    consentMay: 'It wants to',
    consentKnowsYou: 'know who you are',
    scopes: {
      openid: 'know who you are',
      profile: 'see your profile',
      email: 'see your email address',
      address: 'see your postal address',
      phone: 'see your phone number',
      groups: 'see which groups you are in',
      offline_access: 'keep its access while you are away',
      boxgate: 'act in your name at this service, as far as your rights there allow',
    },
    consentSeesDetails: (details) => `see these details about you: ${details}`,
    claims: {
      name: 'name',
      family_name: 'family name',
      given_name: 'given name',
      middle_name: 'middle name',
      nickname: 'nickname',
      preferred_username: 'user name',
      profile: 'profile page',
      picture: 'picture',
      website: 'website',
      gender: 'gender',
      birthdate: 'date of birth',
      zoneinfo: 'time zone',
      locale: 'language',
      updated_at: 'time of the last change',
      email: 'email address',
      email_verified: 'whether your email address is verified',
      address: 'postal address',
      phone_number: 'phone number',
      phone_number_verified: 'whether your phone number is verified',
      groups: 'groups',
    },
    allow: 'Allow',
    deny: 'Deny',
    backToApp: 'Back to the app',
    backToAppText: 'You are on your way back to the app. If nothing happens, press the button.',
    goOn: 'Continue',
    problem: 'Something went wrong',
    problems: {
      'logout-untrusted':
        'An app wanted to sign you out, but the request is not its own. Nobody was signed out, and no address of an app was called. The operator of the app must check its id_token_hint and client_id.',
      untrusted:
        'The app that sent you here is unknown, or wants to send you to an address that is not its own. Nothing was passed on. The operator of the app must check its client_id and redirect_uri.',
      expired:
        'This question has already been answered, or is more than ten minutes old. Go back to the app and start again.',
      closed: 'Nobody can sign in here at present. The administrator of this service can say why.',
      'bad-request': 'The request is malformed. Go back to the app and start again.',
      'form-expired':
        'This form has expired, or your browser sent no cookie with it. Allow cookies for this site, then try again.',
      'not-found': 'There is no page at this address.',
      'method-not-allowed': 'This address does not accept such a request.',
      'too-large': 'The request is too large.',
      'token-too-large':
        'You were not signed in to the app: you are in so many groups that its token would be too large. An administrator can take you out of some of them.',
      'headers-too-large':
        'Your browser sent more than 32 KB of cookies and other headers. Delete the cookies of this site and of its neighbours under the same domain, then try again.',
      throttled:
        'There were too many attempts. Try again later, or in a browser that has signed in to this account before.',
      unavailable: 'The service cannot answer right now. Try again in a moment.',
      bug: 'Something went wrong on our side. Try again. If the problem persists, give the request ID below to the administrator of this service.',
    },
    tryAgain: 'Try again',
    requestId: 'Request ID:',
    administration: 'Administration',
    uiLoads: 'Loading …',
    uiNeedsScript: 'This page needs JavaScript. Without it, use boxctl or the REST API.',
  },
  de: {
    signIn: 'Anmelden',
    toContinueTo: (app) => `um mit ${app} fortzufahren`,
    email: 'E-Mail',
    password: 'Passwort',
    wrongPassword: 'E-Mail oder Passwort ist falsch. Prüfen Sie beides und versuchen Sie es noch einmal.',
    signUp: 'Konto anlegen',
    noAccount: 'Noch kein Konto?',
    haveAccount: 'Sie haben schon ein Konto?',
    emailHint: (domains) => `Mit einer dieser Domains: ${domains}`,
    passwordHint: (least) => `Mindestens ${String(least)} Zeichen`,
    emailFaults: {
      'no-email': 'Geben Sie eine E-Mail-Adresse ein, zum Beispiel ann@example.com.',
      'other-domain': 'Mit einer Adresse dieser Domain können Sie sich hier nicht registrieren.',
      taken: 'Mit dieser E-Mail-Adresse hat sich schon jemand registriert. Wenn Sie das waren, melden Sie sich an.',
      full: 'Hier können keine weiteren Konten angelegt werden. Wenden Sie sich an den Administrator.',
    },
    passwordFaults: {
      'too-short': 'Dieses Passwort ist zu kurz.',
      'too-long': 'Ein Passwort hat höchstens 4096 Zeichen, weniger mit Umlauten, anderen Schriften oder Emojis.',
      'stored-form': 'Das ist die gespeicherte Form eines Passworts. Geben Sie das Passwort selbst ein.',
      'most-used': 'Das ist eines der häufigsten Passwörter, die zuerst ausprobiert werden. Wählen Sie ein anderes.',
    },
    registered: 'Sie sind registriert',
    waitsForAdmin:
      'Ihr Konto wartet auf die Freischaltung durch einen Administrator. Bis dahin meldet die Anmeldung, dass E-Mail oder Passwort falsch ist. Melden Sie sich nach der Freischaltung mit der E-Mail-Adresse und dem Passwort an, die Sie gewählt haben. Sie bekommen keine E-Mail.',
    front: 'Boxgate',
    frontText:
      'Dieser Server meldet Personen bei Apps an und stellt deren Tokens aus. Zum Anmelden öffnen Sie die App, die Sie benutzen möchten.',
    frontBoxes: 'Verwaltung der Boxen:',
    signedIn: 'Sie sind angemeldet',
    signedInAs: (email) => `Angemeldet als ${email}`,
    openConsole: 'Verwaltung öffnen',
    openAccount: 'Ihr Konto öffnen',
    signOut: 'Abmelden',
    signOutQuestion: 'Möchten Sie sich in diesem Browser abmelden?',
    signOutOnward: 'Eine App möchte Sie abmelden. Wenn nichts geschieht, klicken Sie auf die Schaltfläche.',
    logoutFaults: {
      unlisted:
        'Die Anfrage der App, die Sie hierher geschickt hat, ist falsch: Die App hat die Adresse, zu der Sie zurückkehren sollen, nicht registriert. Diese Adresse wurde nicht aufgerufen. Der Betreiber der App muss post_logout_redirect_uri prüfen.',
      'no-client':
        'Die Anfrage der App, die Sie hierher geschickt hat, ist falsch: Sie sagt nicht, von welcher App sie kommt. Die Adresse, zu der Sie zurückkehren sollen, wurde nicht aufgerufen. Der Betreiber der App muss id_token_hint oder client_id senden.',
    },
    signedOut: 'Sie sind abgemeldet',
    signedOutText: 'Sie können dieses Fenster schließen.',
    signInAgain: 'Erneut anmelden',
    consent: (app) => `Zugriff für ${app} erlauben?`,
    consentApp: 'App',
    consentAudience: 'Der Zugriff der App gilt für',
    consentGoesTo: 'Die App führt Sie zurück zu',
    consentLasts: 'Der Zugriff dauert höchstens',
    consentMay: 'Die App möchte',
    consentKnowsYou: 'wissen, wer Sie sind',
    scopes: {
      openid: 'wissen, wer Sie sind',
      profile: 'Ihr Profil sehen',
      email: 'Ihre E-Mail-Adresse sehen',
      address: 'Ihre Postanschrift sehen',
      phone: 'Ihre Telefonnummer sehen',
      groups: 'sehen, in welchen Gruppen Sie sind',
      offline_access: 'auch in Ihrer Abwesenheit Zugriff behalten',
      boxgate: 'bei diesem Dienst in Ihrem Namen handeln, soweit Ihre Rechte dort reichen',
    },
    consentSeesDetails: (details) => `diese Angaben über Sie sehen: ${details}`,
    claims: {
      name: 'Name',
      family_name: 'Nachname',
      given_name: 'Vorname',
      middle_name: 'weitere Vornamen',
      nickname: 'Spitzname',
      preferred_username: 'Benutzername',
      profile: 'Profilseite',
      picture: 'Bild',
      website: 'Website',
      gender: 'Geschlecht',
      birthdate: 'Geburtsdatum',
      zoneinfo: 'Zeitzone',
      locale: 'Sprache',
      updated_at: 'Zeit der letzten Änderung',
      email: 'E-Mail-Adresse',
      email_verified: 'ob Ihre E-Mail-Adresse bestätigt ist',
      address: 'Postanschrift',
      phone_number: 'Telefonnummer',
      phone_number_verified: 'ob Ihre Telefonnummer bestätigt ist',
      groups: 'Gruppen',
    },
    allow: 'Erlauben',
    deny: 'Ablehnen',
    backToApp: 'Zurück zur App',
    backToAppText: 'Sie werden zur App zurückgeleitet. Wenn nichts geschieht, klicken Sie auf die Schaltfläche.',
    goOn: 'Weiter',
    problem: 'Das hat nicht geklappt',
    problems: {
      'logout-untrusted':
        'Eine App wollte Sie abmelden, aber die Anfrage gehört nicht zu dieser App. Es wurde niemand abgemeldet und keine Adresse einer App aufgerufen. Der Betreiber der App muss id_token_hint und client_id prüfen.',
      untrusted:
        'Die App, die Sie hierher geschickt hat, ist unbekannt oder möchte Sie zu einer Adresse schicken, die nicht zu ihr gehört. Es wurde nichts weitergegeben. Der Betreiber der App muss client_id und redirect_uri prüfen.',
      expired:
        'Diese Frage ist schon beantwortet oder älter als zehn Minuten. Gehen Sie zurück zur App und beginnen Sie von vorn.',
      closed: 'Zurzeit kann sich hier niemand anmelden. Die Administration dieses Dienstes kennt den Grund.',
      'bad-request': 'Die Anfrage ist fehlerhaft. Gehen Sie zurück zur App und beginnen Sie von vorn.',
      'form-expired':
        'Dieses Formular ist abgelaufen, oder Ihr Browser hat kein Cookie mitgeschickt. Erlauben Sie Cookies für diese Seite und versuchen Sie es noch einmal.',
      'not-found': 'Unter dieser Adresse gibt es keine Seite.',
      'method-not-allowed': 'Diese Adresse nimmt eine solche Anfrage nicht an.',
      'too-large': 'Die Anfrage ist zu groß.',
      'token-too-large':
        'Sie wurden bei der App nicht angemeldet: Sie sind in so vielen Gruppen, dass deren Token zu groß würde. Ein Administrator kann Sie aus einigen herausnehmen.',
      'headers-too-large':
        'Ihr Browser hat mehr als 32 KB an Cookies und anderen Kopfzeilen gesendet. Löschen Sie die Cookies dieser Seite und ihrer Nachbarn unter derselben Domain, und versuchen Sie es noch einmal.',
      throttled:
        'Es gab zu viele Versuche. Versuchen Sie es später noch einmal, oder in einem Browser, in dem Sie bei diesem Konto schon einmal angemeldet waren.',
      unavailable: 'Der Dienst kann gerade nicht antworten. Versuchen Sie es gleich noch einmal.',
      bug: 'Bei uns ist etwas schiefgegangen. Versuchen Sie es noch einmal. Wenn der Fehler bleibt, nennen Sie dem Betreiber die Nummer unten.',
    },
    tryAgain: 'Noch einmal versuchen',
    requestId: 'Nummer dieser Anfrage:',
    administration: 'Verwaltung',
    uiLoads: 'Wird geladen …',
    uiNeedsScript: 'Diese Seite braucht JavaScript. Ohne JavaScript benutzen Sie boxctl oder die REST-API.',
  },
};
