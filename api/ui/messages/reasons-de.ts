import type { RefusalReason } from '../../schemas/refusals.ts';

/** The reasons of refusals in German: what is wrong, and what to do. The English ones are those of their table. */
export const germanReasons: Readonly<Record<RefusalReason, Readonly<Record<'wrong' | 'fix', string>>>> = {
  unknown_client: {
    wrong: 'Die Box hat keinen Client mit dieser ID',
    fix: 'Vergleichen Sie client_id und Aussteller der App mit den Clients dieser Box',
  },
  inactive_client: {
    wrong: 'Der Client oder seine Box ist abgeschaltet',
    fix: 'Setzen Sie active: true am Client oder an der Box, oder entfernen Sie das Feld',
  },
  no_secret: {
    wrong: 'Ein Client, der sich ausweisen kann, hat nichts gesendet',
    fix: 'Geben Sie der App ihr Geheimnis; eine App, die keines hüten kann, ist ein Client ohne Geheimnis',
  },
  wrong_secret: {
    wrong: 'Das Geheimnis gehört nicht zum Client',
    fix: 'Kopieren Sie das Geheimnis noch einmal, ohne Zeilenende, oder erneuern Sie es',
  },
  retired_secret: {
    wrong: 'Das Geheimnis wurde ersetzt, und die Frist des vorigen ist um',
    fix: 'Geben Sie der App das neue Geheimnis und starten Sie sie neu',
  },
  malformed_credentials: {
    wrong: 'Kein Client ist genannt, oder die Kopfzeile Authorization ist nicht Basic',
    fix: 'Senden Sie client_id oder Authorization: Basic base64(client_id:client_secret)',
  },
  wrong_assertion: {
    wrong: 'Die Assertion oder das Token eines ServiceAccount weist den Client nicht aus',
    fix: 'Vergleichen Sie jwks oder service_accounts des Clients mit Schlüssel, iss, sub und aud der Assertion',
  },
  assertion_time: {
    wrong: 'Die Assertion ist abgelaufen, oder ihre Zeiten liegen in der Zukunft',
    fix: 'Stellen Sie die Uhr der App über NTP, und erzeugen Sie für jede Anfrage eine neue Assertion',
  },
  redirect_uri_not_listed: {
    wrong: 'Der Client nennt eine andere redirect_uri oder keine',
    fix: 'Tragen Sie die gesendete Adresse Zeichen für Zeichen in redirect_uris des Clients ein',
  },
  wrong_code_challenge: {
    wrong: 'Der Client braucht PKCE mit S256, und die Anfrage hat keine solche code_challenge',
    fix: 'Schalten Sie in der App PKCE mit S256 ein',
  },
  grant_not_listed: {
    wrong: 'Der Client nennt diesen Grant nicht',
    fix: 'Ergänzen Sie grant_types des Clients, oder lassen Sie die App einen anderen Grant benutzen',
  },
  grant_not_supported: {
    wrong: 'Der Grant oder der response_type ist abgeschaltet oder unbekannt',
    fix: 'Lassen Sie die App authorization_code, client_credentials oder refresh_token benutzen',
  },
  scope_not_allowed: {
    wrong: 'Der Client darf diesen Scope nicht anfordern',
    fix: 'Ergänzen Sie scope des Clients, oder lassen Sie die App ihn weglassen',
  },
  audience_not_allowed: {
    wrong: 'Der Client darf diese Audience nicht anfordern',
    fix: 'Ergänzen Sie audience des Grants im Client, so geschrieben, wie die App sie sendet',
  },
  malformed_request: {
    wrong: 'Ein Parameter fehlt, ist doppelt oder falsch geschrieben',
    fix: 'Lassen Sie die App senden, was der Satz unter „Gesendet“ sagt',
  },
  unknown_code: {
    wrong: 'Der Code ist unbekannt oder wurde widerrufen',
    fix: 'Die App muss den Code unverändert an die Box senden, von der er kommt; eine neue Anmeldung gibt einen neuen',
  },
  used_code: {
    wrong: 'Der Code wurde schon benutzt',
    fix: 'Die App darf einen Code nur einmal einlösen: suchen Sie eine doppelt geladene Seite oder eine Wiederholung',
  },
  expired_code: {
    wrong: 'Der Code ist abgelaufen',
    fix: 'Die App muss den Code sofort einlösen; eine neue Anmeldung gibt einen neuen',
  },
  code_of_another_client: {
    wrong: 'Der Code wurde für einen anderen Client ausgestellt',
    fix: 'Benutzen Sie für beide Anfragen dieselbe client_id',
  },
  redirect_uri_differs: {
    wrong: 'Die redirect_uri ist nicht die der ersten Anfrage, oder sie ist nicht mehr eingetragen',
    fix: 'Senden Sie in beiden Anfragen dieselbe redirect_uri',
  },
  wrong_code_verifier: {
    wrong: 'Der code_verifier gehört nicht zur code_challenge, oder eines von beiden fehlt',
    fix: 'Die App muss den Verifier bis zum Einlösen aufheben, in einem Browser und einem Prozess',
  },
  unknown_refresh_token: {
    wrong: 'Das Refresh-Token ist unbekannt, abgelaufen oder widerrufen, oder von einem anderen Client',
    fix: 'Lassen Sie die App neu anmelden; vergleichen Sie ihre client_id und die Laufzeiten des Clients',
  },
  used_refresh_token: {
    wrong: 'Das Refresh-Token wurde ersetzt, und alle Tokens seiner Anmeldung wurden widerrufen',
    fix: 'Die App muss das Refresh-Token jeder Antwort speichern und nur an einer Stelle zugleich erneuern',
  },
  refresh_not_permitted: {
    wrong: 'Die Einstellungen des Clients oder der Box erlauben das Erneuern nicht',
    fix: 'Setzen Sie refresh_token: true im Grant des Clients, nennen Sie den Grant, oder melden Sie neu an',
  },
  token_of_another_client: {
    wrong: 'Das Token, das widerrufen werden soll, gehört einem anderen Client',
    fix: 'Widerrufen Sie ein Token mit dem Client, der es bekam',
  },
  token_too_large: {
    wrong: 'Das Token passt nicht in die Kopfzeilen einer Anfrage',
    fix: 'Fordern Sie weniger Scopes an, oder nehmen Sie den Benutzer in weniger Gruppen auf',
  },
  too_many_secrets: {
    wrong: 'Zu viele Geheimnisse oder Refresh-Tokens dieser Adresse waren falsch',
    fix: 'Berichtigen Sie das Geheimnis der App, und warten Sie eine Minute',
  },
  unknown_token: {
    wrong: 'Das Access-Token ist unbekannt, abgelaufen oder widerrufen, oder von einer anderen Box',
    fix: 'Holen Sie ein neues Token dieser Box; ein ID-Token ist keines',
  },
  token_for_another_audience: {
    wrong: 'Das Access-Token ist für eine andere Audience als die App und die Box',
    fix: 'Fordern Sie das Token mit dem Namen der App als audience an',
  },
  token_without_openid: {
    wrong: 'Das Token ist nicht das einer Person mit dem Scope openid',
    fix: 'Melden Sie die Person mit dem Scope openid an',
  },
  no_policy: {
    wrong: 'Keine Zugriffsregel betrifft den Absender',
    fix: 'Verknüpfen Sie eine Regel mit dem Client, dem Benutzer oder einer seiner Gruppen',
  },
  no_policy_grants: {
    wrong: 'Keine der Regeln, die den Absender betreffen, erlaubt diese Anfrage',
    fix: 'Fragen Sie boxctl can mit derselben Anfrage: es sagt, was jeder Regel fehlt',
  },
  token_without_boxgate: {
    wrong: 'Das Token trägt die Rechte seines Benutzers nicht',
    fix: 'Fordern Sie das Token mit dem Scope boxgate an, oder für die Audience der App',
  },
  unknown_user: {
    wrong: 'Die Box hat keinen Benutzer mit dieser E-Mail-Adresse',
    fix: 'Suchen Sie die Adresse unter den Benutzern dieser Box; jede Box hat eigene',
  },
  inactive_user: { wrong: 'Der Benutzer ist abgeschaltet', fix: 'Schalten Sie den Benutzer wieder ein' },
  wrong_password: { wrong: 'Das Passwort ist falsch', fix: 'Geben Sie dem Benutzer ein neues Passwort' },
  too_many_passwords: {
    wrong: 'Zu viele Passwörter dieses Kontos oder dieser Adresse waren falsch',
    fix: 'Warten Sie 15 Minuten, oder melden Sie sich in einem Browser an, der schon angemeldet war',
  },
  origin_not_listed: {
    wrong: 'Weder die Box noch ein aktiver Client nennt diese Herkunft: Skripte dort lesen die Antwort nicht',
    fix: 'Ergänzen Sie allowed_origins des Clients oder cors.allowed_origins der Box',
  },
};
