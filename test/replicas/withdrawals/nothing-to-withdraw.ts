import type { FieldProof } from '../../house/field-proofs.ts';

const lifetime = 'a token keeps the lifetime that it was issued with (docs/reference/tokens.md, Settings that change)';
const shown = 'it is shown, and lets nobody do anything';
const narrows = 'it restricts: what it does not allow was allowed before';
const stores = 'it says what becomes of the row, not what it grants';

/** Fields that grant nothing, each with the reason. A field stands for those below it. */
export const GRANTS_NOTHING: Readonly<Record<string, string>> = {
  'Client.auth.client_credentials.token_format': 'the form of a token, not what it opens',
  'Client.auth.implicit.token_format': 'the form of a token, not what it opens',
  'Client.auth.authorization_code.token_format': 'the form of a token, not what it opens',
  'Client.auth.client_credentials.access_token_expiration': lifetime,
  'Client.auth.implicit.access_token_expiration': lifetime,
  'Client.auth.authorization_code.access_token_expiration': lifetime,
  'Client.auth.client_credentials.refresh_token_expiration': lifetime,
  'Client.auth.authorization_code.refresh_token_expiration': lifetime,
  'Client.auth.client_credentials.refresh_rotation': narrows,
  'Client.auth.authorization_code.refresh_rotation': narrows,
  'Client.id_token_signed_response_alg': 'the form of an id_token',
  'Client.id_token_claims': 'claims of scopes that were granted: userinfo tells them too',
  'Client.name': shown,
  'Client.description': shown,
  'Client.details': shown,
  'Client.deletionPolicy': stores,
  'Client.adoption': stores,
  'Client.suspend': stores,
  'AccessPolicy.description': shown,
  'AccessPolicy.deletionPolicy': stores,
  'AccessPolicy.adoption': stores,
  'AccessPolicy.suspend': stores,
  'Box.tokens.default_access_token_expiration': lifetime,
  'Box.tokens.default_lifetime': lifetime,
  'Box.tokens.reject_unknown_scope': narrows,
  'Box.scopes': 'it names scopes for people: a client requests those that its own scope lists',
  'Box.signing': 'the form of a signature: former keys are kept while their tokens live',
  'Box.sign_in.title': shown,
  'Box.sign_in.logo_url': shown,
  'Box.sign_in.color': shown,
  'Box.sign_in.session_lifetime': 'somebody who is signed in stays so for the time that it was then',
  'Box.password.min_length': narrows,
  'Box.audit.retention': stores,
  'Box.bootstrap_admin': 'it creates a user, a group and a policy once: those are withdrawn',
  'Box.deletionPolicy': stores,
  'Box.suspend': stores,
  'Group.description': shown,
  'Group.deletionPolicy': stores,
  'Group.adoption': stores,
  'Group.suspend': stores,
};

/** Fields that the operator turns into others, each with the test of what becomes of them. */
export const MADE_INTO_OTHERS: Readonly<Record<string, FieldProof>> = {
  'Client.secretRef': ['test/operator/secrets/resolve-secret.test.ts', 'finds the entry that a secretRef names'],
  'Client.generateSecret': [
    'test/operator/secrets/generated-secret.test.ts',
    'fills in placeholders, with and without blanks',
  ],
  'Client.rotation': [
    'test/operator/kube/secrets/rotation.test.ts',
    'by hand is valid beside the new one for the overlap',
  ],
};
