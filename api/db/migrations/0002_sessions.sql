-- Sessions, one for every access token, and the refresh families some of them belong to.

-- A family begins with the first refresh token of a grant and ends all its sessions when it ends.
CREATE TABLE boxgate.refresh_family (
  box          text NOT NULL REFERENCES boxgate.box,
  id           uuid NOT NULL,
  client       text NOT NULL,
  user_id      bigint,
  -- The config version it began under.
  version      bigint NOT NULL,
  -- SHA-256 of the part that all its tokens share: an old token of the family is told from a guess by it.
  family_hash  bytea NOT NULL,
  -- SHA-256 of the part of the token that counts now, and how many were there before it.
  token_hash   bytea NOT NULL,
  generation   integer NOT NULL DEFAULT 0,
  -- The token that counts now, readable only with the one before it: the answer to a retry of a lost answer.
  successor    bytea,
  rotated_at   timestamptz,
  -- The newest session of the family.
  session      uuid NOT NULL,
  scope        text,
  audience     text[],
  created_at   timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  -- Slides with each use, never beyond ends_at.
  expires_at   timestamptz NOT NULL,
  ends_at      timestamptz NOT NULL,
  -- When its last session has expired: the row stays until then, for every check of such a session reads it.
  sessions_end timestamptz NOT NULL,
  ended_at     timestamptz,
  ended_as     text CHECK (ended_as IN ('closed', 'revoked')),
  PRIMARY KEY (box, id),
  CHECK ((ended_at IS NULL) = (ended_as IS NULL))
);
CREATE INDEX refresh_family_expiry ON boxgate.refresh_family (box, expires_at);
CREATE INDEX refresh_family_client ON boxgate.refresh_family (box, client);

