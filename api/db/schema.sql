-- The schema of Boxgate: version 1. First the tables of the installation, then those of a box, each with its policies, indexes
-- and triggers; then the functions of the hot lane, and upkeep. The rights of the API's role are in grants.sql.
--
-- Until the first release this file is the schema, and there is no migration: a change of it needs an empty database. From then
-- on it is frozen, and each change is a numbered file next to it (0002_<what>.sql).
--
-- A function with SECURITY DEFINER runs as the owner of the tables, whom row-level security does not bind. Only three sorts of
-- functions may: those of the hot lane, whose one call serves many boxes, upkeep over all boxes, and triggers. Everything else
-- runs as the API's role and sees the box that its transaction names in `boxgate.box`.

-- ---------------------------------------------------------------------------------------------------------------------------
-- Tables of the installation. All of its databases have them; `database` and `placement` are filled in the home database alone.

-- Which database this is, and of which installation: migrate stores the only row.
CREATE TABLE boxgate.identity (
  single       boolean PRIMARY KEY DEFAULT true CHECK (single),
  id           uuid NOT NULL DEFAULT gen_random_uuid(),
  installation uuid NOT NULL,
  -- Rises every few seconds; a backup has an older one.
  beat         bigint NOT NULL DEFAULT 0
);

-- The databases of the installation by the names that its settings give them.
CREATE TABLE boxgate.database (
  name        text PRIMARY KEY,
  id          uuid NOT NULL UNIQUE,
  -- The beat that it is known to have, the one that was meant for it last, and the time of its last restore in microseconds since
  -- 1970: boxes there whose version is older may lack data.
  beat        bigint NOT NULL DEFAULT 0,
  next        bigint NOT NULL DEFAULT 0,
  restored_at bigint NOT NULL DEFAULT 0
);

-- The boxes that are in another database than home.
CREATE TABLE boxgate.placement (
  box      text PRIMARY KEY,
  database text NOT NULL,
  -- Moves with every change of the placement: the version that the box was placed at.
  version  bigint NOT NULL
);
CREATE INDEX placement_version ON boxgate.placement (version);

-- The fence between an old and a new leader: a claim raises it, and an apply under an older one is refused.
CREATE TABLE boxgate.operator_epoch (
  cluster text PRIMARY KEY,
  epoch   bigint NOT NULL DEFAULT 0
);

-- Who creates and signs the ServiceAccount tokens of a cluster, as its operator last read it.
CREATE TABLE boxgate.cluster_settings (
  cluster                text PRIMARY KEY,
  -- Moves with every change.
  version                bigint NOT NULL,
  service_account_issuer text,
  -- A JWK set (RFC 7517 §5).
  service_account_keys   jsonb,
  CHECK ((service_account_issuer IS NULL) = (service_account_keys IS NULL))
);

-- Work on a whole database that one replica does, and until when it has it.
CREATE TABLE boxgate.lease (
  name  text PRIMARY KEY,
  until timestamptz NOT NULL
);

-- The partitions of `session`, and those of `audit_event`: make_buckets and make_audit_days add a row with each.
CREATE TABLE boxgate.bucket (bucket integer PRIMARY KEY);
CREATE TABLE boxgate.audit_day (day integer PRIMARY KEY);

-- ---------------------------------------------------------------------------------------------------------------------------
-- Boxes. Every table of a box begins its primary key with the box: a database sharded by box takes the schema as it is. A
-- statement sees the rows of the box that its transaction names, and none if it names none (row-level security).

