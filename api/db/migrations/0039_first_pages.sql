-- First pages of lists without a filter, many of them in one statement, as records are read since migration 0037: each item
-- names its box. What is large is left to a transaction of its own, and shows it by `is_large`: a row whose content is
-- compressed or out of line (TOAST, from 2 KB on), a page of more than 32 KB, and one whose memberships are many. The rows
-- of a page are one more than its limit if there are more. Each has the total, which the counts of migration 0017 know.

-- Clients and policies, by ID.
CREATE FUNCTION boxgate.first_resources(p_box text[], p_kind text[], p_limit integer[])
RETURNS TABLE (nth bigint, is_large boolean, total bigint, kind text, id text, version bigint, body text,
               has_secret boolean, owner_cluster text, owner_name text, owner_uid text, created_at text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, r.is_large, CASE n.kind WHEN 'Client' THEN u.clients ELSE u.policies END, r.kind, r.id, r.version,
         CASE WHEN NOT r.is_large THEN r.body::text END, cardinality(r.secrets) > 0, r.owner_cluster, r.owner_name,
         r.owner_uid, r.created_at::text
    FROM unnest(p_box, p_kind, p_limit) WITH ORDINALITY AS n (box, kind, rows, nth)
    JOIN box_use u ON u.box = n.box
   CROSS JOIN LATERAL (
         SELECT f.*, row_number() OVER () AS place,
                sum(pg_column_size(f.body)) OVER () > 32768
                  OR bool_or(pg_column_compression(f.body) IS NOT NULL OR pg_column_size(f.body) > 2000) OVER () AS is_large
           FROM (SELECT s.* FROM resource s WHERE s.box = n.box AND s.kind = n.kind ORDER BY s.id LIMIT n.rows + 1) f
         ) r
   WHERE r.place = 1 OR NOT r.is_large
   ORDER BY n.nth, r.place;
END
$$;

-- Users with their groups, by ID: together a page has at most 500 memberships.
CREATE FUNCTION boxgate.first_users(p_box text[], p_limit integer[])
RETURNS TABLE (nth bigint, is_large boolean, total bigint, id bigint, email text, email_verified boolean, password text,
               pepper text, data text, status text, groups jsonb, created_at timestamptz, updated_at timestamptz,
               email_key text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, r.is_large, u.users, r.id, r.email, r.email_verified, r.password, r.pepper,
         CASE WHEN NOT r.is_large THEN r.data END, r.status,
         CASE WHEN NOT r.is_large AND r.memberships > 0 THEN groups_of(n.box, r.id) END,
         r.created_at, r.updated_at, r.email_key
    FROM unnest(p_box, p_limit) WITH ORDINALITY AS n (box, rows, nth)
    JOIN box_use u ON u.box = n.box
   CROSS JOIN LATERAL (
         SELECT f.*, row_number() OVER () AS place,
                coalesce(sum(pg_column_size(f.data)) OVER () > 32768, false)
                  OR bool_or(coalesce(pg_column_compression(f.data) IS NOT NULL OR pg_column_size(f.data) > 2000,
                                      false)) OVER ()
                  OR bool_or(f.memberships > 500 / n.rows) OVER () AS is_large
           FROM (SELECT s.*, (SELECT count(*) FROM (SELECT FROM group_member m WHERE m.box = s.box AND m.user_id = s.id
                                                     LIMIT 500 / n.rows + 1) AS found) AS memberships
                   FROM "user" s WHERE s.box = n.box ORDER BY s.id LIMIT n.rows + 1) f
         ) r
   WHERE r.place = 1 OR NOT r.is_large
   ORDER BY n.nth, r.place;
END
$$;

-- Groups with the number of their members, by ID: together those of a page have at most 2,000.
CREATE FUNCTION boxgate.first_groups(p_box text[], p_limit integer[])
RETURNS TABLE (nth bigint, is_large boolean, total bigint, id bigint, name text, description text, version bigint,
               created_at text, owner_cluster text, owner_name text, owner_uid text, members bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, r.is_large, u.groups, r.id, r.name, CASE WHEN NOT r.is_large THEN r.description END, r.version,
         r.created_at::text, r.owner_cluster, r.owner_name, r.owner_uid, r.members
    FROM unnest(p_box, p_limit) WITH ORDINALITY AS n (box, rows, nth)
    JOIN box_use u ON u.box = n.box
   CROSS JOIN LATERAL (
         SELECT f.*, row_number() OVER () AS place,
                coalesce(sum(pg_column_size(f.description)) OVER () > 32768, false)
                  OR bool_or(pg_column_compression(f.description) IS NOT NULL) OVER ()
                  OR bool_or(f.members > 2000 / n.rows) OVER () AS is_large
           FROM (SELECT s.*, (SELECT count(*) FROM (SELECT FROM group_member m WHERE m.box = s.box AND m.group_id = s.id
                                                     LIMIT 2000 / n.rows + 1) AS found) AS members
                   FROM "group" s WHERE s.box = n.box ORDER BY s.id LIMIT n.rows + 1) f
         ) r
   WHERE r.place = 1 OR NOT r.is_large
   ORDER BY n.nth, r.place;
END
$$;

-- Groups by ID; `members` is null if it is more than 2,000.
CREATE FUNCTION boxgate.read_groups(p_box text[], p_id bigint[])
RETURNS TABLE (nth bigint, id bigint, name text, description text, version bigint, created_at text, owner_cluster text,
               owner_name text, owner_uid text, members bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET datestyle = 'ISO'
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, g.id, g.name, g.description, g.version, g.created_at::text, g.owner_cluster, g.owner_name, g.owner_uid,
         nullif(g.members, 2001)
    FROM unnest(p_box, p_id) WITH ORDINALITY AS n (box, id, nth)
    JOIN LATERAL (SELECT s.*, (SELECT count(*) FROM (SELECT FROM group_member m WHERE m.box = s.box AND m.group_id = s.id
                                                       LIMIT 2001) AS found) AS members
                    FROM "group" s WHERE s.box = n.box AND s.id = n.id OFFSET 0) g ON true;
END
$$;

-- How a session ended before its time, with its plan kept: the statement of api/db/session/session-status.ts.
CREATE FUNCTION boxgate.ending_of(
  p_box text, p_id uuid, p_client text, p_user bigint, p_version bigint, p_family uuid, p_ended_at timestamptz,
  p_ended_as text, p_expires_at timestamptz, OUT at timestamptz, OUT how text)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  SELECT e.at, e.how INTO at, how
    FROM (SELECT p_ended_at, p_ended_as WHERE p_ended_at IS NOT NULL
          UNION ALL
          SELECT f.ended_at, f.ended_as FROM boxgate.refresh_family f
           WHERE f.box = p_box AND f.id = p_family AND f.ended_at IS NOT NULL
          UNION ALL
          SELECT r.at, 'revoked' FROM boxgate.revocation r
           WHERE r.box = p_box AND r.subject IN ('box', 'client:' || p_client, 'user:' || p_user)
             AND r.version > p_version
          UNION ALL
          SELECT r.at, 'revoked' FROM boxgate.revocation r
           WHERE r.box = p_box AND r.subject IN ('box:before', 'client:' || p_client || ':before')
             AND r.version > ('x' || substr(translate(p_id::text, '-', ''), 1, 12))::bit(48)::bigint
         ) AS e (at, how)
   WHERE e.at < p_expires_at
   ORDER BY e.at
   LIMIT 1;
END
$$;

-- Sessions that are in one of three buckets, as before; in one statement for each bucket, where a plan for each session
-- took most of the time (measured for 1, 16 and 64 sessions of one day: 0.3, 0.9 and 2.1 ms instead of 0.4, 2.1 and 7.4).
-- A few sessions are read one by one.
CREATE OR REPLACE FUNCTION boxgate.read_sessions(p_box text[], p_id uuid[], p_first integer[], p_second integer[], p_third integer[])
RETURNS TABLE (nth bigint, id uuid, bucket integer, type "char", client text, user_id bigint, scope text, audience text[],
               expires_at timestamptz, family uuid, parent uuid, remote_addr text, user_agent text, ended_at timestamptz,
               ended_as text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  part record;
  here record;
  found_nth bigint[] := '{}';
  found boxgate.session[] := '{}';
BEGIN
  IF cardinality(p_id) < 6 THEN
    RETURN QUERY
    SELECT n.nth, s.id, s.bucket, s.type, s.client, s.user_id, s.scope, s.audience, s.expires_at, s.family, s.parent,
           s.remote_addr, s.user_agent, s.ended_at, s.ended_as
      FROM unnest(p_box, p_id, p_first, p_second, p_third) WITH ORDINALITY AS n (box, id, b1, b2, b3, nth)
      JOIN box b ON b.box = n.box
     CROSS JOIN LATERAL read_session(n.box, n.id, ARRAY[n.b1, n.b2, n.b3]) s
     WHERE s.version >= b.records_from;
    RETURN;
  END IF;
  FOR attempt IN 1..3 LOOP
    FOR part IN
      SELECT n.bucket, array_agg(n.box) AS boxes, array_agg(n.id) AS ids, array_agg(n.nth) AS nths
        FROM unnest(p_box, p_id, CASE attempt WHEN 1 THEN p_first WHEN 2 THEN p_second ELSE p_third END)
             WITH ORDINALITY AS n (box, id, bucket, nth)
       WHERE n.nth <> ALL (found_nth) GROUP BY n.bucket
    LOOP
      EXECUTE format(
        'SELECT array_agg(n.nth) AS nths, array_agg(f.s) AS sessions
           FROM unnest($1, $2, $3) AS n (box, id, nth)
           JOIN LATERAL (SELECT s FROM boxgate.session s WHERE s.bucket = %s AND s.box = n.box AND s.id = n.id
                         OFFSET 0) f ON true',
        part.bucket) INTO here USING part.boxes, part.ids, part.nths;
      found_nth := found_nth || here.nths;
      found := found || here.sessions;
    END LOOP;
  END LOOP;
  RETURN QUERY
  SELECT f.nth, f.id, f.bucket, f.type, f.client, f.user_id, f.scope, f.audience, f.expires_at, f.family, f.parent,
         host(f.remote_addr), f.user_agent, e.at, e.how
    FROM ROWS FROM (unnest(found_nth), unnest(found))
         AS f (nth, id, version, expires_at, bucket, type, box, client, token_hash, remote_addr, user_id, ended_at, family,
               parent, ended_as, scope, audience, user_agent)
    JOIN box b ON b.box = f.box AND f.version >= b.records_from
    LEFT JOIN LATERAL ending_of(f.box, f.id, f.client, f.user_id, f.version, f.family, f.ended_at, f.ended_as,
                                f.expires_at) e
      ON f.ended_at IS NOT NULL OR f.family IS NOT NULL OR EXISTS (SELECT FROM revocation r WHERE r.box = f.box);
END
$$;

-- Grants that users have given to stored clients, with what they allow (api/db/user/grant.ts). A grant to a built-in client,
-- one that is large, and one with more than 50 targets is left to a transaction.
CREATE FUNCTION boxgate.read_grants(p_box text[], p_user bigint[], p_client text[])
RETURNS TABLE (nth bigint, user_id bigint, client text, scopes text[], created_at text, targets jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET datestyle = 'ISO'
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, c.user_id, c.client, c.scopes, c.created_at::text,
         coalesce((SELECT jsonb_agg(jsonb_build_object('redirect_uri', t.redirect_uri, 'audience', t.audience,
                                                       'scopes', t.scopes) ORDER BY t.created_at, t.target)
                     FROM consent_target t
                    WHERE t.box = n.box AND t.user_id = n.user_id AND t.client = n.client AND t.version >= r.sessions_from),
                  '[]')
    FROM unnest(p_box, p_user, p_client) WITH ORDINALITY AS n (box, user_id, client, nth)
    JOIN LATERAL (SELECT s.* FROM consent s WHERE s.box = n.box AND s.user_id = n.user_id AND s.client = n.client
                  OFFSET 0) c ON pg_column_compression(c.scopes) IS NULL AND pg_column_size(c.scopes) <= 2000
    JOIN LATERAL (SELECT s.sessions_from FROM resource s WHERE s.box = n.box AND s.kind = 'Client' AND s.id = n.client
                  OFFSET 0) r ON c.version >= r.sessions_from
   WHERE (SELECT count(*) FROM (SELECT FROM consent_target t
                                 WHERE t.box = n.box AND t.user_id = n.user_id AND t.client = n.client
                                 LIMIT 51) AS found) <= 50;
END
$$;

-- Records of the audit trail on the day that their time and the retention of their box give; one on another day, as
-- after a change of the retention, and a large one are left to a transaction.
CREATE FUNCTION boxgate.read_audit_events(p_box text[], p_id uuid[])
RETURNS TABLE (nth bigint, id uuid, event text, result text, client text, user_id bigint, remote_addr text, operator text,
               session uuid, request_id text, target text, member bigint, changed text[], count integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  part record;
BEGIN
  FOR part IN
    SELECT d.day, array_agg(n.box) AS boxes, array_agg(n.id) AS ids, array_agg(n.nth) AS nths
      FROM unnest(p_box, p_id) WITH ORDINALITY AS n (box, id, nth)
     CROSS JOIN LATERAL (SELECT (('x' || substr(translate(n.id::text, '-', ''), 1, 12))::bit(48)::bigint / 86400000)::integer
                                + audit_retention(n.box) AS day OFFSET 0) d
     GROUP BY d.day
  LOOP
    RETURN QUERY EXECUTE format(
      'SELECT n.nth, e.id, e.event, e.result, e.client, e.user_id, e.remote_addr, e.operator, e.session, e.request_id,
              e.target, e.member, e.changed, e.count
         FROM unnest($1, $2, $3) AS n (box, id, nth)
         JOIN boxgate.box b ON b.box = n.box
         JOIN LATERAL (SELECT * FROM boxgate.audit_event s WHERE s.day = %s AND s.box = n.box AND s.id = n.id OFFSET 0) e
           ON e.version >= b.records_from AND pg_column_compression(e.changed) IS NULL
              AND coalesce(pg_column_size(e.changed), 0) <= 2000',
      part.day) USING part.boxes, part.ids, part.nths;
  END LOOP;
END
$$;
