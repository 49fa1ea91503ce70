-- Changes of clients, policies and settings keep their plans: to plan the statement that stores one took three times as long as to
-- run it, while every other change of the box waited. As the statements before them, these functions run with the caller's rights,
-- in a transaction of one box (row-level security). Plans that were made while the tables were empty must not read all of them later:
-- LATERAL with OFFSET 0, or the settings of the planner, leave it the probe of a primary key for each resource.

-- Raises the config version of a box, and locks its row until the transaction ends. It is the time in microseconds, or one more
-- than before if the clock is behind. Row locks have no queue, so the lock before it is one.
CREATE FUNCTION boxgate.bump_version(p_box text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  bumped bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('boxgate.box ' || p_box, 0));
  UPDATE box b SET config_version = greatest(b.config_version + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
   WHERE b.box = p_box RETURNING b.config_version INTO bumped;
  IF bumped IS NOT NULL THEN
    INSERT INTO box_version (box, version) VALUES (p_box, bumped);
  END IF;
  RETURN bumped;
END
$$;

-- Locks a box against every other change of its configuration, and then reads one resource (`kind` is null if there is none) and
-- the counts of the box. No row: there is no such box.
CREATE FUNCTION boxgate.begin_change(p_box text, p_kind text, p_id text)
RETURNS TABLE (kind text, id text, version bigint, body jsonb, has_secret boolean, owner_cluster text, owner_name text,
               owner_uid text, created_at text, clients bigint, policies bigint, users bigint, groups bigint, bytes bigint,
               quota jsonb)
LANGUAGE plpgsql VOLATILE SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('boxgate.box ' || p_box, 0));
  PERFORM FROM box b WHERE b.box = p_box FOR NO KEY UPDATE;
  -- A statement of its own, after the lock: it reads what the change before this one has committed.
  RETURN QUERY
  SELECT r.kind, r.id, r.version, r.body, cardinality(r.secrets) > 0, r.owner_cluster, r.owner_name, r.owner_uid,
         r.created_at::text, u.clients, u.policies, u.users, u.groups, u.bytes, b.quota
    FROM box b JOIN box_use u ON u.box = b.box
    LEFT JOIN LATERAL (SELECT s.* FROM resource s
                        WHERE s.box = b.box AND s.kind = p_kind AND s.id = p_id OFFSET 0) r ON true
   WHERE b.box = p_box;
END
$$;

-- Stores resources under the box's new config version. Sessions decided earlier are revoked when a client is new, becomes inactive,
-- gets another owner (not when it loses its owner) or was changed outside the service, and when a Box becomes inactive. The highest
-- `revoke_sessions_before` ever stored stays in force. `body` is null unless `p_shows`: a call may contain megabytes.
-- The box's row is locked, so `old` contains the replaced rows. A first creation writes no revocation: no session of a client that
-- never existed can exist.
-- Sessions and secrets of another owner of the row do not belong to the declarer (`is_anothers`). A chosen secret is not kept as the
-- previous one: a generated one is meant to replace it. 9999-12-31: it was never shown.
CREATE FUNCTION boxgate.store_resources(p_box text, p_version bigint, p_resources jsonb, p_shows boolean)
RETURNS TABLE (kind text, id text, version bigint, body jsonb, has_secret boolean, owner_cluster text, owner_name text,
               owner_uid text, created_at text)
