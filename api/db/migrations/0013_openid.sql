-- What the id_token of a code says of the request and of the sign-in (OpenID Connect Core §2). A replica of the release
-- before stores neither.
ALTER TABLE boxgate.authorization_answer
  ADD COLUMN nonce text,
  -- When its person signed in.
  ADD COLUMN authenticated_at timestamptz;
