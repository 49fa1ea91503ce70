-- What people let clients do, and what came of it.

-- A stored consent: the scopes that a person lets a client have, a Grant.
CREATE TABLE boxgate.consent (
  box        text NOT NULL REFERENCES boxgate.box,
  user_id    bigint NOT NULL,
  client     text NOT NULL,
  scopes     text[] NOT NULL,
  -- The config version it was given under: a client that is made anew has none of the old one's.
  version    bigint NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (box, user_id, client),
  FOREIGN KEY (box, user_id) REFERENCES boxgate.user ON DELETE CASCADE
);

-- An authorization request that waits for its person's consent, in the browser it was made in and no other.
CREATE TABLE boxgate.consent_request (
  box        text NOT NULL,
  id         uuid NOT NULL,
  browser    bytea NOT NULL,
  -- The parameters as they came: they are judged anew when they are answered.
  query      text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (box, id),
  FOREIGN KEY (box, browser) REFERENCES boxgate.sign_in ON DELETE CASCADE
);
CREATE INDEX consent_request_browser ON boxgate.consent_request (box, browser);
CREATE INDEX consent_request_expiry ON boxgate.consent_request (box, expires_at);

-- What an authorization request was answered with: a code, or a token at once (then `hash` is null).
CREATE TABLE boxgate.authorization_answer (
  box          text NOT NULL REFERENCES boxgate.box,
  id           uuid NOT NULL,
  -- SHA-256 of the code's random part.
  hash         bytea,
  client       text NOT NULL,
  user_id      bigint NOT NULL,
  -- The config version it began under.
  version      bigint NOT NULL,
  -- The sign-in it was given to.
  browser      bytea NOT NULL,
  -- As the request named it; null: it left it out.
  redirect_uri text,
  scope        text,
  audience     text[],
  -- PKCE, S256.
  challenge    text,
  user_agent   text,
  created_at   timestamptz NOT NULL,
  -- When the code ends; the row stays longer, for a second use of the code and for the sign-out.
  expires_at   timestamptz NOT NULL,
  kept_until   timestamptz NOT NULL,
  used_at      timestamptz,
  -- What came of it.
  session      uuid,
  bucket       integer,
  family       uuid,
  PRIMARY KEY (box, id),
  FOREIGN KEY (box, user_id) REFERENCES boxgate.user ON DELETE CASCADE
);
CREATE INDEX authorization_answer_browser ON boxgate.authorization_answer (box, browser);
CREATE INDEX authorization_answer_user ON boxgate.authorization_answer (box, user_id);
CREATE INDEX authorization_answer_end ON boxgate.authorization_answer (box, kept_until);

ALTER TABLE boxgate.consent ENABLE ROW LEVEL SECURITY;
ALTER TABLE boxgate.consent_request ENABLE ROW LEVEL SECURITY;
ALTER TABLE boxgate.authorization_answer ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.consent USING (box = current_setting('boxgate.box', true));
CREATE POLICY own_box ON boxgate.consent_request USING (box = current_setting('boxgate.box', true));
CREATE POLICY own_box ON boxgate.authorization_answer USING (box = current_setting('boxgate.box', true));