LANGUAGE plpgsql VOLATILE SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH wanted AS MATERIALIZED (
    SELECT w.*, to_timestamp(w.revoked_before / 1000.0) AS revoked_at
      FROM jsonb_to_recordset(p_resources) AS w (kind text, id text, body jsonb, secrets jsonb, owner_cluster text,
           owner_name text, owner_uid text, digest text, retain boolean, purge boolean, revoked_before numeric,
           previous_kept boolean, previous_secret text, previous_until numeric)
  ), compared AS MATERIALIZED (
    SELECT w.*, o.id IS NOT NULL AS existed, o.revoked_before AS old_revoked_at, o.sessions_from, o.secrets AS old_secrets,
           o.previous_secret AS old_previous, o.previous_until AS old_until, o.body -> 'active' AS old_active,
           o.id IS NULL
           OR CASE WHEN o.writer = o.written_in THEN false ELSE row_state(o.whole) = 'changed' END
           OR (w.owner_cluster IS NOT NULL AND (o.owner_cluster, o.owner_name, coalesce(o.owner_uid, w.owner_uid))
               IS DISTINCT FROM (w.owner_cluster, w.owner_name, w.owner_uid)) AS is_anothers
      FROM wanted w
      LEFT JOIN LATERAL (SELECT s.*, s.xmin AS writer, s AS whole FROM resource s
                          WHERE s.box = p_box AND s.kind = w.kind AND s.id = w.id OFFSET 0) o ON true
  ), risen AS (
    DELETE FROM tombstone t USING wanted w WHERE t.box = p_box AND t.kind = w.kind AND t.id = w.id
    RETURNING t.kind, t.id
  ), final AS MATERIALIZED (
    SELECT c.*,
           CASE
             WHEN c.previous_kept AND (c.owner_cluster IS NULL OR NOT c.is_anothers) THEN c.old_previous
             WHEN c.previous_secret IS NOT NULL OR c.previous_until IS NULL THEN c.previous_secret
             WHEN c.is_anothers THEN NULL
             WHEN c.secrets -> 0 = to_jsonb(c.old_secrets[1]) OR c.old_until = '9999-12-31T00:00:00.000Z' THEN c.old_previous
             WHEN c.old_secrets[1] LIKE '$sha256$%' THEN c.old_secrets[1]
           END AS previous,
           CASE WHEN c.previous_kept THEN c.old_until ELSE to_timestamp(c.previous_until / 1000.0) END AS until,
           c.is_anothers OR (c.old_active IS DISTINCT FROM 'false' AND c.body -> 'active' = 'false') AS ends
      FROM compared c
  ), revoked AS (
    INSERT INTO revocation (box, subject, version)
    SELECT p_box, 'client:' || f.id, p_version
      FROM final f
     WHERE f.kind = 'Client' AND f.ends
       AND (f.existed OR (f.kind, f.id) IN (SELECT r.kind, r.id FROM risen r))
    UNION ALL
    SELECT p_box, 'client:' || f.id || ':before', f.revoked_before::bigint
      FROM final f WHERE f.kind = 'Client' AND f.existed AND f.revoked_at > coalesce(f.old_revoked_at, '-infinity')
    UNION ALL
    SELECT p_box, 'box', p_version FROM final f WHERE f.kind = 'Box' AND f.ends AND f.body -> 'active' = 'false'
    UNION ALL
    SELECT p_box, 'box:before', f.revoked_before::bigint
      FROM final f JOIN box b ON b.box = p_box
     WHERE f.kind = 'Box' AND f.revoked_at > coalesce(b.revoked_before, '-infinity')
    ON CONFLICT DO NOTHING
  ), unused AS (
    UPDATE client_usage u SET previous_used_at = NULL FROM final f
     WHERE f.kind = 'Client' AND f.old_previous IS NOT NULL AND f.previous IS DISTINCT FROM f.old_previous
       AND u.box = p_box AND u.client = f.id AND u.previous_used_at IS NOT NULL
  ), stored AS (
    INSERT INTO resource AS r (box, kind, id, version, sessions_from, revoked_before, body, secrets, previous_secret,
                               previous_until, owner_cluster, owner_name, owner_uid, digest, retain, purge, content)
    SELECT p_box, f.kind, f.id, p_version,
           CASE WHEN f.ends AND f.kind = 'Client' THEN p_version ELSE coalesce(f.sessions_from, 0) END,
           greatest(f.old_revoked_at, f.revoked_at), f.body,
           CASE WHEN f.secrets IS NULL THEN coalesce(f.old_secrets, '{}')
                ELSE ARRAY(SELECT jsonb_array_elements_text(f.secrets)) END,
           f.previous, CASE WHEN f.previous IS NOT NULL THEN f.until END, f.owner_cluster, f.owner_name, f.owner_uid,
           f.digest, f.retain, f.purge, ''
      FROM final f
    ON CONFLICT (box, kind, id) DO UPDATE
       SET version = excluded.version, sessions_from = excluded.sessions_from, revoked_before = excluded.revoked_before,
           body = excluded.body, secrets = excluded.secrets, previous_secret = excluded.previous_secret,
           previous_until = excluded.previous_until, owner_cluster = excluded.owner_cluster,
           owner_name = excluded.owner_name, owner_uid = excluded.owner_uid, digest = excluded.digest,
           retain = excluded.retain, purge = excluded.purge, content = '', updated_at = now()
    RETURNING r.kind, r.id, r.version, CASE WHEN p_shows THEN r.body END AS body, cardinality(r.secrets) > 0 AS has_secret,
              r.owner_cluster, r.owner_name, r.owner_uid, r.created_at::text AS created_at
  )
  SELECT s.* FROM stored s;
