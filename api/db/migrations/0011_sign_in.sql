-- Who is signed in to a box, and in which browser.
CREATE TABLE boxgate.sign_in (
  box        text NOT NULL REFERENCES boxgate.box,
  -- SHA-256 of the text in the browser's cookie.
  browser    bytea NOT NULL,
  user_id    bigint NOT NULL,
  -- The config version it began under: what ends all that a user, or a box, had begun ends it too.
  version    bigint NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (box, browser),
  FOREIGN KEY (box, user_id) REFERENCES boxgate.user ON DELETE CASCADE
);
CREATE INDEX sign_in_user ON boxgate.sign_in (box, user_id);
CREATE INDEX sign_in_expiry ON boxgate.sign_in (box, expires_at);

ALTER TABLE boxgate.sign_in ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.sign_in USING (box = current_setting('boxgate.box', true));
