import type { Kind } from '../../crds/kind.ts';

/** A test: its file, and a part of its title as written there. */
export type FieldProof = readonly [file: string, title: string];

/** The tests that prove the effect of each field, by kind and dotted field. */
type FieldProofs = Readonly<Record<Kind, Readonly<Record<string, FieldProof>>>>;

/** Proof of fields that are only stored and shown: the API returns them as written. */
const shown = ['test/http/resources/patches.test.ts', 'merges, also in YAML and as plain JSON'] as const;
const lifetimes = ['test/oauth/token/access-token-plan.test.ts', 'lives ${String(lifetime)} seconds with'] as const;
const reference = ['test/operator/secrets/resolve-secret.test.ts', 'finds the entry that a secretRef names'] as const;
const secretMetadata = [
  'test/operator/kube/secrets/secrets-in-cluster.test.ts',
  'fills in a template, carries labels and annotations',
] as const;
const suspended = ['test/operator/reconcile/pass.test.ts', 'leaves a suspended object as it is, of any kind'] as const;
const retained = ['test/operator/reconcile/lifecycle.test.ts', 'Retain: a client goes on with its secret'] as const;
const adopted = [
  'test/operator/reconcile/lifecycle.test.ts',
  'takes what was made over REST, whose sessions are revoked',
] as const;
const ids = ['test/operator/desired/validate.test.ts', 'or the id that it declares'] as const;
const linked = ['test/policy/policy-index.test.ts', 'a link to the client'] as const;
const keys = [
  'test/oauth/client-auth/private-key-jwt.test.ts',
  'may send it as JSON, with its id, without a kid',
] as const;
const importedKeys = ['test/crds/public-keys.test.ts', 'is refused by its place, as jose refuses it'] as const;
const publicKeys = ['test/crds/rules.test.ts', 'an object of test/crds/objects passes wrongly without ${id}'] as const;
const serviceAccounts = [
  'test/operator/kube/source/service-account-keys.test.ts',
  'P-13 are refused when the client does not list them',
] as const;
const switches = ['test/http/compatibility.test.ts', 'allows what it says, and nothing else'] as const;
const authorize = 'test/http/pages/authorize.test.ts';
const codes = 'test/http/pages/codes.test.ts';
const redirectUris = 'test/http/pages/redirect-uris.test.ts';
const crossOrigin = 'test/http/server/cross-origin.test.ts';
const bootstrapAdmin = 'test/operator/desired/bootstrap-admin.test.ts';
const signUp = 'test/http/pages/sign-up.test.ts';
const nested = [
  'test/policy/engines/complex.test.ts',
  "${JSON.stringify(rule)} ${granted ? 'grants' : 'denies'}",
] as const;

const declaredGroups = 'test/operator/reconcile/declared-groups.test.ts';

/**
 * For each field of each kind the test that proves its effect: the file, and a part of the title as it stands there.
 * Members of a list are `field[].member`. Fields that are not in force need none; all others do.
 */