END
$$;

-- Stores one resource under a new config version of its box, and returns it with the counts of the box as they are afterwards.
CREATE FUNCTION boxgate.change_resource(p_box text, p_resources jsonb)
RETURNS TABLE (kind text, id text, version bigint, body jsonb, has_secret boolean, owner_cluster text, owner_name text,
               owner_uid text, created_at text, clients bigint, policies bigint, users bigint, groups bigint, bytes bigint,
               quota jsonb)
LANGUAGE plpgsql VOLATILE SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  s record;
BEGIN
  SELECT * INTO STRICT s FROM store_resources(p_box, bump_version(p_box), p_resources, true);
  -- A statement of its own, after the triggers that count.
  RETURN QUERY
  SELECT s.kind, s.id, s.version, s.body, s.has_secret, s.owner_cluster, s.owner_name, s.owner_uid, s.created_at,
         u.clients, u.policies, u.users, u.groups, u.bytes, b.quota
    FROM box_use u JOIN box b ON b.box = u.box WHERE u.box = p_box;
END
$$;

-- Deletes resources under the box's new config version, and returns those that existed. Leaves a tombstone of each, and revokes all
-- sessions of the deleted clients, which are no longer counted.
CREATE FUNCTION boxgate.delete_resources(p_box text, p_version bigint, p_kind text[], p_id text[])
RETURNS TABLE (kind text, id text, version bigint, body jsonb, has_secret boolean, owner_cluster text, owner_name text,
               owner_uid text, created_at text)
LANGUAGE plpgsql VOLATILE SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH gone AS (
    DELETE FROM resource r USING unnest(p_kind, p_id) AS k (kind, id)
     WHERE r.box = p_box AND r.kind = k.kind AND r.id = k.id
    RETURNING r.kind, r.id, r.version, r.body, cardinality(r.secrets) > 0 AS has_secret, r.owner_cluster, r.owner_name,
              r.owner_uid, r.created_at::text AS created_at
  ), buried AS (
    INSERT INTO tombstone AS t (box, kind, id, version) SELECT p_box, g.kind, g.id, p_version FROM gone g
    ON CONFLICT (box, kind, id) DO UPDATE SET version = excluded.version
  ), revoked AS (
    INSERT INTO revocation (box, subject, version) SELECT p_box, 'client:' || g.id, p_version FROM gone g
     WHERE g.kind = 'Client'
    ON CONFLICT DO NOTHING
  ), uncounted AS (
    DELETE FROM session_room s USING gone g WHERE s.box = p_box AND g.kind = 'Client' AND s.client = g.id
  ), unused AS (
    DELETE FROM client_usage u USING gone g WHERE u.box = p_box AND g.kind = 'Client' AND u.client = g.id
  ), unrecorded AS (
    DELETE FROM recorded_request q USING gone g WHERE q.box = p_box AND g.kind = 'Client' AND q.client = g.id
  ), idle AS (
    DELETE FROM policy_use u USING gone g WHERE u.box = p_box AND g.kind = 'AccessPolicy' AND u.policy = g.id
  )
  SELECT g.* FROM gone g;
END
$$;

-- Stores records of the audit trail of one box, in the transaction of the change that they tell about. The day until which they are
-- kept is found once: in the statement it was found again for each record, which took as long as to store it.
CREATE FUNCTION boxgate.store_audit_events(p_box text, p_events jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  day_of_box integer := audit_day(p_box);
BEGIN
  INSERT INTO audit_event (id, version, created_at, day, count, box, event, result, client, user_id, remote_addr, operator,
                           session, request_id, target, member, changed)
  SELECT e.id, b.config_version, e.created_at, day_of_box, e.count, b.box, e.event, e.result, e.client, e.user_id, e.remote_addr,
         e.operator, e.session, e.request_id, e.target, e.member, e.changed
    FROM box b,
         jsonb_to_recordset(p_events) AS e (id uuid, created_at timestamptz, count integer, event text, result text, client text,
           user_id bigint, remote_addr text, operator text, session uuid, request_id text, target text, member bigint,
           changed text[])
   WHERE b.box = p_box;
END
$$;
