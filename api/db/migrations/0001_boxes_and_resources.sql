-- Boxes, what is declared or stored in them, and who may see which rows.
-- Every table of a box begins its primary key with the box: a database sharded by box takes the schema as it is.

CREATE SCHEMA IF NOT EXISTS boxgate;

-- One row for each box there ever was. Never deleted, so that config_version never starts anew.
CREATE TABLE boxgate.box (
  box            text PRIMARY KEY CHECK (box ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  config_version bigint NOT NULL DEFAULT 1,
  -- Sessions decided under an older version than this are revoked.
  sessions_from  bigint NOT NULL DEFAULT 0,
  -- The highest revoke_sessions_before ever applied.
  revoked_before timestamptz,
  created_at     timestamptz NOT NULL DEFAULT now()
);

-- Clients, policies and the box's settings. `body` never holds a secret.
CREATE TABLE boxgate.resource (
  box           text NOT NULL REFERENCES boxgate.box,
  kind          text NOT NULL CHECK (kind IN ('AccessPolicy', 'Box', 'Client')),
  id            text NOT NULL,
  -- The config version of the last change: the resource's ETag.
  version       bigint NOT NULL,
  -- Client: sessions decided under an older version than this are revoked.
  sessions_from bigint NOT NULL DEFAULT 0,
  -- Client: sessions begun before this time are revoked: the highest revoke_sessions_before ever applied.
  revoked_before timestamptz,
  body          jsonb NOT NULL,
  -- Client: hashes of the live secrets, `$argon2id$…` or `$sha256$…`.
  secrets       text[] NOT NULL DEFAULT '{}',
  -- Who declares it; null when it was made over REST.
  owner_cluster text,
  owner_name    text,
  owner_uid     text,
  -- The declaring side's keyed digest of what it declared.
  digest        text,
  -- When the object that declares it goes, it goes on without an owner.
  retain        boolean NOT NULL DEFAULT false,
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (box, kind, id),
  CHECK ((owner_cluster IS NULL) = (owner_name IS NULL))
);
CREATE INDEX resource_version ON boxgate.resource (box, version);
CREATE INDEX resource_created ON boxgate.resource (box, kind, created_at, id);

-- What was deleted, so that a replica that loads only what moved hears of it.
CREATE TABLE boxgate.tombstone (
  box     text NOT NULL REFERENCES boxgate.box,
  kind    text NOT NULL,
  id      text NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (box, kind, id)
);
CREATE INDEX tombstone_version ON boxgate.tombstone (box, version);

-- When sessions_from of a box, client or user moved, so that a session can tell whether it was revoked before it expired.
CREATE TABLE boxgate.revocation (
  box     text NOT NULL REFERENCES boxgate.box,
  -- `box`, `client:<id>` or `user:<id>`.
  subject text NOT NULL,
  version bigint NOT NULL,
  at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (box, subject, version)
);

CREATE TABLE boxgate.signing_key (
  box          text NOT NULL REFERENCES boxgate.box,
  kid          text NOT NULL,
  algorithm    text NOT NULL CHECK (algorithm IN ('ES256', 'RS256', 'EdDSA')),
  public_jwk   jsonb NOT NULL,
  -- AES-256-GCM under the installation's key, bound to box and kid.
  private_key  bytea NOT NULL,
  -- Published from created_at, signing from active_from until retired_at.
  created_at   timestamptz NOT NULL DEFAULT now(),
  active_from  timestamptz NOT NULL,
  retired_at   timestamptz,
  -- No token signed with it lives longer than this: it may be dropped then.
  signed_until timestamptz NOT NULL,
  PRIMARY KEY (box, kid)
);

-- The fence between an old and a new leader: a claim raises it, an apply under an older one is refused.
CREATE TABLE boxgate.operator_epoch (
  cluster text PRIMARY KEY,
  epoch   bigint NOT NULL DEFAULT 0
);

-- Row-level security: a statement sees the rows of the box that its transaction names, and none when it names none.
-- It binds the API's role; the owner is exempt, which the functions of the hot paths need.
ALTER TABLE boxgate.box ENABLE ROW LEVEL SECURITY;
ALTER TABLE boxgate.resource ENABLE ROW LEVEL SECURITY;
ALTER TABLE boxgate.tombstone ENABLE ROW LEVEL SECURITY;
ALTER TABLE boxgate.revocation ENABLE ROW LEVEL SECURITY;
ALTER TABLE boxgate.signing_key ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.box USING (box = current_setting('boxgate.box', true));
CREATE POLICY own_box ON boxgate.resource USING (box = current_setting('boxgate.box', true));
CREATE POLICY own_box ON boxgate.tombstone USING (box = current_setting('boxgate.box', true));
CREATE POLICY own_box ON boxgate.revocation USING (box = current_setting('boxgate.box', true));
CREATE POLICY own_box ON boxgate.signing_key USING (box = current_setting('boxgate.box', true));

-- For many boxes in one call, where a setting of the transaction cannot serve.
CREATE FUNCTION boxgate.config_versions(p_boxes text[]) RETURNS TABLE (box text, config_version bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$ SELECT b.box, b.config_version FROM box b WHERE b.box = ANY (p_boxes) $$;

-- The boxes in which this cluster declares something.
CREATE FUNCTION boxgate.declared_boxes(p_cluster text) RETURNS TABLE (box text, resources bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$ SELECT r.box, count(*) FROM resource r WHERE r.owner_cluster = p_cluster GROUP BY r.box ORDER BY r.box $$;

-- The boxes that hold a resource: one alone is served at the root of a standalone installation.
CREATE FUNCTION boxgate.boxes_in_use(p_limit int) RETURNS TABLE (box text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$ SELECT b.box FROM box b WHERE EXISTS (SELECT FROM resource r WHERE r.box = b.box) ORDER BY b.box LIMIT p_limit $$;

-- All boxes there are, for the service's own upkeep (keys, expired refresh tokens).
CREATE FUNCTION boxgate.all_boxes() RETURNS TABLE (box text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$ SELECT b.box FROM box b ORDER BY b.box $$;

-- The box whose settings name a host, and their issuer; with two claims the older one.
CREATE FUNCTION boxgate.box_of_host(p_host text) RETURNS TABLE (box text, issuer text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT r.box, r.body ->> 'issuer' FROM resource r
   WHERE r.kind = 'Box' AND r.body -> 'hosts' ? p_host ORDER BY r.created_at, r.box LIMIT 1
$$;
CREATE INDEX resource_hosts ON boxgate.resource USING gin ((body -> 'hosts')) WHERE kind = 'Box';