-- Partitioned by `bucket`: the UTC day a session ends as days since 1970, or, when that was more than 60 days away at
-- its issue, 1,000,000 + the month (year * 12 + month - 1). What is over is dropped, never deleted.
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
-- Not unique on purpose: equal keys of one client share an entry, a few bytes a session.
CREATE INDEX session_by_client ON boxgate.session (box, client);
CREATE INDEX session_by_user ON boxgate.session (box, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX session_by_family ON boxgate.session (box, family) WHERE family IS NOT NULL;
CREATE INDEX session_by_ended ON boxgate.session (box, id) WHERE ended_at IS NOT NULL;

ALTER TABLE boxgate.refresh_family ENABLE ROW LEVEL SECURITY;
ALTER TABLE boxgate.session ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.refresh_family USING (box = current_setting('boxgate.box', true));
CREATE POLICY own_box ON boxgate.session USING (box = current_setting('boxgate.box', true));

-- The first hot statement: stores many new sessions at once, each only if its box is still at the version it was
-- decided under, and tells the version of every box it met. Arrays that are null stand for nulls in every row.
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

-- The second hot statement: looks up sessions of one bucket, and tells the version of the box of each, found or not.
-- `nth` counts the requested ones from 1. Hashes are compared here: a session is found only with its own token. LATERAL
-- with OFFSET 0 is a probe of the primary key for each, whatever the planner knows of a partition: without statistics,
-- which a new day has none of, it read the whole partition (measured: 0.55 ms for 30 tokens, against 1.7 to 8).
CREATE FUNCTION boxgate.check_sessions(p_bucket integer, p_box text[], p_id uuid[], p_hash bytea[])
RETURNS TABLE (nth bigint, config_version bigint, version bigint, expires bigint, type "char", client text,
               user_id bigint, scope text, audience text[], family uuid, ended boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, b.config_version, s.version, extract(epoch FROM s.expires_at)::bigint, s.type, s.client, s.user_id,
         s.scope, s.audience, s.family,
         s.ended_at IS NOT NULL OR (s.family IS NOT NULL AND
           (SELECT f.ended_at IS NULL FROM refresh_family f WHERE f.box = s.box AND f.id = s.family) IS NOT TRUE)
    FROM unnest(p_box, p_id, p_hash) WITH ORDINALITY AS n (box, id, hash, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN LATERAL (SELECT * FROM session s WHERE s.bucket = p_bucket AND s.box = n.box AND s.id = n.id
                          AND s.token_hash IS NOT DISTINCT FROM n.hash OFFSET 0) s ON true;
END
$$;

-- The same for sessions of any buckets, which costs several times as much: for tokens of many buckets, forged ones as a
-- rule, so that they cannot make a statement each. The plan is kept, and told to probe keys: to make it costs much more
-- than to carry it out (measured: 40 ms with 185 partitions).
CREATE FUNCTION boxgate.check_sessions_in(p_bucket integer[], p_box text[], p_id uuid[], p_hash bytea[])
RETURNS TABLE (nth bigint, config_version bigint, version bigint, expires bigint, type "char", client text,
               user_id bigint, scope text, audience text[], family uuid, ended boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, b.config_version, s.version, extract(epoch FROM s.expires_at)::bigint, s.type, s.client, s.user_id,
         s.scope, s.audience, s.family,
         s.ended_at IS NOT NULL OR (s.family IS NOT NULL AND
           (SELECT f.ended_at IS NULL FROM refresh_family f WHERE f.box = s.box AND f.id = s.family) IS NOT TRUE)
    FROM unnest(p_bucket, p_box, p_id, p_hash) WITH ORDINALITY AS n (bucket, box, id, hash, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN LATERAL (SELECT * FROM session s WHERE s.bucket = n.bucket AND s.box = n.box AND s.id = n.id
                          AND s.token_hash IS NOT DISTINCT FROM n.hash OFFSET 0) s ON true;
END
$$;

-- The third hot statement: which refresh families there are and live on, by the hash that all their tokens share, and the
-- version of the box of each: what no family's secret fits costs no transaction.
CREATE FUNCTION boxgate.find_families(p_box text[], p_id uuid[], p_hash bytea[])
RETURNS TABLE (nth bigint, config_version bigint, found boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT n.nth, b.config_version, f.id IS NOT NULL
    FROM unnest(p_box, p_id, p_hash) WITH ORDINALITY AS n (box, id, hash, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN refresh_family f ON f.box = n.box AND f.id = n.id AND f.family_hash = n.hash AND f.ended_at IS NULL
$$;

-- A bucket's name, and the first moment after it. Refuses what is no bucket.
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

-- Refuses a bucket that nobody needs: over a day ago (two clocks differ near midnight), or more than eleven years away.
CREATE FUNCTION boxgate.require_bucket(p_bucket integer) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = boxgate, pg_temp
AS $$
BEGIN
  IF bucket_end(p_bucket) <= now() - interval '24 hours' OR bucket_end(p_bucket) > now() + interval '11 years' THEN
    RAISE EXCEPTION 'bucket % is over or too far away', p_bucket USING ERRCODE = 'invalid_parameter_value';
  END IF;
END
$$;

-- Makes the partition of a bucket, if it is not there: the API has no right to. Created first, then attached:
-- PARTITION OF would lock the whole table.
CREATE FUNCTION boxgate.make_bucket(p_bucket integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp SET lock_timeout = '2s'
AS $$
DECLARE
  name text := 'session_' || p_bucket;
BEGIN
  PERFORM require_bucket(p_bucket);
  PERFORM pg_advisory_xact_lock(hashtext('boxgate.bucket'));
  IF to_regclass('boxgate.' || name) IS NOT NULL THEN
    RETURN false;
  END IF;
  EXECUTE format('CREATE TABLE boxgate.%I (LIKE boxgate.session INCLUDING ALL)', name);
  EXECUTE format('ALTER TABLE boxgate.session ATTACH PARTITION boxgate.%I FOR VALUES FROM (%s) TO (%s)',
                 name, p_bucket, p_bucket + 1);
  RETURN true;
END
$$;

-- Makes the partitions of a table that has none yet, all in one: twice as fast as one by one. PARTITION OF locks the whole
-- table, in which nobody can have a row before. False, and nothing made, when there are some.
CREATE FUNCTION boxgate.make_first_buckets(p_buckets integer[]) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp SET lock_timeout = '30s'
AS $$
DECLARE
  bucket integer;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('boxgate.bucket'));
  IF EXISTS (SELECT FROM pg_inherits WHERE inhparent = 'boxgate.session'::regclass) THEN
    RETURN false;
  END IF;
  PERFORM require_bucket(b) FROM unnest(p_buckets) b;
  FOREACH bucket IN ARRAY p_buckets LOOP
    EXECUTE format('CREATE TABLE boxgate.%I PARTITION OF boxgate.session FOR VALUES FROM (%s) TO (%s)',
                   'session_' || bucket, bucket, bucket + 1);
  END LOOP;
  RETURN true;
END
$$;

-- Drops the partition of a bucket that was over a day ago: then nothing in it can be asked for. False when it is not
-- there, or when a long statement holds the table: whoever waits for such a lock makes everybody else wait behind it, so
-- the wait is short.
CREATE FUNCTION boxgate.drop_bucket(p_bucket integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp SET lock_timeout = '200ms'
AS $$
BEGIN
  IF bucket_end(p_bucket) > now() - interval '24 hours' THEN
    RAISE EXCEPTION 'bucket % is not over', p_bucket USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('boxgate.bucket'));
  IF to_regclass('boxgate.session_' || p_bucket) IS NULL THEN
    RETURN false;
  END IF;
  EXECUTE format('DROP TABLE boxgate.%I', 'session_' || p_bucket);
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END
$$;

-- The buckets that are there, and whether drop_bucket would drop them.
CREATE FUNCTION boxgate.buckets() RETURNS TABLE (bucket integer, over boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT b.bucket, bucket_end(b.bucket) <= now() - interval '24 hours'
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         CROSS JOIN LATERAL (SELECT substr(c.relname, 9)::integer) AS b (bucket)
   WHERE i.inhparent = 'boxgate.session'::regclass
   ORDER BY b.bucket
$$;