-- One row for each box there ever was. Never deleted, so that config_version never starts again.
CREATE TABLE boxgate.box (
  box               text PRIMARY KEY CHECK (box ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  config_version    bigint NOT NULL DEFAULT 1,
  -- Sessions decided under an older version than this are revoked.
  sessions_from     bigint NOT NULL DEFAULT 0,
  -- The highest revoke_sessions_before ever applied.
  revoked_before    timestamptz,
  created_at        timestamptz NOT NULL DEFAULT now(),
  -- The namespace that the box belongs to, known by its UID: one that is created again under the old name inherits nothing unless
  -- an administrator says so. Null before one was named, and in installations without namespaces.
  namespace_cluster text,
  namespace_uid     text,
  -- The UID of another namespace of this name that asked for the box: since then nothing of the box is served.
  locked_for        text,
  -- Sessions decided under an older version belong to data that was discarded: nobody sees their records.
  records_from      bigint NOT NULL DEFAULT 0,
  -- Such records still exist, to be deleted in the background.
  discarding        boolean NOT NULL DEFAULT false,
  -- The normal form of the email of the last bootstrap_admin that was created, or found, in the box: each is created once.
  bootstrapped      text,
  -- The quotas that the Namespace sets, by name; null, and a name that is missing: the default of the API.
  quota             jsonb,
  -- Since when the namespace is missing: a box without it is not served. Null: it exists, or there are no namespaces.
  missing_since     timestamptz,
  -- No session is stored while this is true. Changes under a new version of the box.
  sessions_full     boolean NOT NULL DEFAULT false,
  -- The box is being copied to the database `counterpart` and takes no writes until then (leaving), was moved there for good
  -- (moved), or is being copied from there and is not served (arriving). Null: it is served here. Changes under a new version.
  transit           text CHECK (transit IN ('leaving', 'moved', 'arriving')),
  counterpart       text,
  leaving_until     timestamptz,
  CHECK ((transit IS NULL) = (counterpart IS NULL)),
  CHECK ((transit IS NOT DISTINCT FROM 'leaving') = (leaving_until IS NOT NULL))
);
ALTER TABLE boxgate.box ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.box USING (box = current_setting('boxgate.box', true));
CREATE INDEX box_sessions_full ON boxgate.box (box) WHERE sessions_full;

-- The versions that a box had lately. A replica that holds one of them loads what moved since; one that holds another is older
-- than the tombstones that are kept, or holds what a restored backup does not know: it loads the whole box.
CREATE TABLE boxgate.box_version (
  box     text NOT NULL REFERENCES boxgate.box,
  version bigint NOT NULL,
  PRIMARY KEY (box, version)
);
ALTER TABLE boxgate.box_version ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.box_version USING (box = current_setting('boxgate.box', true));

-- How much of each quota a box uses, counted by the statements that change its rows; without a row, nothing. A check reads one row.
CREATE TABLE boxgate.box_use (
  box      text PRIMARY KEY REFERENCES boxgate.box,
  clients  bigint NOT NULL DEFAULT 0,
  policies bigint NOT NULL DEFAULT 0,
  users    bigint NOT NULL DEFAULT 0,
  groups   bigint NOT NULL DEFAULT 0,
  -- Bytes of clients, policies and settings as JSON text, and of names and descriptions of groups.
  bytes    bigint NOT NULL DEFAULT 0
);
ALTER TABLE boxgate.box_use ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.box_use USING (box = current_setting('boxgate.box', true));

-- Active sessions of boxes, counted off the request path. A table of its own: an apply holds the row of box_use until it ends.
CREATE TABLE boxgate.session_count (
  box        text PRIMARY KEY REFERENCES boxgate.box,
  -- Active sessions at the last count, which stops at the quota; null: not counted yet.
  active     bigint,
  -- Tokens that replicas have issued since. The sum of both is never less than the active sessions that are reported.
  issued     bigint NOT NULL DEFAULT 0,
  -- When the last count began, and the milliseconds that it took.
  counted_at timestamptz,
  took       integer NOT NULL DEFAULT 0
);
ALTER TABLE boxgate.session_count ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.session_count USING (box = current_setting('boxgate.box', true));

-- A host leads to one box, whatever the settings of boxes say: the primary key decides. A statement that asks for the box of a
-- host knows no box yet, so this is the one key of a box's data that does not begin with the box. The home database has the hosts
-- of all boxes, and each other database those of its own: a host leads to a box that both of them name.
CREATE TABLE boxgate.box_host (
  host    text PRIMARY KEY,
  box     text NOT NULL,
  -- The installation that assigned it.
  cluster text NOT NULL
);
ALTER TABLE boxgate.box_host ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.box_host USING (box = current_setting('boxgate.box', true));
CREATE INDEX box_host_box ON boxgate.box_host (box);

-- Refuses a transaction of the present box that was moved (BX001, with its database and version), and one that writes while the box
-- is being moved (BX002; BX003 where it arrives). One that writes when the time of a move is over ends that: the move goes on neither beside it nor after it.
CREATE FUNCTION boxgate.demand_here(p_writes boolean) RETURNS void
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
  v_box record;
BEGIN
  SELECT b.transit, b.counterpart, b.config_version, b.leaving_until INTO v_box FROM boxgate.box b
   WHERE b.box = current_setting('boxgate.box') AND b.transit IS NOT NULL;
  IF v_box.transit = 'moved' THEN
    RAISE EXCEPTION USING ERRCODE = 'BX001', MESSAGE = v_box.counterpart, DETAIL = v_box.config_version;
  ELSIF v_box.transit IS NULL OR (v_box.transit = 'leaving' AND NOT p_writes) THEN
    RETURN;
  ELSIF v_box.leaving_until < clock_timestamp() THEN
    -- In the order of every change of the configuration.
    PERFORM pg_advisory_xact_lock(hashtextextended('boxgate.box ' || current_setting('boxgate.box'), 0));
    PERFORM FROM boxgate.box b WHERE b.box = current_setting('boxgate.box') AND b.leaving_until < clock_timestamp() FOR NO KEY UPDATE;
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;
  RAISE EXCEPTION USING ERRCODE = CASE v_box.transit WHEN 'arriving' THEN 'BX003' ELSE 'BX002' END,
    MESSAGE = 'The box is being moved to another database';
END
$$;

-- The tables whose rows are those of a box, each after the ones that it refers to: all of them are copied when the box is moved. The
-- hosts are not among them: the home database keeps those of all boxes.
CREATE FUNCTION boxgate.tables_of_box() RETURNS text[]
LANGUAGE sql IMMUTABLE
AS $$
  SELECT ARRAY['box', 'box_version', 'box_use', 'session_count', 'resource', 'tombstone', 'revocation', 'signing_key',
               'service_account_pin', 'used_assertion', 'client_usage', 'last_id', 'user', 'group', 'group_member', 'failed_attempt',
               'sign_in', 'consent', 'consent_target', 'consent_request', 'authorization_code', 'refresh_family', 'session',
               'session_room', 'audit_event', 'recorded_request', 'policy_use']
$$;

-- Deletes what the present box has left here that was moved, or what has arrived of it, but for its row.
CREATE FUNCTION boxgate.forget_box() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
DECLARE
  v_box    text := current_setting('boxgate.box');
  v_tables text[] := tables_of_box();
BEGIN
  PERFORM FROM box b WHERE b.box = v_box AND b.transit IN ('moved', 'arriving') FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'box % was not moved', v_box USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  FOR i IN REVERSE array_length(v_tables, 1)..2 LOOP
    EXECUTE format('DELETE FROM boxgate.%I t WHERE t.box = $1', v_tables[i]) USING v_box;
  END LOOP;
END
$$;

-- Stores rows of a table of the present box, which arrives under a version, as a list of JSON objects; those that are there stay. Its
-- row of `box` comes first: it deletes what an arrival under a lower version, or a stay of the box, has left here.
CREATE FUNCTION boxgate.receive_rows(p_table text, p_rows jsonb, p_version bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
DECLARE
  v_box   text := current_setting('boxgate.box');
  v_found record;
BEGIN
  SELECT b.transit, b.config_version INTO v_found FROM box b WHERE b.box = v_box FOR UPDATE;
  IF p_table = 'box' THEN
    IF v_found.config_version >= p_version THEN
      RAISE EXCEPTION 'box % has arrived meanwhile', v_box USING ERRCODE = 'object_not_in_prerequisite_state';
    ELSIF FOUND THEN
      PERFORM forget_box();
      DELETE FROM box b WHERE b.box = v_box;
    END IF;
  ELSIF v_found.transit IS DISTINCT FROM 'arriving' OR v_found.config_version <> p_version OR NOT p_table = ANY (tables_of_box()) THEN
    RAISE EXCEPTION 'box % is not arriving', v_box USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  EXECUTE format('INSERT INTO boxgate.%1$I SELECT r.* FROM jsonb_populate_recordset(NULL::boxgate.%1$I, $1) r
                   WHERE r.box = $2 ON CONFLICT DO NOTHING', p_table) USING p_rows, v_box;
  UPDATE box b SET transit = 'arriving', leaving_until = NULL WHERE b.box = v_box AND b.transit IS DISTINCT FROM 'arriving';
END
$$;

-- Whether a box is in another database of the installation, as the home database knows.
CREATE FUNCTION boxgate.is_elsewhere(p_box text) RETURNS boolean
LANGUAGE sql STABLE
AS $$
  SELECT EXISTS (SELECT FROM boxgate.placement p JOIN boxgate.database d ON d.name = p.database
                  WHERE p.box = p_box AND d.id <> (SELECT i.id FROM boxgate.identity i))
$$;

-- ---------------------------------------------------------------------------------------------------------------------------
-- Configuration of a box

-- Clients, policies and the box's settings. `body` never holds a secret.
CREATE TABLE boxgate.resource (
  box              text NOT NULL REFERENCES boxgate.box,
  kind             text NOT NULL CHECK (kind IN ('AccessPolicy', 'Box', 'Client')),
  id               text NOT NULL,
  -- The config version of the last change: the resource's ETag.
  version          bigint NOT NULL,
  -- Client: sessions decided under an older version than this are revoked.
  sessions_from    bigint NOT NULL DEFAULT 0,
  -- Client: sessions begun before this time are revoked: the highest revoke_sessions_before ever applied.
  revoked_before   timestamptz,
  body             jsonb NOT NULL,
  -- Client: hashes of the live secrets, `$argon2id$…` or `$sha256$…`.
  secrets          text[] NOT NULL DEFAULT '{}',
  -- Who declares it; null if it was created over REST.
  owner_cluster    text,
  owner_name       text,
  owner_uid        text,
  -- The declaring side's keyed digest of what it declared.
  digest           text,
  -- When the object that declares it is deleted, it stays, without an owner.
  retain           boolean NOT NULL DEFAULT false,
  created_at       timestamptz NOT NULL DEFAULT now(),
  updated_at       timestamptz NOT NULL DEFAULT now(),
  -- Client: stored form of the secret it had before; valid too, until then.
  previous_secret  text,
  previous_until   timestamptz,
  -- Box: when the object that declares it is deleted, the data of the box is, too.
  purge            boolean NOT NULL DEFAULT false,
  PRIMARY KEY (box, kind, id),
  CHECK ((owner_cluster IS NULL) = (owner_name IS NULL)),
  CHECK ((previous_secret IS NULL) = (previous_until IS NULL))
);
ALTER TABLE boxgate.resource ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.resource USING (box = current_setting('boxgate.box', true));
CREATE INDEX resource_version ON boxgate.resource (box, version);
CREATE INDEX resource_created ON boxgate.resource (box, kind, created_at, id);
CREATE INDEX resource_boxes ON boxgate.resource (box) WHERE kind = 'Box';

-- The bytes of a resource: not those on disk, where a compressed megabyte is small.
CREATE FUNCTION boxgate.bytes_of(body jsonb) RETURNS bigint
LANGUAGE sql IMMUTABLE
AS $$ SELECT octet_length(body::text)::bigint $$;

-- What was deleted, so that a replica that loads only what moved hears of it.
CREATE TABLE boxgate.tombstone (
  box     text NOT NULL REFERENCES boxgate.box,
  kind    text NOT NULL,
  id      text NOT NULL,
  version bigint NOT NULL,
  PRIMARY KEY (box, kind, id)
);
ALTER TABLE boxgate.tombstone ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.tombstone USING (box = current_setting('boxgate.box', true));
CREATE INDEX tombstone_version ON boxgate.tombstone (box, version);

-- When sessions_from of a box, client or user moved, so that a session can tell whether it was revoked before it expired.
CREATE TABLE boxgate.revocation (
  box     text NOT NULL REFERENCES boxgate.box,
  -- `box`, `client:<id>` or `user:<id>`; with `:before`, `version` is the time before which sessions began, in milliseconds.
  subject text NOT NULL,
  version bigint NOT NULL,
  at      timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (box, subject, version)
);
ALTER TABLE boxgate.revocation ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.revocation USING (box = current_setting('boxgate.box', true));
CREATE INDEX revocation_newest ON boxgate.revocation (box, version) WHERE subject NOT LIKE '%:before';
CREATE INDEX revocation_newest_before ON boxgate.revocation (box, version) WHERE subject LIKE '%:before';

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
ALTER TABLE boxgate.signing_key ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.signing_key USING (box = current_setting('boxgate.box', true));

-- The ServiceAccount behind an entry of a client's service_accounts, from its first token on: one that is created again under the
-- old name is another one.
CREATE TABLE boxgate.service_account_pin (
  box       text NOT NULL REFERENCES boxgate.box,
  client    text NOT NULL,
  namespace text NOT NULL,
  name      text NOT NULL,
  uid       text NOT NULL,
  seen_at   timestamptz NOT NULL DEFAULT now(),
  -- Since when the ServiceAccount of this UID is gone, and its tokens with it; null: it exists, or its cluster has not said.
  gone_at   timestamptz,
  PRIMARY KEY (box, client, namespace, name)
);
ALTER TABLE boxgate.service_account_pin ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.service_account_pin USING (box = current_setting('boxgate.box', true));

-- A pin goes with the entry it is for, with its client, and when another object, or another
-- cluster, declares the client.
CREATE FUNCTION boxgate.unpin_service_accounts() RETURNS trigger
LANGUAGE plpgsql SET search_path = boxgate, pg_temp
AS $$
BEGIN
  IF TG_OP = 'DELETE' OR (NEW.owner_uid IS NOT NULL AND NEW.owner_uid IS DISTINCT FROM OLD.owner_uid)
     OR (NEW.owner_cluster IS NOT NULL AND NEW.owner_cluster IS DISTINCT FROM OLD.owner_cluster) THEN
    DELETE FROM service_account_pin p WHERE p.box = OLD.box AND p.client = OLD.id;
  ELSE
    DELETE FROM service_account_pin p
     WHERE p.box = OLD.box AND p.client = OLD.id
       AND NOT coalesce(NEW.body -> 'service_accounts', '[]')
               @> jsonb_build_array(jsonb_build_object('namespace', p.namespace, 'name', p.name));
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER unpin_service_accounts AFTER UPDATE OR DELETE ON boxgate.resource
  FOR EACH ROW WHEN (OLD.kind = 'Client' AND OLD.body ? 'service_accounts')
  EXECUTE FUNCTION boxgate.unpin_service_accounts();

-- An assertion of private_key_jwt is used once (RFC 7523 §3). Kept until no clock takes it for valid any more.
CREATE TABLE boxgate.used_assertion (
  box        text NOT NULL REFERENCES boxgate.box,
  client     text NOT NULL,
  -- SHA-256 of its jti.
  jti        bytea NOT NULL,
  -- The request that used it: the same one may ask again, when it decides again.
  request    uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (box, client, jti)
);
ALTER TABLE boxgate.used_assertion ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.used_assertion USING (box = current_setting('boxgate.box', true));
CREATE INDEX used_assertion_expires ON boxgate.used_assertion (expires_at);

-- When a client last got a token, and when its previous secret was last used: to the minute, for people and for the rotation of
-- secrets. Not on the hot path: replicas remember, and write now and then.
CREATE TABLE boxgate.client_usage (
  box              text NOT NULL REFERENCES boxgate.box,
  client           text NOT NULL,
  last_token_at    timestamptz,
  previous_used_at timestamptz,
  PRIMARY KEY (box, client)
);
ALTER TABLE boxgate.client_usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.client_usage USING (box = current_setting('boxgate.box', true));

-- ---------------------------------------------------------------------------------------------------------------------------
-- Users, and what they sign in to

-- The last ID that was given to a user or group of a box. IDs are given once: a token of a deleted user never becomes another's.
CREATE TABLE boxgate.last_id (
  box  text NOT NULL REFERENCES boxgate.box,
  kind text NOT NULL CHECK (kind IN ('User', 'Group')),
  id   bigint NOT NULL,
  PRIMARY KEY (box, kind)
);
ALTER TABLE boxgate.last_id ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.last_id USING (box = current_setting('boxgate.box', true));

CREATE TABLE boxgate.user (
  box             text NOT NULL REFERENCES boxgate.box,
  id              bigint NOT NULL,
  -- As it was given.
  email           text NOT NULL,
  -- Its normal form, by which two are one. Compared by bytes, so that an index answers for a beginning of it too.
  email_key       text COLLATE "C" NOT NULL,
  -- argon2id PHC string, and which pepper it was made with.
  password        text NOT NULL,
  pepper          text NOT NULL,
  -- JSON text as it was given.
  data            text,
  -- Null is active.
  status          text CHECK (status IN ('active', 'inactive')),
  -- Sessions, refresh families, sign-ins and codes begun under an older config version are revoked.
  sessions_from   bigint NOT NULL DEFAULT 0,
  -- The networks that last proved the password, at most five, each with the time in seconds since 1970.
  networks        jsonb NOT NULL DEFAULT '{}',
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  -- Null: the claim is absent, because an administrator gave the email.
  email_verified  boolean DEFAULT false,
  -- True: the user registered, and an administrator has not approved it yet. Approval verifies the email.
  awaits_approval boolean NOT NULL DEFAULT false,
  PRIMARY KEY (box, id)
);
ALTER TABLE boxgate.user ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.user USING (box = current_setting('boxgate.box', true));
CREATE UNIQUE INDEX user_email ON boxgate.user (box, email_key);
CREATE INDEX user_inactive ON boxgate.user (box, id) WHERE status = 'inactive';

-- Groups. One that a custom resource or a manifest declares has what a declared resource has.
CREATE TABLE boxgate.group (
  box           text NOT NULL REFERENCES boxgate.box,
  id            bigint NOT NULL,
  -- Never only digits: policies link to a group by ID or by name.
  name          text COLLATE "C" NOT NULL CHECK (name !~ '^[0-9]+$'),
  -- The name before: the group may take it back.
  last_name     text COLLATE "C",
  description   text,
  -- Its ETag.
  version       bigint NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  -- Who declares it; null if it was created over REST, or retained.
  owner_cluster text,
  owner_name    text,
  owner_uid     text,
  -- The declaring side's keyed digest of what it declared.
  digest        text,
  -- When the object that declares it is deleted, it stays, without an owner, with its members.
  retain        boolean NOT NULL DEFAULT false,
  PRIMARY KEY (box, id),
  CHECK ((owner_cluster IS NULL) = (owner_name IS NULL))
);
ALTER TABLE boxgate.group ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.group USING (box = current_setting('boxgate.box', true));
CREATE UNIQUE INDEX group_name ON boxgate.group (box, name);
CREATE INDEX group_created ON boxgate.group (box, created_at, id);

CREATE TABLE boxgate.group_member (
  box      text NOT NULL,
  user_id  bigint NOT NULL,
  group_id bigint NOT NULL,
  PRIMARY KEY (box, user_id, group_id),
  FOREIGN KEY (box, user_id) REFERENCES boxgate.user ON DELETE CASCADE,
  FOREIGN KEY (box, group_id) REFERENCES boxgate.group ON DELETE CASCADE
);
ALTER TABLE boxgate.group_member ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.group_member USING (box = current_setting('boxgate.box', true));
CREATE INDEX group_member_group ON boxgate.group_member (box, group_id, user_id);

-- The groups of a user, by id; null when there are none.
CREATE FUNCTION boxgate.groups_of(p_box text, p_user bigint) RETURNS jsonb
LANGUAGE sql STABLE
AS $$
  SELECT jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name, 'description', g.description) ORDER BY g.id)
    FROM boxgate.group_member m JOIN boxgate.group g ON g.box = m.box AND g.id = m.group_id
   WHERE m.box = p_box AND m.user_id = p_user
$$;

-- Failed attempts at passwords and client secrets, counted by all replicas together. A replica counts what fails at one of its
-- addresses in memory; these counts are the limits that hold for all addresses and replicas.
CREATE TABLE boxgate.failed_attempt (
  box      text NOT NULL REFERENCES boxgate.box,
  -- Names what was guessed at, without any text that somebody typed.
  subject  text NOT NULL,
  -- End of the period that the failures are counted in.
  ends_at  timestamptz NOT NULL,
  failures integer NOT NULL,
  PRIMARY KEY (box, subject, ends_at)
);
ALTER TABLE boxgate.failed_attempt ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.failed_attempt USING (box = current_setting('boxgate.box', true));
CREATE INDEX failed_attempt_ends ON boxgate.failed_attempt (ends_at);

-- Who is signed in to a box, and in which browser. A user can create such rows without limit, and those of the tables below, so
-- each statement that inserts one deletes the oldest. It skips rows that another transaction holds: no insert waits for them.
CREATE TABLE boxgate.sign_in (
  box             text NOT NULL REFERENCES boxgate.box,
  -- SHA-256 of the text in the browser's cookie.
  browser         bytea NOT NULL,
  user_id         bigint NOT NULL,
  -- The config version it began under: what ends all that a user, or a box, had begun ends it too.
  version         bigint NOT NULL,
  created_at      timestamptz NOT NULL,
  expires_at      timestamptz NOT NULL,
  -- The cookie that this sign-in replaced. If its answer is lost, or its form is sent twice, the browser presents that one again,
  -- and the sign-in that took its place must end with it.
  replaces        bytea,
  -- The cookie of a sign-in that ended like that: of two answers the browser may have kept the earlier one.
  replaces_unseen bytea,
  PRIMARY KEY (box, browser),
  FOREIGN KEY (box, user_id) REFERENCES boxgate.user ON DELETE CASCADE
);
ALTER TABLE boxgate.sign_in ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.sign_in USING (box = current_setting('boxgate.box', true));
CREATE INDEX sign_in_user ON boxgate.sign_in (box, user_id);
CREATE INDEX sign_in_expiry ON boxgate.sign_in (expires_at);
CREATE INDEX sign_in_replaces ON boxgate.sign_in (box, replaces) WHERE replaces IS NOT NULL;
CREATE INDEX sign_in_replaces_unseen ON boxgate.sign_in (box, replaces_unseen) WHERE replaces_unseen IS NOT NULL;

-- A stored consent: the scopes that a user allows a client, a Grant.
CREATE TABLE boxgate.consent (
  box        text NOT NULL REFERENCES boxgate.box,
  user_id    bigint NOT NULL,
  client     text NOT NULL,
  scopes     text[] NOT NULL,
  -- The config version it was given under: a client that is created again has none of the old one's.
  version    bigint NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (box, user_id, client),
  FOREIGN KEY (box, user_id) REFERENCES boxgate.user ON DELETE CASCADE
);
ALTER TABLE boxgate.consent ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.consent USING (box = current_setting('boxgate.box', true));
CREATE INDEX consent_client ON boxgate.consent (box, client, user_id);
CREATE INDEX consent_created ON boxgate.consent (box, created_at, user_id, client);

-- A consent is for one redirect URI of the client and one audience: whoever changes the client must not receive elsewhere what a
-- user has allowed here. `consent` is the Grant as a whole, which says that a client has something of a user.
CREATE TABLE boxgate.consent_target (
  box          text NOT NULL,
  user_id      bigint NOT NULL,
  client       text NOT NULL,
  -- SHA-256 of the redirect URI and the audience, which are too long for an index.
  target       bytea NOT NULL,
  -- As the client has it configured.
  redirect_uri text NOT NULL,
  -- Null: the box itself, its issuer.
  audience     text,
  scopes       text[] NOT NULL,
  -- The config version it was given under: a client that is created again has none of the old one's.
  version      bigint NOT NULL,
  created_at   timestamptz NOT NULL,
  PRIMARY KEY (box, user_id, client, target),
  FOREIGN KEY (box, user_id, client) REFERENCES boxgate.consent ON DELETE CASCADE
);
ALTER TABLE boxgate.consent_target ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.consent_target USING (box = current_setting('boxgate.box', true));

-- An authorization request that waits for its user's consent, in the browser it was made in and no other.
CREATE TABLE boxgate.consent_request (
  box        text NOT NULL,
  id         uuid NOT NULL,
  browser    bytea NOT NULL,
  -- The parameters as they came: they are validated again when they are answered.
  query      text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (box, id),
  FOREIGN KEY (box, browser) REFERENCES boxgate.sign_in ON DELETE CASCADE
);
ALTER TABLE boxgate.consent_request ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.consent_request USING (box = current_setting('boxgate.box', true));
CREATE INDEX consent_request_browser ON boxgate.consent_request (box, browser);
CREATE INDEX consent_request_expiry ON boxgate.consent_request (expires_at);

-- A code that answers an authorization request; `hash` is null if a token answered it, without a code.
CREATE TABLE boxgate.authorization_code (
  box              text NOT NULL REFERENCES boxgate.box,
  id               uuid NOT NULL,
  -- SHA-256 of the code's random part.
  hash             bytea,
  client           text NOT NULL,
  user_id          bigint NOT NULL,
  -- The config version it began under.
  version          bigint NOT NULL,
  -- The sign-in it was given to.
  browser          bytea NOT NULL,
  -- As the request named it; null: it left it out.
  redirect_uri     text,
  scope            text,
  audience         text[],
  -- PKCE, S256.
  challenge        text,
  user_agent       text,
  created_at       timestamptz NOT NULL,
  -- When the code ends; the row stays longer, for a second use of the code and for the sign-out.
  expires_at       timestamptz NOT NULL,
  kept_until       timestamptz NOT NULL,
  used_at          timestamptz,
  -- What came of it.
  session          uuid,
  family           uuid,
  -- What the id_token says of the request, and of the sign-in: its time (OpenID Connect Core §2).
  nonce            text,
  authenticated_at timestamptz NOT NULL,
  PRIMARY KEY (box, id),
  FOREIGN KEY (box, user_id) REFERENCES boxgate.user ON DELETE CASCADE
);
ALTER TABLE boxgate.authorization_code ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.authorization_code USING (box = current_setting('boxgate.box', true));
CREATE INDEX authorization_code_browser ON boxgate.authorization_code (box, browser);
CREATE INDEX authorization_code_user ON boxgate.authorization_code (box, user_id);
CREATE INDEX authorization_code_end ON boxgate.authorization_code (kept_until);
CREATE INDEX authorization_code_unused ON boxgate.authorization_code (box, user_id, created_at) WHERE used_at IS NULL;

-- ---------------------------------------------------------------------------------------------------------------------------
-- Sessions, one for every access token, and the refresh families some of them belong to

-- A family begins with the first refresh token of a grant and ends all its sessions when it ends. No foreign key leads to the box:
-- it would lock the box's row at each new family, although both ways to store one have just read that row.
CREATE TABLE boxgate.refresh_family (
  box              text NOT NULL,
  id               uuid NOT NULL,
  client           text NOT NULL,
  user_id          bigint,
  -- The config version it began under.
  version          bigint NOT NULL,
  -- SHA-256 of the part that all its tokens share: an old token of the family is told from a guess by it.
  family_hash      bytea NOT NULL,
  -- SHA-256 of the part of the token that is valid now, and how many were there before it.
  token_hash       bytea NOT NULL,
  generation       integer NOT NULL DEFAULT 0,
  -- The token that is valid now, readable only with the one before it: the answer to a retry of a lost answer.
  successor        bytea,
  rotated_at       timestamptz,
  -- The newest session of the family.
  session          uuid NOT NULL,
  scope            text,
  audience         text[],
  created_at       timestamptz NOT NULL,
  last_used_at     timestamptz NOT NULL,
  -- Slides with each use, never beyond ends_at.
  expires_at       timestamptz NOT NULL,
  ends_at          timestamptz NOT NULL,
  -- When its last session has expired: the row stays until then, because every check of such a session reads it.
  sessions_end     timestamptz NOT NULL,
  ended_at         timestamptz,
  ended_as         text CHECK (ended_as IN ('closed', 'revoked')),
  -- The grant that it came from, a letter as in session.type: a refreshed session is valid only while its client lists it.
  grant_type       "char" NOT NULL CHECK (grant_type <> 'r'),
  -- Time of the user's sign-in, for the id_tokens of refreshes; null for a client's own.
  authenticated_at timestamptz,
  PRIMARY KEY (box, id),
  CHECK ((ended_at IS NULL) = (ended_as IS NULL))
);
ALTER TABLE boxgate.refresh_family ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.refresh_family USING (box = current_setting('boxgate.box', true));
CREATE INDEX refresh_family_expiry ON boxgate.refresh_family (greatest(expires_at, sessions_end));
CREATE INDEX refresh_family_client ON boxgate.refresh_family (box, client);
CREATE INDEX refresh_family_user ON boxgate.refresh_family (box, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX refresh_family_live ON boxgate.refresh_family (box, user_id, client)
  WHERE user_id IS NOT NULL AND ended_at IS NULL;

-- Partitioned by `bucket`: the UTC day a session ends as days since 1970, or, when that was more than 60 days away at its issue,
-- 1,000,000 + the month (year * 12 + month - 1). Partitions that are over are dropped, never deleted from.
-- Columns stand in the order that wastes no alignment.
CREATE TABLE boxgate.session (
  id          uuid NOT NULL,
  -- The config version it was decided under.
  version     bigint NOT NULL,
  expires_at  timestamptz NOT NULL,
  bucket      integer NOT NULL,
  -- The grant: c client_credentials, r refresh_token, i implicit, a authorization_code, p password.
  type        "char" NOT NULL,
  box         text NOT NULL,
  client      text NOT NULL,
  -- SHA-256 of an opaque token's random part; null for a JWT, which its signature proves.
  token_hash  bytea,
  remote_addr inet,
  user_id     bigint,
  ended_at    timestamptz,
  family      uuid,
  parent      uuid,
  ended_as    text CHECK (ended_as IN ('closed', 'revoked')),
  scope       text,
  audience    text[],
  user_agent  text,
  PRIMARY KEY (box, id, bucket),
  CHECK ((ended_at IS NULL) = (ended_as IS NULL))
) PARTITION BY RANGE (bucket);
ALTER TABLE boxgate.session ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.session USING (box = current_setting('boxgate.box', true));
-- Not unique on purpose: equal keys of one client share an entry, a few bytes a session. They do not begin with the box, so they
-- cannot stand in for the primary key of a lookup: a connection keeps the plan that it made for a day while that day was empty, and
-- read all sessions of a box for each token (measured with 100,000 sessions: 10 ms for a check instead of 0.2).
CREATE INDEX session_by_client ON boxgate.session (client, box);
CREATE INDEX session_by_user ON boxgate.session (user_id, box) WHERE user_id IS NOT NULL;
CREATE INDEX session_by_family ON boxgate.session (family, box) WHERE family IS NOT NULL;
CREATE INDEX session_by_ended ON boxgate.session (box, id) WHERE ended_at IS NOT NULL;

-- How many sessions a client may still be issued before they are counted again; only of clients in boxes that set
-- tokens.max_sessions_per_client. Sessions that end meanwhile make no room until then, so it is never too much.
CREATE TABLE boxgate.session_room (
  box     text NOT NULL REFERENCES boxgate.box,
  client  text NOT NULL,
  -- The limit it was counted for.
  most    integer NOT NULL,
  room    integer NOT NULL,
  -- When the last count found no room.
  full_at timestamptz,
  PRIMARY KEY (box, client)
);
ALTER TABLE boxgate.session_room ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.session_room USING (box = current_setting('boxgate.box', true));

-- ---------------------------------------------------------------------------------------------------------------------------
-- Audit trail and recorded requests

-- The API adds and reads records; it changes and deletes none, whoever asks it to. Partitioned by `day`: the UTC day on which a
-- record expires, as days since 1970, so that retention can differ between boxes. Days that are over are dropped.
CREATE TABLE boxgate.audit_event (
  -- A UUIDv7: the order of the IDs is that of the records.
  id          uuid NOT NULL,
  -- The config version of the box: records from before its data was discarded are hidden, then deleted.
  version     bigint NOT NULL,
  created_at  timestamptz NOT NULL,
  day         integer NOT NULL,
  count       integer NOT NULL DEFAULT 1,
  box         text NOT NULL,
  event       text NOT NULL,
  result      text NOT NULL,
  -- The actor.
  client      text,
  user_id     bigint,
  remote_addr text,
  operator    text,
  session     uuid,
  request_id  text,
  -- `<kind>/<id>`.
  target      text,
  -- The user who joined or left the group that is the target.
  member      bigint,
  changed     text[],
  -- Why a request was refused, and what of it.
  reason      text,
  sent        text,
  PRIMARY KEY (box, id, day)
) PARTITION BY RANGE (day);
ALTER TABLE boxgate.audit_event ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.audit_event USING (box = current_setting('boxgate.box', true));
CREATE INDEX audit_event_by_event ON boxgate.audit_event (box, event, id);
CREATE INDEX audit_event_refused ON boxgate.audit_event (box, id) WHERE result <> 'success';
CREATE INDEX audit_event_by_target ON boxgate.audit_event (box, target, id) WHERE target IS NOT NULL;
CREATE INDEX audit_event_by_user ON boxgate.audit_event (box, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX audit_event_by_client ON boxgate.audit_event (box, client, id) WHERE client IS NOT NULL;
CREATE INDEX audit_event_by_address ON boxgate.audit_event (box, remote_addr, id) WHERE remote_addr IS NOT NULL;
CREATE INDEX audit_event_by_session ON boxgate.audit_event (box, session, id) WHERE session IS NOT NULL;
CREATE INDEX audit_event_by_member ON boxgate.audit_event (box, member, id) WHERE member IS NOT NULL;

-- Days that a box keeps its records: what its Box declares, if that can be used.
CREATE FUNCTION boxgate.audit_retention(p_box text) RETURNS integer
LANGUAGE sql STABLE SET search_path = boxgate, pg_temp
AS $$
  SELECT coalesce((
    SELECT least(400, greatest(1, (r.body #>> '{audit,retention}')::numeric))::integer FROM resource r
     WHERE r.box = p_box AND r.kind = 'Box' AND jsonb_typeof(r.body #> '{audit,retention}') = 'number' LIMIT 1), 90)
$$;

-- The day on which a record of this moment expires.
CREATE FUNCTION boxgate.audit_day(p_box text) RETURNS integer
LANGUAGE sql STABLE SET search_path = boxgate, pg_temp
AS $$
  SELECT (extract(epoch FROM now())::bigint / 86400)::integer + audit_retention(p_box)
$$;

-- Requests that callers were recently allowed or refused: for people, and never on the path of a request. Replicas remember, and
-- write what is new several times a second.
CREATE TABLE boxgate.recorded_request (
  box           text NOT NULL REFERENCES boxgate.box,
  -- The client of the token.
  client        text NOT NULL,
  -- Whose rights the token carried: `client`; `user`, who is in no group; `group:<id>`, for each group of the user; or
  -- `limited`: a user's token that does not carry the rights of its user.
  principal     text NOT NULL,
  -- App behind a gateway; empty: the own endpoints of the box.
  app           text NOT NULL,
  method        text NOT NULL,
  -- The path without its query, with a placeholder for each segment that names a record.
  shape         text NOT NULL,
  -- The policy that granted the requests; empty: none did.
  policy        text NOT NULL,
  requests      bigint NOT NULL,
  first_seen_at timestamptz NOT NULL,
  last_seen_at  timestamptz NOT NULL,
  PRIMARY KEY (box, client, principal, app, method, shape, policy)
);
ALTER TABLE boxgate.recorded_request ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.recorded_request USING (box = current_setting('boxgate.box', true));
CREATE INDEX recorded_request_seen ON boxgate.recorded_request (last_seen_at);

-- When a policy last granted a request, to the minute.
CREATE TABLE boxgate.policy_use (
  box          text NOT NULL REFERENCES boxgate.box,
  policy       text NOT NULL,
  last_used_at timestamptz NOT NULL,
  PRIMARY KEY (box, policy)
);
ALTER TABLE boxgate.policy_use ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.policy_use USING (box = current_setting('boxgate.box', true));

-- ---------------------------------------------------------------------------------------------------------------------------
-- Hot lane: one call serves the requests of many boxes, and tells the version of each box

-- A box without its namespace is like one that is not there.
CREATE FUNCTION boxgate.config_versions(p_boxes text[]) RETURNS TABLE (box text, config_version bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$ SELECT b.box, b.config_version FROM box b WHERE b.box = ANY (p_boxes) AND b.missing_since IS NULL $$;

-- The box that a host was assigned to, while its settings name it; those of a box elsewhere are not here.
CREATE FUNCTION boxgate.box_of_host(p_host text) RETURNS TABLE (box text, issuer text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT h.box, r.body ->> 'issuer'
    FROM box_host h LEFT JOIN resource r ON r.box = h.box AND r.kind = 'Box'
   WHERE h.host = p_host AND (r.body -> 'hosts' ? p_host OR is_elsewhere(h.box))
$$;

-- Stores many new sessions at once, each only if its box is still at the version it was decided under, and tells the version of
-- every box it met. Arrays that are null stand for nulls in every row.
CREATE FUNCTION boxgate.issue_sessions(
  p_box text[], p_version bigint[], p_id uuid[], p_bucket integer[], p_expires bigint[], p_type "char"[],
  p_client text[], p_hash bytea[], p_addr inet[], p_user bigint[], p_scope text[], p_audience jsonb[], p_agent text[]
) RETURNS TABLE (box text, config_version bigint)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  WITH current AS MATERIALIZED (
    SELECT b.box, b.config_version FROM box b WHERE b.box = ANY (p_box)
  ), stored AS (
    INSERT INTO session (id, version, expires_at, bucket, type, box, client, token_hash, remote_addr, user_id, scope,
                         audience, user_agent)
    SELECT n.id, n.version, to_timestamp(n.expires), n.bucket, n.type, n.box, n.client, n.hash, n.addr, n.user_id,
           n.scope, CASE WHEN n.audience IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(n.audience)) END, n.agent
      FROM unnest(p_box, p_version, p_id, p_bucket, p_expires, p_type, p_client, p_hash, p_addr, p_user, p_scope,
                  p_audience, p_agent)
        AS n (box, version, id, bucket, expires, type, client, hash, addr, user_id, scope, audience, agent)
      JOIN current c ON c.box = n.box AND c.config_version = n.version
  )
  SELECT c.box, c.config_version FROM current c
$$;

-- The user of something that was begun under a config version, with the IDs and names of the groups it is in now; null if there is
-- no such user, if it is inactive, and if what was begun then is revoked. In plpgsql, so that its plan is kept, and a statement
-- that calls it for nobody pays nothing.
CREATE FUNCTION boxgate.living_user(p_box text, p_user bigint, p_version bigint) RETURNS jsonb
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN (SELECT jsonb_build_object('id', u.id, 'email', u.email, 'email_verified', u.email_verified, 'data', u.data,
                                    'groups', (SELECT jsonb_agg(jsonb_build_object('id', g.id, 'name', g.name) ORDER BY g.id)
                                                 FROM boxgate.group_member m
                                                 JOIN boxgate.group g ON g.box = m.box AND g.id = m.group_id
                                                WHERE m.box = u.box AND m.user_id = u.id))
            FROM boxgate.user u
           WHERE u.box = p_box AND u.id = p_user AND u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= p_version);
END
$$;

-- The grant that a family came from; null if it has ended. In plpgsql, as living_user.
CREATE FUNCTION boxgate.living_family(p_box text, p_family uuid) RETURNS "char"
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN (SELECT f.grant_type
            FROM boxgate.refresh_family f
           WHERE f.box = p_box AND f.id = p_family AND f.ended_at IS NULL);
END
$$;

-- Creates the function that checks the sessions of one day; does nothing for a month. Most of the time of a check went into its
-- plan: a statement over all partitions cannot keep a good one, a function of one partition can (measured for 1, 16 and 40 tokens:
-- 57, 150 and 180 microseconds instead of 200, 280 and 320). A kept plan takes 200 KB of each connection, tokens that live longer
-- than 60 days are rare, and forged ones may name every bucket: so a month has none.
CREATE FUNCTION boxgate.make_bucket_check(p_bucket integer) RETURNS void
LANGUAGE plpgsql SET search_path = boxgate, pg_temp
AS $$
BEGIN
  IF p_bucket >= 1000000 THEN
    RETURN;
  END IF;
  -- The table is the partition itself, so that nothing is pruned at each call. LATERAL with OFFSET 0 is a probe of the
  -- primary key for each, as in check_sessions; a plan that was made while the day had no statistics must do the same.
  EXECUTE format($function$
    CREATE FUNCTION boxgate.%1$I(p_box text[], p_id uuid[], p_hash bytea[])
    RETURNS TABLE (nth bigint, config_version bigint, version bigint, expires bigint, type "char", client text,
                   user_id bigint, scope text, audience text[], family uuid, ended boolean, person jsonb,
                   grant_type "char")
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    AS $body$
    BEGIN
      RETURN QUERY
      SELECT n.nth, b.config_version, s.version, extract(epoch FROM s.expires_at)::bigint, s.type, s.client, s.user_id,
             s.scope, s.audience, s.family,
             s.ended_at IS NOT NULL OR (s.user_id IS NOT NULL AND p.person IS NULL)
               OR (s.family IS NOT NULL AND p.family_grant IS NULL),
             p.person, CASE WHEN s.type = 'r' THEN p.family_grant ELSE s.type END
        FROM unnest(p_box, p_id, p_hash) WITH ORDINALITY AS n (box, id, hash, nth)
        JOIN boxgate.box b ON b.box = n.box
        LEFT JOIN LATERAL (SELECT * FROM boxgate.%2$I s WHERE s.bucket = %3$s AND s.box = n.box AND s.id = n.id
                              AND s.token_hash IS NOT DISTINCT FROM n.hash OFFSET 0) s ON true
        LEFT JOIN LATERAL (
               SELECT CASE WHEN s.user_id IS NOT NULL THEN boxgate.living_user(s.box, s.user_id, s.version) END,
                      CASE WHEN s.family IS NOT NULL THEN boxgate.living_family(s.box, s.family) END
               OFFSET 0) AS p (person, family_grant) ON true;
    END
    $body$
  $function$, 'check_sessions_' || p_bucket, 'session_' || p_bucket, p_bucket);
  EXECUTE format('REVOKE ALL ON FUNCTION boxgate.%I FROM PUBLIC', 'check_sessions_' || p_bucket);
END
$$;

-- Looks up sessions of one bucket, and tells the version of the box of each, found or not. `nth` counts the items from 1. Hashes
-- are compared here: a session is found only with its own token. `person` is null for a client's own session, and for one whose
-- user may not use it any more (then `ended` is true): so who was disabled, or left a group, is denied by the next request.
-- `grant_type` is the grant that the session came from: of a refreshed one, its family's.
-- A day has a function of its own. For a month, the plan is made at each call.
CREATE FUNCTION boxgate.check_sessions(p_bucket integer, p_box text[], p_id uuid[], p_hash bytea[])
RETURNS TABLE (nth bigint, config_version bigint, version bigint, expires bigint, type "char", client text,
               user_id bigint, scope text, audience text[], family uuid, ended boolean, person jsonb, grant_type "char")
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
  IF p_bucket BETWEEN 0 AND 999999 THEN
    BEGIN
      RETURN QUERY EXECUTE 'SELECT * FROM boxgate.check_sessions_' || p_bucket || '($1, $2, $3)'
        USING p_box, p_id, p_hash;
      RETURN;
    EXCEPTION WHEN undefined_function OR undefined_table THEN
      -- There is no such bucket, or it has just been dropped.
    END;
  END IF;
  RETURN QUERY
  SELECT n.nth, b.config_version, s.version, extract(epoch FROM s.expires_at)::bigint, s.type, s.client, s.user_id,
         s.scope, s.audience, s.family,
         s.ended_at IS NOT NULL OR (s.user_id IS NOT NULL AND p.person IS NULL)
           OR (s.family IS NOT NULL AND p.family_grant IS NULL),
         p.person, CASE WHEN s.type = 'r' THEN p.family_grant ELSE s.type END
    FROM unnest(p_box, p_id, p_hash) WITH ORDINALITY AS n (box, id, hash, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN LATERAL (SELECT * FROM session s WHERE s.bucket = p_bucket AND s.box = n.box AND s.id = n.id
                          AND s.token_hash IS NOT DISTINCT FROM n.hash OFFSET 0) s ON true
    LEFT JOIN LATERAL (SELECT CASE WHEN s.user_id IS NOT NULL THEN living_user(s.box, s.user_id, s.version) END,
                              CASE WHEN s.family IS NOT NULL THEN living_family(s.box, s.family) END
                         OFFSET 0) AS p (person, family_grant) ON true;
END
$$;

-- The same for sessions of any buckets, which costs several times as much: for tokens of many buckets, forged ones as a rule, so
-- that they cannot make a statement each. The plan is kept, and told to probe keys: to make it costs much more than to carry it
-- out (measured: 40 ms with 185 partitions).
CREATE FUNCTION boxgate.check_sessions_in(p_bucket integer[], p_box text[], p_id uuid[], p_hash bytea[])
RETURNS TABLE (nth bigint, config_version bigint, version bigint, expires bigint, type "char", client text,
               user_id bigint, scope text, audience text[], family uuid, ended boolean, person jsonb, grant_type "char")
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, b.config_version, s.version, extract(epoch FROM s.expires_at)::bigint, s.type, s.client, s.user_id,
         s.scope, s.audience, s.family,
         s.ended_at IS NOT NULL OR (s.user_id IS NOT NULL AND p.person IS NULL)
           OR (s.family IS NOT NULL AND p.family_grant IS NULL),
         p.person, CASE WHEN s.type = 'r' THEN p.family_grant ELSE s.type END
    FROM unnest(p_bucket, p_box, p_id, p_hash) WITH ORDINALITY AS n (bucket, box, id, hash, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN LATERAL (SELECT * FROM session s WHERE s.bucket = n.bucket AND s.box = n.box AND s.id = n.id
                          AND s.token_hash IS NOT DISTINCT FROM n.hash OFFSET 0) s ON true
    LEFT JOIN LATERAL (SELECT CASE WHEN s.user_id IS NOT NULL THEN living_user(s.box, s.user_id, s.version) END,
                              CASE WHEN s.family IS NOT NULL THEN living_family(s.box, s.family) END
                         OFFSET 0) AS p (person, family_grant) ON true;
END
$$;

-- Stores new families with their first sessions, as issue_sessions does: each only if its box is at the version that it was decided
-- under; tells the version of every box it met. Families of clients: nobody signed in for them. Times of families in milliseconds.
CREATE FUNCTION boxgate.issue_families(
  p_box text[], p_version bigint[], p_id uuid[], p_bucket integer[], p_expires bigint[], p_type "char"[],
  p_client text[], p_hash bytea[], p_addr inet[], p_user bigint[], p_scope text[], p_audience jsonb[], p_agent text[],
  p_family uuid[], p_family_hash bytea[], p_token_hash bytea[], p_created bigint[], p_slides bigint[], p_ends bigint[]
) RETURNS TABLE (box text, config_version bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH current AS MATERIALIZED (
    SELECT b.box, b.config_version FROM box b WHERE b.box = ANY (p_box)
  ), good AS MATERIALIZED (
    SELECT n.box, n.version, n.id, n.bucket, to_timestamp(n.expires) AS expires, n.type, n.client, n.hash, n.addr, n.user_id,
           n.scope, CASE WHEN n.audience IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(n.audience)) END AS audience,
           n.agent, n.family, n.family_hash, n.token_hash, to_timestamp(n.created / 1000.0) AS created,
           to_timestamp(n.slides / 1000.0) AS slides, to_timestamp(n.ends / 1000.0) AS ends
      FROM unnest(p_box, p_version, p_id, p_bucket, p_expires, p_type, p_client, p_hash, p_addr, p_user, p_scope,
                  p_audience, p_agent, p_family, p_family_hash, p_token_hash, p_created, p_slides, p_ends)
        AS n (box, version, id, bucket, expires, type, client, hash, addr, user_id, scope, audience, agent, family,
              family_hash, token_hash, created, slides, ends)
      JOIN current v ON v.box = n.box AND v.config_version = n.version
  ), families AS (
    INSERT INTO refresh_family (box, id, client, user_id, version, family_hash, token_hash, session, scope, audience,
                                created_at, last_used_at, expires_at, ends_at, sessions_end, grant_type)
    SELECT g.box, g.family, g.client, g.user_id, g.version, g.family_hash, g.token_hash, g.id, g.scope, g.audience,
           g.created, g.created, g.slides, g.ends, g.expires, g.type
      FROM good g
  ), stored AS (
    INSERT INTO session (id, version, expires_at, bucket, type, box, client, token_hash, remote_addr, user_id, scope,
                         audience, user_agent, family)
    SELECT g.id, g.version, g.expires, g.bucket, g.type, g.box, g.client, g.hash, g.addr, g.user_id, g.scope, g.audience,
           g.agent, g.family
      FROM good g
  )
  SELECT c.box, c.config_version FROM current c;
END
$$;

-- Refresh families that have not ended, each found by the hash that all its tokens share, and the version of the box of each,
-- found or not (then `id` is null). Times in milliseconds. Without a person, the family is a client's own, or its user has
-- ended what was begun then. LATERAL with OFFSET 0 is a probe of the primary key for each, so the plan can be kept.
CREATE FUNCTION boxgate.find_refresh_families(p_box text[], p_id uuid[], p_hash bytea[])
RETURNS TABLE (nth bigint, config_version bigint, id uuid, client text, user_id bigint, grant_type "char", person jsonb,
               authenticated bigint, version bigint, token_hash text, generation integer, successor bytea, rotated bigint,
               session uuid, scope text, audience text[], created bigint, expires bigint, ends bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, b.config_version, f.id, f.client, f.user_id, f.grant_type,
         CASE WHEN f.user_id IS NOT NULL THEN living_user(f.box, f.user_id, f.version) END,
         (extract(epoch FROM f.authenticated_at) * 1000)::bigint, f.version, encode(f.token_hash, 'hex'), f.generation,
         f.successor, (extract(epoch FROM f.rotated_at) * 1000)::bigint, f.session, f.scope, f.audience,
         (extract(epoch FROM f.created_at) * 1000)::bigint, (extract(epoch FROM f.expires_at) * 1000)::bigint,
         (extract(epoch FROM f.ends_at) * 1000)::bigint
    FROM unnest(p_box, p_id, p_hash) WITH ORDINALITY AS n (box, id, hash, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN LATERAL (SELECT * FROM refresh_family r
                        WHERE r.box = n.box AND r.id = n.id AND r.family_hash = n.hash AND r.ended_at IS NULL OFFSET 0) f ON true;
END
$$;

-- Uses refresh tokens, and tells which: stores the session of each use, and moves its family on. Each only if its box is at the
-- version that it was decided under, its family has not ended, and its token is still the family's newest: that was judged, and
-- everything else of a family follows from the version, or never changes. Of two uses of a family in one call the first counts.
-- The row of the family is locked: an end of the family, and another use, come wholly before or wholly after. A row that somebody
-- holds is passed over. With `p_next` (the hash of a successor) the family moves to its next token.
-- LATERAL with OFFSET 0 is a probe of the primary key for each: joined, the table was read by an index of the box alone as long as
-- it had no statistics (measured: 17 ms for 50 of 1,000 families, instead of 2).
CREATE FUNCTION boxgate.use_refresh_tokens(
  p_box text[], p_version bigint[], p_id uuid[], p_bucket integer[], p_expires bigint[], p_type "char"[],
  p_client text[], p_hash bytea[], p_addr inet[], p_user bigint[], p_scope text[], p_audience jsonb[], p_agent text[],
  p_family uuid[], p_token_hash bytea[], p_used bigint[], p_slides bigint[], p_next bytea[], p_successor bytea[]
) RETURNS TABLE (nth bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET join_collapse_limit = 1
AS $$
BEGIN
  RETURN QUERY
  WITH asked AS MATERIALIZED (
    SELECT DISTINCT ON (n.box, n.family) n.*
      FROM unnest(p_box, p_version, p_id, p_bucket, p_expires, p_type, p_client, p_hash, p_addr, p_user, p_scope,
                  p_audience, p_agent, p_family, p_token_hash, p_used, p_slides, p_next, p_successor) WITH ORDINALITY
        AS n (box, version, id, bucket, expires, type, client, hash, addr, user_id, scope, audience, agent, family,
              token_hash, used, slides, next, successor, nth)
     ORDER BY n.box, n.family, n.nth
  ), good AS MATERIALIZED (
    SELECT n.*, f.session AS parent
      FROM asked n
      JOIN box b ON b.box = n.box AND b.config_version = n.version
     CROSS JOIN LATERAL (
       SELECT r.session FROM refresh_family r
        WHERE r.box = n.box AND r.id = n.family AND r.token_hash = n.token_hash
          AND r.ended_at IS NULL
          FOR UPDATE SKIP LOCKED OFFSET 0) f
  ), stored AS (
    INSERT INTO session (id, version, expires_at, bucket, type, box, client, token_hash, remote_addr, user_id, scope,
                         audience, user_agent, family, parent)
    SELECT g.id, g.version, to_timestamp(g.expires), g.bucket, g.type, g.box, g.client, g.hash, g.addr, g.user_id, g.scope,
           CASE WHEN g.audience IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(g.audience)) END, g.agent,
           g.family, g.parent
      FROM good g
  )
  UPDATE refresh_family f
     SET session = g.id, last_used_at = to_timestamp(g.used / 1000.0), expires_at = to_timestamp(g.slides / 1000.0),
         sessions_end = greatest(f.sessions_end, to_timestamp(g.expires)),
         generation = f.generation + (g.next IS NOT NULL)::integer, token_hash = coalesce(g.next, f.token_hash),
         successor = coalesce(g.successor, f.successor),
         rotated_at = CASE WHEN g.next IS NULL THEN f.rotated_at ELSE to_timestamp(g.used / 1000.0) END
    FROM good g WHERE f.box = g.box AND f.id = g.family
  RETURNING g.nth;
END
$$;

-- Uses assertions, each once: whether it is this request that did.
CREATE FUNCTION boxgate.use_assertions(
  p_boxes text[], p_clients text[], p_jtis bytea[], p_requests uuid[], p_expires bigint[]
) RETURNS TABLE (nth bigint, fresh boolean)
LANGUAGE sql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  WITH asked AS (
    SELECT * FROM unnest(p_boxes, p_clients, p_jtis, p_requests, p_expires)
      WITH ORDINALITY AS a (box, client, jti, request, expires, nth)
  ), stored AS (
    INSERT INTO used_assertion AS u (box, client, jti, request, expires_at)
    SELECT a.box, a.client, a.jti, a.request, to_timestamp(a.expires)
      FROM asked a JOIN box b ON b.box = a.box ORDER BY a.box, a.client, a.jti
    ON CONFLICT DO NOTHING RETURNING u.box, u.client, u.jti, u.request
  )
  SELECT a.nth, EXISTS (
           SELECT FROM stored s WHERE (s.box, s.client, s.jti, s.request) = (a.box, a.client, a.jti, a.request)
           UNION ALL
           SELECT FROM used_assertion u WHERE (u.box, u.client, u.jti, u.request) = (a.box, a.client, a.jti, a.request))
    FROM asked a
$$;

-- Whose ServiceAccounts those of a client are (its owner's cluster; of a client without an owner, the only cluster that
-- has any), under which version of that cluster's settings, which uid its entry is pinned to, and whether that one is gone.
CREATE FUNCTION boxgate.find_service_accounts(
  p_boxes text[], p_clients text[], p_namespaces text[], p_names text[]
) RETURNS TABLE (nth bigint, cluster text, version bigint, uid text, gone boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT a.nth, c.cluster, c.version, p.uid, p.gone_at IS NOT NULL
    FROM unnest(p_boxes, p_clients, p_namespaces, p_names) WITH ORDINALITY AS a (box, client, namespace, name, nth)
    JOIN resource r ON r.box = a.box AND r.kind = 'Client' AND r.id = a.client
    JOIN cluster_settings c
      ON c.cluster = coalesce(r.owner_cluster, (
            SELECT min(o.cluster) FROM cluster_settings o WHERE o.service_account_issuer IS NOT NULL HAVING count(*) = 1))
    LEFT JOIN service_account_pin p
      ON (p.box, p.client, p.namespace, p.name) = (a.box, a.client, a.namespace, a.name)
$$;

-- ---------------------------------------------------------------------------------------------------------------------------
-- The end of the data of a box

-- Ends the data of the transaction's box under its config version: users, refresh families, signing keys, and groups `p_all`, or
-- those that no object declares. Records of sessions and of the audit trail are hidden from then on and deleted in the background:
-- they go with the data only.
CREATE FUNCTION boxgate.end_box_data(p_all boolean) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
DECLARE
  ended text := current_setting('boxgate.box');
  part text;
BEGIN
  FOREACH part IN ARRAY ARRAY['refresh_family', 'signing_key', 'session_room', 'client_usage', 'recorded_request', 'policy_use',
                              'user', 'failed_attempt'] LOOP
    EXECUTE format('DELETE FROM boxgate.%I WHERE box = $1', part) USING ended;
  END LOOP;
  WITH deleted AS (
    DELETE FROM boxgate.group g WHERE g.box = ended AND (g.owner_cluster IS NULL OR p_all)
    RETURNING octet_length(concat(g.name, g.description)) AS bytes
  )
  UPDATE box_use u SET users = 0, groups = u.groups - d.groups, bytes = u.bytes - d.bytes
    FROM (SELECT count(*) AS groups, coalesce(sum(d.bytes), 0) AS bytes FROM deleted d) AS d WHERE u.box = ended;
  UPDATE box b SET sessions_from = b.config_version, records_from = b.config_version, discarding = true, bootstrapped = NULL
   WHERE b.box = ended;
  INSERT INTO revocation (box, subject, version)
  SELECT b.box, 'box', b.config_version FROM box b WHERE b.box = ended ON CONFLICT DO NOTHING;
END
$$;

-- ---------------------------------------------------------------------------------------------------------------------------
-- Clusters: what an operator asks about all boxes of its cluster

-- The boxes in which this cluster declares something, and those bound to its namespaces, which may be missing.
CREATE FUNCTION boxgate.declared_boxes(p_cluster text) RETURNS TABLE (box text, resources bigint, missing boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT c.box, sum(c.resources)::bigint, c.missing
    FROM (SELECT r.box, count(*), false FROM resource r WHERE r.owner_cluster = p_cluster GROUP BY r.box
          UNION ALL
          SELECT g.box, count(*), false FROM boxgate.group g WHERE g.owner_cluster = p_cluster GROUP BY g.box
          UNION ALL
          SELECT b.box, 0, b.missing_since IS NOT NULL FROM box b WHERE b.namespace_cluster = p_cluster)
      AS c (box, resources, missing)
   WHERE NOT EXISTS (SELECT FROM box m WHERE m.box = c.box AND m.transit IN ('moved', 'arriving'))
   GROUP BY c.box, c.missing ORDER BY c.missing, c.box
$$;

-- Settings without the hosts that the box does not have, and without an issuer on another one; the default issuer stays.
CREATE FUNCTION boxgate.settings_within(p_body jsonb, p_hosts text[], p_default_issuer text) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = boxgate, pg_temp
AS $$
  SELECT (p_body - 'hosts' - 'issuer')
      || CASE jsonb_typeof(p_body -> 'hosts') WHEN 'array' THEN (
           SELECT jsonb_build_object('hosts', COALESCE(jsonb_agg(h.host ORDER BY h.nth), '[]'))
             FROM jsonb_array_elements_text(p_body -> 'hosts') WITH ORDINALITY AS h (host, nth)
            WHERE h.host = ANY (p_hosts)) ELSE '{}' END
      || CASE WHEN p_body ->> 'issuer' = p_default_issuer
                OR substring(lower(p_body ->> 'issuer') FROM '^https://([^/:?#@]+)') = ANY (p_hosts)
              THEN jsonb_build_object('issuer', p_body -> 'issuer') ELSE '{}' END
$$;

-- Assigns the hosts of a cluster's boxes, all in one step, so that a host passes from one box to another without a moment in
-- which both have it. `p_named` are the boxes that the call speaks of; (`p_box`, `p_host`) are what their namespaces grant,
-- `p_claimed` which of it the box gets. What a box has, is granted and nobody else gets stays as long as its settings name it:
-- the object that declares them may be unreadable, or its definition gone.
-- Then it takes out of the settings of every box that is bound to a namespace of the cluster what the box does not have, under
-- a new version, and their digest, so that they are stored again once the box has it.
-- Gives the boxes of which anything changed, the claims that a box of another cluster holds off (`refused`), and the boxes that
-- have a host and that the call does not speak of (`unnamed`). The caller has fenced the call in the same transaction.
CREATE FUNCTION boxgate.assign_hosts(
  p_cluster text, p_default_issuers text, p_named text[], p_box text[], p_host text[], p_claimed boolean[]
) RETURNS TABLE (outcome text, box text, host text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  v_released text[];
  v_assigned text[];
  v_stripped text[] := '{}';
  v_box      text;
  v_version  bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('boxgate.box_host', 0));
  INSERT INTO box (box)
  SELECT DISTINCT w.box FROM unnest(p_box, p_claimed) AS w (box, claimed) WHERE w.claimed AND NOT is_elsewhere(w.box)
  ON CONFLICT DO NOTHING;

  -- Waits for the applies that rely on one of these.
  WITH released AS (
    DELETE FROM box_host h
     WHERE h.cluster = p_cluster AND h.box = ANY (p_named)
       AND NOT EXISTS (
             SELECT FROM unnest(p_box, p_host, p_claimed) AS w (box, host, claimed)
              WHERE w.box = h.box AND w.host = h.host
                AND (w.claimed OR is_elsewhere(h.box)
                     OR EXISTS (SELECT FROM resource r
                                 WHERE r.box = h.box AND r.kind = 'Box' AND r.body -> 'hosts' ? h.host))
                AND NOT EXISTS (SELECT FROM unnest(p_box, p_host, p_claimed) AS o (box, host, claimed)
                                 WHERE o.claimed AND o.host = h.host AND o.box <> h.box))
    RETURNING h.box
  )
  SELECT array_agg(r.box) INTO v_released FROM released r;

  WITH assigned AS (
    INSERT INTO box_host AS h (host, box, cluster)
    SELECT w.host, w.box, p_cluster FROM unnest(p_box, p_host, p_claimed) AS w (box, host, claimed) WHERE w.claimed
    ORDER BY w.host
    ON CONFLICT DO NOTHING
    RETURNING h.box
  )
  SELECT array_agg(a.box) INTO v_assigned FROM assigned a;

  FOR v_box IN
    SELECT r.box FROM resource r JOIN box b ON b.box = r.box
     WHERE r.kind = 'Box' AND b.namespace_cluster = p_cluster AND b.transit IS NULL
       AND r.body <> settings_within(r.body, ARRAY(SELECT h.host FROM box_host h WHERE h.box = r.box), p_default_issuers || r.box)
     ORDER BY r.box
  LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended('boxgate.box ' || v_box, 0));
    UPDATE box b SET config_version = greatest(b.config_version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
     WHERE b.box = v_box RETURNING b.config_version INTO v_version;
    INSERT INTO box_version (box, version) VALUES (v_box, v_version);
    WITH present AS (
      SELECT r.id, bytes_of(r.body) AS bytes FROM resource r WHERE r.box = v_box AND r.kind = 'Box'
    ), stripped AS (
      UPDATE resource r
         SET body = settings_within(r.body, ARRAY(SELECT h.host FROM box_host h WHERE h.box = r.box), p_default_issuers || r.box),
             version = v_version, digest = NULL, updated_at = now()
       WHERE r.box = v_box AND r.kind = 'Box' RETURNING r.id, bytes_of(r.body) AS bytes
    )
    UPDATE box_use u SET bytes = u.bytes + s.bytes - p.bytes FROM stripped s JOIN present p ON p.id = s.id WHERE u.box = v_box;
    v_stripped := v_stripped || v_box;
  END LOOP;

  RETURN QUERY
    SELECT 'changed'::text, c.box, NULL::text FROM (SELECT DISTINCT unnest(v_released || v_assigned || v_stripped)) AS c (box)
    UNION ALL
    SELECT 'refused', w.box, w.host FROM unnest(p_box, p_host, p_claimed) AS w (box, host, claimed)
     WHERE w.claimed AND NOT EXISTS (SELECT FROM box_host h WHERE h.host = w.host AND h.box = w.box)
    UNION ALL
    SELECT DISTINCT 'unnamed', h.box, NULL FROM box_host h WHERE h.cluster = p_cluster AND NOT h.box = ANY (p_named);
END
$$;

-- Makes the rows and boxes of one cluster another's: the same objects in a cluster that was created again have other UIDs, so
-- whoever is found under the old names is the owner. Boxes that were locked are open again, under a new version. The caller has
-- fenced the old cluster in the same transaction.
CREATE FUNCTION boxgate.adopt_cluster(p_old text, p_new text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  IF p_old = p_new THEN
    RETURN;
  END IF;
  WITH opened AS (
    UPDATE box b
       SET config_version = greatest(b.config_version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
     WHERE b.namespace_cluster = p_old AND b.locked_for IS NOT NULL AND b.transit IS NULL
    RETURNING b.box, b.config_version
  )
  INSERT INTO box_version (box, version) SELECT o.box, o.config_version FROM opened o;
  UPDATE box b SET namespace_cluster = p_new, namespace_uid = NULL, locked_for = NULL WHERE b.namespace_cluster = p_old;
  UPDATE box_host h SET cluster = p_new WHERE h.cluster = p_old;
  UPDATE resource SET owner_cluster = p_new, owner_uid = NULL WHERE owner_cluster = p_old;
  UPDATE boxgate.group SET owner_cluster = p_new, owner_uid = NULL WHERE owner_cluster = p_old;
END
$$;

-- ---------------------------------------------------------------------------------------------------------------------------
-- Upkeep over all boxes

-- All boxes there are, for the service's own upkeep (keys, expired refresh tokens).
CREATE FUNCTION boxgate.all_boxes() RETURNS TABLE (box text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$ SELECT b.box FROM box b WHERE b.transit IS NULL OR b.transit = 'leaving' ORDER BY b.box $$;

-- The boxes that were moved elsewhere before a version and have left rows here.
CREATE FUNCTION boxgate.moved_boxes(p_before bigint) RETURNS TABLE (box text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT b.box FROM box b
   WHERE b.transit = 'moved' AND b.config_version < p_before AND EXISTS (SELECT FROM box_version v WHERE v.box = b.box)
   ORDER BY b.box
$$;

-- The boxes in which something is stored or declared: one alone is served at the root of a standalone installation.
CREATE FUNCTION boxgate.boxes_in_use(p_limit int) RETURNS TABLE (box text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT b.box FROM box b
   WHERE (b.transit IS NULL OR b.transit = 'leaving')
     AND (EXISTS (SELECT FROM resource r WHERE r.box = b.box)
          OR EXISTS (SELECT FROM boxgate.group g WHERE g.box = b.box AND g.owner_cluster IS NOT NULL))
   ORDER BY b.box LIMIT p_limit
$$;

-- The newest signing key in use, of any box: before anything is served, the API tries whether the installation's key opens it.
CREATE FUNCTION boxgate.newest_signing_key() RETURNS TABLE (box text, kid text, private_key bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT k.box, k.kid, k.private_key FROM signing_key k
   WHERE k.retired_at IS NULL OR k.retired_at > now() ORDER BY k.created_at DESC, k.kid LIMIT 1
$$;

-- Notes uses of many clients of many boxes, times in milliseconds since 1970 or null; a use of a previous secret only
-- while the client still has that very one. Rows are locked in the order of their keys.
CREATE FUNCTION boxgate.note_usage(
  p_box text[], p_client text[], p_token bigint[], p_previous_secret text[], p_previous bigint[]
) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  INSERT INTO client_usage AS u (box, client, last_token_at, previous_used_at)
  SELECT r.box, r.id, to_timestamp(n.token / 1000.0),
         CASE WHEN r.previous_secret = n.previous_secret THEN to_timestamp(n.previous / 1000.0) END
    FROM unnest(p_box, p_client, p_token, p_previous_secret, p_previous)
      AS n (box, client, token, previous_secret, previous)
    JOIN resource r ON r.box = n.box AND r.kind = 'Client' AND r.id = n.client
   ORDER BY r.box, r.id
  ON CONFLICT (box, client) DO UPDATE
     SET last_token_at = GREATEST(u.last_token_at, excluded.last_token_at),
         previous_used_at = GREATEST(u.previous_used_at, excluded.previous_used_at)
$$;

-- Adds what a replica has issued, and gives the caller the boxes that it is to count now, at most `p_most`: those that may
-- have reached their quota, those that are full, and once an hour each box that issues, because a process that was killed
-- did not report. `p_limit` is the quota of a box whose Namespace sets none. A count takes a twentieth of the time at most.
CREATE FUNCTION boxgate.note_issued(p_box text[], p_issued bigint[], p_limit bigint, p_most integer)
RETURNS TABLE (box text, issued bigint)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  INSERT INTO session_count AS c (box, issued)
  SELECT b.box, n.issued FROM unnest(p_box, p_issued) AS n (box, issued) JOIN box b ON b.box = n.box ORDER BY b.box
  ON CONFLICT (box) DO UPDATE SET issued = c.issued + excluded.issued;

  UPDATE session_count c SET counted_at = now()
    FROM (SELECT s.box
            FROM session_count s JOIN box b ON b.box = s.box
           WHERE (s.counted_at IS NULL
                  OR s.counted_at < now() - greatest(interval '4 seconds', s.took * interval '20 milliseconds'))
             AND (b.sessions_full
                  OR s.box = ANY (p_box)
                 AND (s.active IS NULL OR s.counted_at < now() - interval '1 hour'
                      OR s.active + s.issued >= coalesce((b.quota ->> 'sessions')::bigint, p_limit)))
           ORDER BY s.counted_at NULLS FIRST, s.box LIMIT p_most
             FOR NO KEY UPDATE OF s SKIP LOCKED) AS d
   WHERE c.box = d.box
  RETURNING c.box, c.issued;
$$;

-- Returns the failures of subjects in the periods that end at the given seconds since 1970; nothing where there are none.
CREATE FUNCTION boxgate.count_failures(p_boxes text[], p_subjects text[], p_ends bigint[])
RETURNS TABLE (nth bigint, failures integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT a.nth, f.failures
    FROM unnest(p_boxes, p_subjects, p_ends) WITH ORDINALITY AS a (box, subject, ends, nth)
    JOIN failed_attempt f ON f.box = a.box AND f.subject = a.subject AND f.ends_at = to_timestamp(a.ends)
$$;

-- Adds one failure for each element; boxes that do not exist are skipped. Rows are locked in the order of their keys.
CREATE FUNCTION boxgate.add_failures(p_boxes text[], p_subjects text[], p_ends bigint[]) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  INSERT INTO failed_attempt AS f (box, subject, ends_at, failures)
  SELECT b.box, a.subject, to_timestamp(a.ends), count(*)
    FROM unnest(p_boxes, p_subjects, p_ends) AS a (box, subject, ends) JOIN box b ON b.box = a.box
   GROUP BY b.box, a.subject, a.ends ORDER BY b.box, a.subject, a.ends
  ON CONFLICT (box, subject, ends_at) DO UPDATE SET failures = f.failures + excluded.failures
$$;

-- Deletes rows of a table that were over before a time, of all boxes, the oldest first. Skips those that another transaction holds.
-- Keys are probed: a plan by statistics of a smaller table would read it for each portion.
CREATE FUNCTION boxgate.delete_expired(p_table text, p_before timestamptz, p_limit integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp SET enable_seqscan = off SET enable_hashjoin = off
AS $$
DECLARE
  expiry text;
  key text;
  deleted bigint;
BEGIN
  SELECT e.expiry, e.key INTO STRICT expiry, key FROM (VALUES
    ('used_assertion', 'expires_at', 'box, client, jti'),
    ('failed_attempt', 'ends_at', 'box, subject, ends_at'),
    ('recorded_request', 'last_seen_at', 'box, client, principal, app, method, shape, policy'),
    ('consent_request', 'expires_at', 'box, id'),
    ('sign_in', 'expires_at', 'box, browser'),
    ('authorization_code', 'kept_until', 'box, id'),
    ('refresh_family', 'greatest(expires_at, sessions_end)', 'box, id')) AS e (name, expiry, key) WHERE e.name = p_table;
  EXECUTE format('WITH over AS MATERIALIZED (
                    SELECT %3$s FROM boxgate.%1$I WHERE %2$s < $1 ORDER BY %2$s LIMIT $2 FOR UPDATE SKIP LOCKED)
                  DELETE FROM boxgate.%1$I WHERE (%3$s) IN (SELECT %3$s FROM over)',
                 p_table, expiry, key) USING p_before, p_limit;
  GET DIAGNOSTICS deleted = ROW_COUNT;
  RETURN deleted;
END
$$;

-- Adds counts of requests of many boxes, and the use of their policies; times in milliseconds since 1970. Counts from
-- before the data of a box was discarded are not stored: versions are microseconds since 1970. Those without a client
-- show only the use of a policy. Rows are locked in the order of their keys.
CREATE FUNCTION boxgate.record_requests(p_requests jsonb) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  WITH seen AS MATERIALIZED (
    SELECT b.box, r.client, r.principal, r.app, r.method, r.shape, r.policy, r.requests,
           to_timestamp(r.first_seen / 1000.0) AS first_seen_at, to_timestamp(r.last_seen / 1000.0) AS last_seen_at
      FROM jsonb_to_recordset(p_requests) AS r (box text, client text, principal text, app text, method text, shape text,
           policy text, requests bigint, first_seen bigint, last_seen bigint)
      JOIN box b ON b.box = r.box
     WHERE r.last_seen * 1000 >= b.records_from
  ), recorded AS (
    INSERT INTO recorded_request AS q (box, client, principal, app, method, shape, policy, requests, first_seen_at,
                                       last_seen_at)
    SELECT s.box, s.client, s.principal, s.app, s.method, s.shape, s.policy, s.requests, s.first_seen_at, s.last_seen_at
      FROM seen s WHERE s.client <> ''
     ORDER BY s.box, s.client, s.principal, s.app, s.method, s.shape, s.policy
    ON CONFLICT (box, client, principal, app, method, shape, policy) DO UPDATE
       SET requests = q.requests + excluded.requests,
           last_seen_at = GREATEST(q.last_seen_at, excluded.last_seen_at)
  )
  INSERT INTO policy_use AS u (box, policy, last_used_at)
  SELECT p.box, p.id, max(s.last_seen_at)
    FROM seen s JOIN resource p ON p.box = s.box AND p.kind = 'AccessPolicy' AND p.id = s.policy
   GROUP BY p.box, p.id ORDER BY p.box, p.id
  ON CONFLICT (box, policy) DO UPDATE SET last_used_at = GREATEST(u.last_used_at, excluded.last_used_at)
$$;

-- Deletes the requests of these boxes that are too many, the oldest first: of one principal of a client, and of a box.
CREATE FUNCTION boxgate.trim_requests(p_boxes text[], p_each integer, p_all integer) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  WITH numbered AS MATERIALIZED (
    SELECT q.box, q.client, q.principal, q.app, q.method, q.shape, q.policy,
           row_number() OVER (PARTITION BY q.box, q.client, q.principal ORDER BY q.last_seen_at DESC) AS nth_of_principal,
           row_number() OVER (PARTITION BY q.box ORDER BY q.last_seen_at DESC) AS nth
      FROM recorded_request q WHERE q.box = ANY (p_boxes)
  ), over AS MATERIALIZED (
    SELECT q.box, q.client, q.principal, q.app, q.method, q.shape, q.policy
      FROM recorded_request q
      JOIN numbered n ON (q.box, q.client, q.principal, q.app, q.method, q.shape, q.policy)
                       = (n.box, n.client, n.principal, n.app, n.method, n.shape, n.policy)
     WHERE n.nth_of_principal > p_each OR n.nth > p_all
       FOR UPDATE OF q SKIP LOCKED
  ), deleted AS (
    DELETE FROM recorded_request q USING over o
     WHERE (q.box, q.client, q.principal, q.app, q.method, q.shape, q.policy)
         = (o.box, o.client, o.principal, o.app, o.method, o.shape, o.policy)
    RETURNING 1
  )
  SELECT count(*) FROM deleted
$$;

-- The first moment after a bucket. Refuses what is no bucket.
CREATE FUNCTION boxgate.bucket_end(p_bucket integer) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE SET search_path = boxgate, pg_temp
AS $$
BEGIN
  IF p_bucket BETWEEN 0 AND 999999 THEN
    RETURN timestamptz 'epoch' + (p_bucket + 1) * interval '24 hours';
  ELSIF p_bucket BETWEEN 1000000 + 1970 * 12 AND 1000000 + 9999 * 12 THEN
    RETURN make_timestamptz((p_bucket - 1000000 + 1) / 12, (p_bucket - 1000000 + 1) % 12 + 1, 1, 0, 0, 0, 'UTC');
  END IF;
  RAISE EXCEPTION 'no bucket: %', p_bucket USING ERRCODE = 'invalid_parameter_value';
END
$$;

-- Creates the partitions of those buckets that have none; returns their buckets. The API has no right to. Refuses a bucket that
-- nobody needs: over a day ago (two clocks differ near midnight), or more than eleven years away. Created first, then attached:
-- PARTITION OF would lock the whole table.
CREATE FUNCTION boxgate.make_buckets(p_buckets integer[]) RETURNS SETOF integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp SET lock_timeout = '30s'
AS $$
DECLARE
  made integer;
  refused integer;
BEGIN
  SELECT b INTO refused FROM unnest(p_buckets) b
   WHERE bucket_end(b) <= now() - interval '24 hours' OR bucket_end(b) > now() + interval '11 years' LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'bucket % is over or too far away', refused USING ERRCODE = 'invalid_parameter_value';
  END IF;
  LOCK TABLE bucket IN SHARE ROW EXCLUSIVE MODE;
  FOR made IN INSERT INTO bucket SELECT DISTINCT b FROM unnest(p_buckets) b ORDER BY b ON CONFLICT DO NOTHING RETURNING bucket LOOP
    EXECUTE format('CREATE TABLE boxgate.%I (LIKE boxgate.session INCLUDING ALL)', 'session_' || made);
    EXECUTE format('ALTER TABLE boxgate.session ATTACH PARTITION boxgate.%I FOR VALUES FROM (%s) TO (%s)',
                   'session_' || made, made, made + 1);
    PERFORM make_bucket_check(made);
    RETURN NEXT made;
  END LOOP;
END
$$;

-- Drops the partition of a bucket that was over a day ago: nothing in it can be asked for any more. False if there is none, or if
-- a long statement holds the table: others would wait behind this lock, so the wait is short.
CREATE FUNCTION boxgate.drop_bucket(p_bucket integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp SET lock_timeout = '200ms'
AS $$
BEGIN
  IF bucket_end(p_bucket) > now() - interval '24 hours' THEN
    RAISE EXCEPTION 'bucket % is not over', p_bucket USING ERRCODE = 'invalid_parameter_value';
  END IF;
  DELETE FROM bucket b WHERE b.bucket = p_bucket;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  EXECUTE format('DROP TABLE boxgate.%I', 'session_' || p_bucket);
  EXECUTE format('DROP FUNCTION IF EXISTS boxgate.%I', 'check_sessions_' || p_bucket);
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END
$$;

-- The buckets that hold rows now. It only saves locks and plans of the others: a row is on disk before it is committed, so a
-- transaction misses nothing that its later statements could see.
CREATE FUNCTION boxgate.filled_buckets() RETURNS SETOF integer
LANGUAGE sql STABLE SET search_path = boxgate, pg_temp
AS $$
  SELECT b.bucket FROM bucket b WHERE pg_relation_size(to_regclass('boxgate.session_' || b.bucket)) > 0 ORDER BY b.bucket
$$;

-- Deletes records of discarded sessions from one bucket, at most so many; gives their number. The API has no right to
-- delete sessions, and this deletes no others.
CREATE FUNCTION boxgate.delete_records(p_box text, p_bucket integer, p_limit integer) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  WITH discarded AS MATERIALIZED (
    SELECT s.id FROM session s JOIN box b ON b.box = s.box
     WHERE s.box = p_box AND s.bucket = p_bucket AND s.version < b.records_from LIMIT p_limit
  ), deleted AS (
    DELETE FROM session s USING discarded d WHERE s.box = p_box AND s.bucket = p_bucket AND s.id = d.id RETURNING 1
  )
  SELECT count(*) FROM deleted
$$;

-- A revocation tells of stored sessions that they were revoked, and when. Tokens are judged by sessions_from alone, so a
-- row matters only as long as a session that began before it is stored: until the bucket of the last one is dropped.
--
-- Deletes such rows among the next p_limit of a box, in the order of (subject, version); tells the last one that it looked
-- at, nothing when there is none. A day's grace: what was decided under an older version is long stored by then, whatever
-- the clocks of replicas say. Rows that somebody else prunes now are passed over.
CREATE FUNCTION boxgate.prune_revocations(p_box text, p_subject text, p_version bigint, p_limit integer)
RETURNS TABLE (subject text, version bigint, deleted bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
SET plan_cache_mode = force_custom_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
  filled integer[];
  oldest timestamptz;
BEGIN
  SELECT coalesce(array_agg(b), '{}') INTO filled FROM filled_buckets() b;
  -- The id of a session begins with the time of its creation.
  SELECT to_timestamp(('x' || substr(translate(o.id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0) INTO oldest
    FROM unnest(filled) f (bucket),
         LATERAL (SELECT s.id FROM session s
                   WHERE s.box = p_box AND s.bucket = f.bucket AND s.bucket = ANY (filled) ORDER BY s.id LIMIT 1) o
   ORDER BY o.id LIMIT 1;
  RETURN QUERY
  WITH looked AS MATERIALIZED (
    SELECT r.subject, r.version, r.at,
           CASE WHEN r.subject LIKE '%:before' THEN greatest(r.at, to_timestamp(r.version / 1000.0)) ELSE r.at END AS until,
           split_part(r.subject, ':', 1) AS kind, split_part(r.subject, ':', 2) AS id
      FROM revocation r
     WHERE r.box = p_box AND (r.subject, r.version) > (p_subject, p_version)
     ORDER BY r.subject, r.version LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), gone AS (
    DELETE FROM revocation r USING looked l
     WHERE r.box = p_box AND r.subject = l.subject AND r.version = l.version AND l.until < now() - interval '1 day'
       AND CASE
             WHEN l.until < coalesce(oldest, 'infinity') - interval '1 day' THEN true
             WHEN l.kind = 'client' THEN NOT EXISTS (
               SELECT FROM unnest(filled) f (bucket),
                      LATERAL (SELECT FROM session s WHERE s.box = p_box AND s.client = l.id AND s.bucket = f.bucket
                                  AND s.bucket = ANY (filled) LIMIT 1) s)
             WHEN l.kind = 'user' THEN NOT EXISTS (
               SELECT FROM unnest(filled) f (bucket),
                      LATERAL (SELECT FROM session s WHERE s.box = p_box AND s.user_id = l.id::bigint
                                  AND s.bucket = f.bucket AND s.bucket = ANY (filled) LIMIT 1) s)
             ELSE false
           END
    RETURNING 1
  )
  SELECT l.subject, l.version, (SELECT count(*) FROM gone) FROM looked l ORDER BY l.subject DESC, l.version DESC LIMIT 1;
END
$$;

-- Stores records of many boxes: failures and sign-ins that a replica has counted. One that was noted before the data of
-- its box was discarded is not stored: versions are microseconds since 1970.
CREATE FUNCTION boxgate.store_counted_events(p_events jsonb) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  INSERT INTO audit_event (id, version, created_at, day, count, box, event, result, client, user_id, remote_addr,
                           session, request_id, target, reason, sent)
  SELECT e.id, b.config_version, e.created_at, d.day, e.count, b.box, e.event, e.result, e.client, e.user_id,
         e.remote_addr, e.session, e.request_id, e.target, e.reason, e.sent
    FROM jsonb_to_recordset(p_events) AS e (id uuid, created_at timestamptz, count integer, box text, event text,
         result text, client text, user_id bigint, remote_addr text, session uuid, request_id text, target text,
         reason text, sent text)
    JOIN box b ON b.box = e.box
    JOIN (SELECT n.box, audit_day(n.box) FROM
           (SELECT DISTINCT x.box FROM jsonb_to_recordset(p_events) AS x (box text)) n) AS d (box, day) ON d.box = b.box
   WHERE extract(epoch FROM e.created_at) * 1000000 >= b.records_from
$$;

-- The retentions that boxes have now, and the default.
CREATE FUNCTION boxgate.audit_retentions() RETURNS TABLE (retention integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT audit_retention(r.box) FROM resource r WHERE r.kind = 'Box' UNION SELECT 90
$$;

-- Creates the partitions that records kept for so many days need until the day after tomorrow; the API has no right to. Created
-- first, then attached: PARTITION OF would lock the whole table.
CREATE FUNCTION boxgate.make_audit_days(p_retention integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp SET lock_timeout = '2s'
AS $$
DECLARE
  first integer := (extract(epoch FROM now())::bigint / 86400)::integer + p_retention;
  made integer := 0;
  missing integer;
BEGIN
  IF p_retention NOT BETWEEN 1 AND 400 THEN
    RAISE EXCEPTION 'no retention: %', p_retention USING ERRCODE = 'invalid_parameter_value';
  END IF;
  LOCK TABLE audit_day IN SHARE ROW EXCLUSIVE MODE;
  FOR missing IN INSERT INTO audit_day SELECT generate_series(first, first + 2) ON CONFLICT DO NOTHING RETURNING day LOOP
    EXECUTE format('CREATE TABLE boxgate.%I (LIKE boxgate.audit_event INCLUDING ALL)', 'audit_event_' || missing);
    EXECUTE format('ALTER TABLE boxgate.audit_event ATTACH PARTITION boxgate.%I FOR VALUES FROM (%s) TO (%s)',
                   'audit_event_' || missing, missing, missing + 1);
    made := made + 1;
  END LOOP;
  RETURN made;
END
$$;

-- The days that hold records now, as filled_buckets.
CREATE FUNCTION boxgate.filled_days() RETURNS SETOF integer
LANGUAGE sql STABLE SET search_path = boxgate, pg_temp
AS $$
  SELECT d.day FROM audit_day d WHERE pg_relation_size(to_regclass('boxgate.audit_event_' || d.day)) > 0 ORDER BY d.day
$$;

-- Drops the partition of a day that is over. False if there is none, or if a long statement holds the table: others would wait
-- behind this lock, so the wait is short.
CREATE FUNCTION boxgate.drop_audit_day(p_day integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp SET lock_timeout = '200ms'
AS $$
BEGIN
  IF p_day >= extract(epoch FROM now())::bigint / 86400 THEN
    RAISE EXCEPTION 'day % is not over', p_day USING ERRCODE = 'invalid_parameter_value';
  END IF;
  DELETE FROM audit_day d WHERE d.day = p_day;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  EXECUTE format('DROP TABLE boxgate.%I', 'audit_event_' || p_day);
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END
$$;

-- Deletes records of a box whose data was discarded; tells how many. One filled day after the other, by the name of its
-- partition: a statement over all days would lock each of them with its indexes.
CREATE FUNCTION boxgate.delete_audit_events(p_box text, p_limit integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
DECLARE
  filled integer;
  deleted bigint := 0;
  more bigint;
BEGIN
  FOR filled IN SELECT d FROM filled_days() d LOOP
    EXECUTE format('WITH over AS MATERIALIZED (
                      SELECT e.id FROM boxgate.%1$I e JOIN boxgate.box b ON b.box = e.box
                       WHERE e.box = $1 AND e.version < b.records_from LIMIT $2)
                    DELETE FROM boxgate.%1$I e USING over o WHERE e.box = $1 AND e.id = o.id', 'audit_event_' || filled)
      USING p_box, p_limit - deleted;
    GET DIAGNOSTICS more = ROW_COUNT;
    deleted := deleted + more;
    EXIT WHEN deleted >= p_limit;
  END LOOP;
  RETURN deleted;
END
$$;