export const FIELD_PROOFS: FieldProofs = {
  Box: {
    active: [
      'test/http/request/box-addressing.test.ts',
      'a box that is switched off answers as before, but lets nobody in',
    ],
    hosts: ['test/db/box/configuration.test.ts', 'is found by its host, with the path of its issuer there'],
    issuer: ['test/oauth/metadata.test.ts', 'have the issuer that the box is given, in every address'],
    'tokens.default_access_token_expiration': lifetimes,
    'tokens.default_lifetime': lifetimes,
    'tokens.reject_unknown_scope': ['test/oauth/token/ignored-scopes.test.ts', 'a scope that the box does not know'],
    'tokens.require_listed_audience': [
      'test/http/endpoints/settings-of-tokens/box.test.ts',
      'require_listed_audience: true refuses tokens of a client with an audience that it does not list',
    ],
    scopes: ['test/http/pages/consent-target.test.ts', 'shows its sentence in the language of the page, as text'],
    'tokens.max_refresh_lifetime': [
      'test/oauth/token/grants/refresh-token.test.ts',
      'T-44 slides with each use, up to an absolute end',
    ],
    'tokens.max_sessions_per_client': [
      'test/oauth/token/session-limit.test.ts',
      'refuses the token past it, of the client',
    ],
    'registration.enabled': [signUp, 'is not there in a box that does not enable it'],
    'registration.allowed_email_domains': [signUp, 'an email of another domain than the box allows'],
    'registration.default_group': [signUp, 'puts whom it registers into the default group'],
    'registration.approval': [signUp, 'lets nobody in before an admin says so'],
    'signing.algorithm': [
      'test/oauth/keys/signing-keys.test.ts',
      'sign tokens that jose verifies with what is published',
    ],
    'signing.rotation_period': [
      'test/oauth/keys/plan-keys.test.ts',
      'and always one to sign, through years of rotation',
    ],
    'compatibility.profile': switches,
    'password.min_length': ['test/http/resources/users/user-compatibility.test.ts', 'says how long a password must be'],
    'audit.retention': ['test/db/audit/audit-days.test.ts', 'keeps a record for as many days as the Box says'],
    'compatibility.query_token': switches,
    'compatibility.password_hash': switches,
    'compatibility.password_change_without_old': switches,
    'compatibility.refresh_without_secret': switches,
    'compatibility.implicit': switches,
    'compatibility.password_grant': switches,
    'compatibility.foreign_audience': switches,
    'sign_in.title': ['test/pages/page.test.ts', 'shows the name and the logo of its box'],
    'sign_in.logo_url': ['test/pages/page.test.ts', 'shows the name and the logo of its box'],
    'sign_in.color': ['test/browser/color.test.ts', 'has the colour of its box on the sign-in page and in the console'],
    'sign_in.session_lifetime': ['test/http/pages/sign-in.test.ts', 'keeps somebody signed in as long as the box says'],
    'cors.allowed_origins': [crossOrigin, 'may call the endpoints for programs from an origin that'],
    'bootstrap_admin.email': [bootstrapAdmin, 'is another one when the Box names another email'],
    'bootstrap_admin.passwordSecretRef.name': [bootstrapAdmin, 'is a user in the group admins'],
    'bootstrap_admin.passwordSecretRef.key': [bootstrapAdmin, 'is a user in the group admins'],
    revoke_sessions_before: [
      'test/db/resource/resource.test.ts',
      'counts with the highest value ever stored for the box',
    ],
    deletionPolicy: [
      'test/operator/reconcile/lifecycle.test.ts',
      'takes the data of its box with it: sessions, and what was made over REST; what is declared is created again',
    ],
    suspend: suspended,
  },
  Client: {
    id: ids,
    secret: ['test/operator/secrets/secret-source.test.ts', 'a secret in the manifest'],
    grant_types: ['test/interface/token.test.ts', 'the grant works only when grant_types of the client contains'],
    'auth.client_credentials.token_format': ['test/interface/token.test.ts', 'rule 1: with token_format jwt'],
    'auth.client_credentials.access_token_expiration': lifetimes,
    'auth.client_credentials.audience': ['test/oauth/token/token-endpoint.test.ts', 'T-09 keeps the audience'],
    'auth.client_credentials.refresh_token': [
      'test/oauth/token/token-endpoint.test.ts',
      'T-01 gives a refresh token where',
    ],
    'auth.client_credentials.refresh_token_expiration': [
      'test/oauth/token/grants/refresh-token.test.ts',
      'T-44 refuses a token that was not used for its lifetime',
    ],
    'auth.client_credentials.refresh_requires_secret': [
      'test/oauth/token/grants/refresh-token.test.ts',
      'of a client whose refresh requires it',
    ],
    'auth.client_credentials.refresh_rotation': [
      'test/oauth/refresh/refresh-rotation.test.ts',
      'gives a successor with each use',
    ],
    'auth.implicit.redirect_uri': [authorize, 'brings the token in the fragment, as the interface has it'],
    'auth.implicit.redirect_uris': [redirectUris, 'gets its answer at the one that it names'],
    'auth.implicit.token_format': [authorize, 'and signs it where it is a JWT'],
    'auth.implicit.access_token_expiration': [authorize, 'shows when a token ends where that is configured'],
    'auth.implicit.audience': [authorize, 'is for the audience that the grant of its client has'],
    'auth.authorization_code.redirect_uri': [codes, 'is redeemed once, with its verifier'],
    'auth.authorization_code.redirect_uris': [redirectUris, 'gets its answer at the one that it names'],
    'auth.authorization_code.token_format': [codes, 'is redeemed for what the settings of its grant say'],
    'auth.authorization_code.access_token_expiration': [codes, 'is redeemed for what the settings of its grant say'],
    'auth.authorization_code.audience': [codes, 'is redeemed for what the settings of its grant say'],
    'auth.authorization_code.refresh_token': [codes, 'gives refresh tokens that rotate'],
    'auth.authorization_code.refresh_token_expiration': [
      codes,
      'gives refresh tokens by the settings of its own grant',
    ],
    'auth.authorization_code.refresh_requires_secret': [codes, 'gives refresh tokens by the settings of its own grant'],
    'auth.authorization_code.refresh_rotation': [codes, 'gives refresh tokens by the settings of its own grant'],
    'auth.authorization_code.secret_required': [codes, 'needs no secret where the settings say that PKCE is enough'],
    'auth.authorization_code.pkce': [codes, 'needs PKCE of a client with a secret where its settings say so'],
    post_logout_redirect_uris: ['test/oauth/openid/logout.test.ts', 'signs out whom the id_token is about'],
    id_token_signed_response_alg: [
      'test/oauth/openid/id-token.test.ts',
      'is signed with ${alg} for a client that says so',
    ],
    id_token_claims: [
      'test/oauth/openid/claims-in-tokens.test.ts',
      'are in the id_token of a code and of a refresh as id_token_claims says',
    ],
    first_party: [authorize, 'brings the token in the fragment, as the interface has it'],
    scope: ['test/oauth/token/access-token-plan.test.ts', 'allowed and ${shown(asked)} asked${strictly} ${what}'],
    active: [
      'test/http/resources/clients.test.ts',
      'disabling refuses every token, also after the client is active again',
    ],
    name: shown,
    description: shown,
    details: shown,
    revoke_sessions_before: ['test/oauth/token/grants/refresh-token.test.ts', 'revoked by time'],
    jwks: ['test/oauth/client-auth/private-key-jwt.test.ts', 'gets a token with each algorithm that the metadata list'],
    'jwks.keys[].kty': keys,
    'jwks.keys[].kid': keys,
    'jwks.keys[].n': publicKeys,
    'jwks.keys[].e': importedKeys,
    'jwks.keys[].crv': importedKeys,
    'jwks.keys[].x': importedKeys,
    'jwks.keys[].y': importedKeys,
    'jwks.keys[].d': publicKeys,
    'jwks.keys[].p': publicKeys,
    'jwks.keys[].q': publicKeys,
    'jwks.keys[].dp': publicKeys,
    'jwks.keys[].dq': publicKeys,
    'jwks.keys[].qi': publicKeys,
    'jwks.keys[].oth': publicKeys,
    'jwks.keys[].k': publicKeys,
    allowed_origins: [crossOrigin, 'may call the endpoints for programs from an origin that'],
    jwks_uri: ['test/oauth/client-auth/remote-key-sets.test.ts', 'is authenticated by them, which are fetched once'],
    'service_accounts[].namespace': serviceAccounts,
    'service_accounts[].name': serviceAccounts,
    'service_accounts[].uid': [
      'test/operator/desired/service-account-pins.test.ts',
      'R-54: a uid in the Client is the pin from the beginning',
    ],
    'secretRef.name': reference,
    'secretRef.key': reference,
    'generateSecret.name': ['test/operator/secrets/secret-source.test.ts', 'names the Secret ${title}'],
    'generateSecret.template': [
      'test/operator/secrets/generated-secret.test.ts',
      'fills in placeholders, with and without blanks',
    ],
    'generateSecret.labels': secretMetadata,
    'generateSecret.annotations': secretMetadata,
    'rotation.every': ['test/operator/kube/secrets/rotation.test.ts', 'T-13 never fails an app, however late it reads'],
    'rotation.at': ['test/operator/kube/secrets/rotation.test.ts', 'happens once at a time that is given'],
    'rotation.overlap': [
      'test/operator/kube/secrets/rotation.test.ts',
      'by hand is valid beside the new one for the overlap',
    ],
    deletionPolicy: retained,
    adoption: adopted,
    suspend: suspended,
  },
  AccessPolicy: {
    id: ids,
    engine: ['test/policy/compile.test.ts', '${engine}: grants, and has no fault'],
    'link[].resourceType': linked,
    'link[].id': linked,
    'link[].reference': ['test/operator/desired/validate.test.ts', 'finds the same content in both forms of a link'],
    subjects: ['test/policy/policy-index.test.ts', 'subjects: authenticated, nobody known'],
    apps: ['test/http/gateway/check.test.ts', 'keeps policies for apps and policies for the own endpoints apart'],
    schema: ['test/policy/engines/json-schema.test.ts', "${expected ? 'takes' : 'refuses'} ${shown}"],
    matcho: ['test/policy/engines/matcho.test.ts', "${expected ? 'fits' : 'does not fit'} ${shown}"],
    expression: ['test/policy/engines/cel.test.ts', '${expression} does not grant'],
    'and[].engine': nested,
    'and[].schema': nested,
    'and[].matcho': nested,
    'and[].expression': nested,
    'or[].engine': nested,
    'or[].schema': nested,
    'or[].matcho': nested,
    'or[].expression': nested,
    description: ['test/interface/configuration.test.ts', 'a policy with engine allow that links the client'],
    deletionPolicy: ['test/operator/reconcile/lifecycle.test.ts', 'Retain: a policy goes on granting'],
    adoption: ['test/operator/reconcile/lifecycle.test.ts', 'IfUnowned: takes a policy that was made over REST'],
    suspend: suspended,
  },
  Group: {
    name: [declaredGroups, 'has the name of its object, or its own, and policies find it by name'],
    description: ['test/dev/declared-groups.test.ts', 'follows its description, and keeps its id and its members'],
    deletionPolicy: [declaredGroups, 'with deletionPolicy Delete goes with its object, with its memberships'],
    adoption: [declaredGroups, 'with adoption Never leaves the group of its name that was made over REST'],
    suspend: [declaredGroups, 'is left as it is while its object is suspended or faulty'],
  },
};
