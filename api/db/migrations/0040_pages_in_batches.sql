-- Pages of whole lists, many of them in one statement, as first pages since migration 0039: sessions and records of the audit
-- trail newest first, and grants by user and client. A page begins after the row that its cursor names, so page 1,000 costs as much
-- as the first. No row has the totals of these lists: each page counts up to `p_most` rows of its box. For sessions and records it
-- may be 0: the API knows already that there are more than it tells, as long as `state` stays the same (api/db/core/list-lengths.ts).
-- It names what rows can disappear with: the partitions that hold any, and the version from which the box has its records.

-- The partitions of a table that hold rows, by the number at the end of their names, in ascending order.
CREATE FUNCTION boxgate.filled_partitions(p_parent regclass) RETURNS integer[]
LANGUAGE plpgsql STABLE SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  -- MATERIALIZED: otherwise the size of every table of the database was looked up (13 ms instead of 0.7).
  RETURN (WITH part AS MATERIALIZED (SELECT i.inhrelid AS oid FROM pg_inherits i WHERE i.inhparent = p_parent)
          SELECT coalesce(array_agg(n.number ORDER BY n.number), '{}')
            FROM part p JOIN pg_class c ON c.oid = p.oid
           CROSS JOIN LATERAL (SELECT substring(c.relname FROM '[0-9]+$')::integer) AS n (number)
           WHERE pg_relation_size(p.oid) > 0);
END
$$;

-- The oldest row that each page can still have: only newer ones of further partitions belong to it. A page that is not full
-- yet has the lowest UUID.
CREATE FUNCTION boxgate.oldest_of_pages(p_nth bigint[], p_id uuid[], p_limit integer[]) RETURNS uuid[]
LANGUAGE plpgsql IMMUTABLE SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN (SELECT array_agg(coalesce(f.id, '00000000-0000-0000-0000-000000000000') ORDER BY n.nth)
            FROM unnest(p_limit) WITH ORDINALITY AS n (rows, nth)
            LEFT JOIN (SELECT u.nth, u.id, row_number() OVER (PARTITION BY u.nth ORDER BY u.id DESC) AS place
                         FROM unnest(p_nth, p_id) AS u (nth, id)) AS f ON f.nth = n.nth AND f.place = n.rows + 1);
END
$$;

-- Sessions. A statement that names the partition is planned in half the time of one that names the table. A session that ended
-- before its time has `ended_as`, as in read_sessions. Times in milliseconds.
CREATE FUNCTION boxgate.sessions_before(p_box text[], p_before uuid[], p_limit integer[], p_most integer[])
RETURNS TABLE (nth bigint, is_large boolean, total bigint, state text, id uuid, bucket integer, type "char", client text,
               user_id bigint, scope text, audience text[], expires_at bigint, family uuid, parent uuid, remote_addr text,
               user_agent text, ended_at bigint, ended_as text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  filled integer[] := filled_partitions('session');
  counts bigint[] := array_fill(0, ARRAY[cardinality(p_box)]);
  oldest uuid[] := array_fill('00000000-0000-0000-0000-000000000000'::uuid, ARRAY[cardinality(p_box)]);
  found_nth bigint[] := '{}';
  found_id uuid[] := '{}';
  found boxgate.session[] := '{}';
  boxes text[];
  here record;
BEGIN
  -- A box whose records are being deleted is left to a transaction: it may have many to pass over.
  SELECT array_agg(CASE WHEN NOT b.discarding THEN n.box END ORDER BY n.nth) INTO boxes
    FROM unnest(p_box) WITH ORDINALITY AS n (box, nth) LEFT JOIN box b ON b.box = n.box;
  FOR place IN REVERSE cardinality(filled)..1 LOOP
    EXECUTE format(
      'SELECT array_agg(n.nth) AS nths, array_agg(f.id) AS ids, array_agg(f.s) AS rows
         FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS n (box, before, rows, oldest, nth)
        CROSS JOIN LATERAL (SELECT s.id, s::boxgate.session AS s FROM boxgate.%I s
                             WHERE s.box = n.box AND s.id < n.before AND s.id > n.oldest
                             ORDER BY s.id DESC LIMIT n.rows + 1) f',
      'session_' || filled[place]) INTO here USING boxes, p_before, p_limit, oldest;
    IF here.nths IS NOT NULL THEN
      found_nth := found_nth || here.nths;
      found_id := found_id || here.ids;
      found := found || here.rows;
      oldest := oldest_of_pages(found_nth, found_id, p_limit);
    END IF;
    IF (SELECT bool_or(c.most > 0 AND c.count <= c.most) FROM unnest(p_most, counts) AS c (most, count)) THEN
      EXECUTE format(
        'SELECT array_agg(n.count + c.count ORDER BY n.nth)
           FROM unnest($1, $2, $3) WITH ORDINALITY AS n (box, most, count, nth)
          CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT FROM boxgate.%I s WHERE s.box = n.box
                                                     LIMIT CASE WHEN n.most > 0 THEN n.most + 1 - n.count ELSE 0 END) AS l) c',
        'session_' || filled[place]) INTO counts USING boxes, p_most, counts;
    END IF;
  END LOOP;
  RETURN QUERY
  SELECT r.nth, r.is_large, counts[r.nth], CASE WHEN r.place = 1 THEN b.records_from || ':' || filled::text END,
         r.id, r.bucket, r.type, r.client, r.user_id, r.scope, r.audience, floor(extract(epoch FROM r.expires_at) * 1000)::bigint,
         r.family, r.parent, host(r.remote_addr), r.user_agent, floor(extract(epoch FROM e.at) * 1000)::bigint, e.how
    FROM (SELECT p.*,
                 sum(coalesce(pg_column_size(p.scope), 0) + coalesce(pg_column_size(p.audience), 0)
                     + coalesce(pg_column_size(p.user_agent), 0)) OVER page > 16384
                   OR bool_or(coalesce(pg_column_compression(p.scope), pg_column_compression(p.audience),
                                       pg_column_compression(p.user_agent)) IS NOT NULL) OVER page AS is_large
            FROM (SELECT f.*, row_number() OVER (PARTITION BY f.nth ORDER BY f.id DESC) AS place
                    FROM ROWS FROM (unnest(found_nth), unnest(found)) AS f (nth)) AS p
           WHERE p.place <= p_limit[p.nth] + 1
          WINDOW page AS (PARTITION BY p.nth)) AS r
    JOIN box b ON b.box = r.box
    -- Conditions of the row alone are tested first: as those of a join, every session was looked up.
   CROSS JOIN LATERAL (
         SELECT r.family IS NOT NULL
                  OR EXISTS (SELECT FROM revocation v WHERE v.box = r.box AND v.version > r.version
                                AND v.subject IN ('box', 'client:' || r.client, 'user:' || r.user_id))
                  OR EXISTS (SELECT FROM revocation v WHERE v.box = r.box
                                AND v.subject IN ('box:before', 'client:' || r.client || ':before'))
         OFFSET 0) AS m (may_have_ended)
    LEFT JOIN LATERAL (
         SELECT r.ended_at, r.ended_as WHERE NOT m.may_have_ended AND r.ended_at < r.expires_at
         UNION ALL
         SELECT f.at, f.how
           FROM ending_of(r.box, r.id, r.client, r.user_id, r.version, r.family, r.ended_at, r.ended_as, r.expires_at) f
          WHERE m.may_have_ended) AS e (at, how) ON true
   WHERE r.place = 1 OR NOT r.is_large
   ORDER BY r.nth, r.place;
  is_large := true;
  FOR nth IN SELECT n.nth FROM unnest(p_box) WITH ORDINALITY AS n (box, nth) JOIN box b ON b.box = n.box AND b.discarding LOOP
    RETURN NEXT;
  END LOOP;
EXCEPTION WHEN undefined_table THEN
  -- A partition has just been dropped.
  is_large := true;
  FOR nth IN SELECT n FROM generate_series(1, cardinality(p_box)) n LOOP
    RETURN NEXT;
  END LOOP;
END
$$;

-- Records of the audit trail.
CREATE FUNCTION boxgate.audit_events_before(p_box text[], p_before uuid[], p_limit integer[], p_most integer[])
RETURNS TABLE (nth bigint, is_large boolean, total bigint, state text, id uuid, event text, result text, client text,
               user_id bigint, remote_addr text, operator text, session uuid, request_id text, target text, member bigint,
               changed text[], count integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  filled integer[] := filled_partitions('audit_event');
  counts bigint[] := array_fill(0, ARRAY[cardinality(p_box)]);
  oldest uuid[] := array_fill('00000000-0000-0000-0000-000000000000'::uuid, ARRAY[cardinality(p_box)]);
  found_nth bigint[] := '{}';
  found_id uuid[] := '{}';
  found boxgate.audit_event[] := '{}';
  boxes text[];
  starts bigint[];
  here record;
BEGIN
  SELECT array_agg(CASE WHEN NOT b.discarding THEN n.box END ORDER BY n.nth), array_agg(b.records_from ORDER BY n.nth)
    INTO boxes, starts
    FROM unnest(p_box) WITH ORDINALITY AS n (box, nth) LEFT JOIN box b ON b.box = n.box;
  FOR place IN REVERSE cardinality(filled)..1 LOOP
    EXECUTE format(
      'SELECT array_agg(n.nth) AS nths, array_agg(f.id) AS ids, array_agg(f.e) AS rows
         FROM unnest($1, $2, $3, $4, $5) WITH ORDINALITY AS n (box, start, before, rows, oldest, nth)
        CROSS JOIN LATERAL (SELECT e.id, e::boxgate.audit_event AS e FROM boxgate.%I e
                             WHERE e.box = n.box AND e.id < n.before AND e.id > n.oldest AND e.version >= n.start
                             ORDER BY e.id DESC LIMIT n.rows + 1) f',
      'audit_event_' || filled[place]) INTO here USING boxes, starts, p_before, p_limit, oldest;
    IF here.nths IS NOT NULL THEN
      found_nth := found_nth || here.nths;
      found_id := found_id || here.ids;
      found := found || here.rows;
      oldest := oldest_of_pages(found_nth, found_id, p_limit);
    END IF;
    IF (SELECT bool_or(c.most > 0 AND c.count <= c.most) FROM unnest(p_most, counts) AS c (most, count)) THEN
      EXECUTE format(
        'SELECT array_agg(n.count + c.count ORDER BY n.nth)
           FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS n (box, start, most, count, nth)
          CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT FROM boxgate.%I e WHERE e.box = n.box %s
                                                     LIMIT CASE WHEN n.most > 0 THEN n.most + 1 - n.count ELSE 0 END) AS l) c',
        'audit_event_' || filled[place],
        -- Where no data was ever discarded, the index alone is read.
        CASE WHEN 0 < ANY (starts) THEN 'AND e.version >= n.start' ELSE '' END) INTO counts USING boxes, starts, p_most, counts;
    END IF;
  END LOOP;
  RETURN QUERY
  SELECT r.nth, r.is_large, counts[r.nth], CASE WHEN r.place = 1 THEN b.records_from || ':' || filled::text END,
         r.id, r.event, r.result, r.client, r.user_id, r.remote_addr, r.operator, r.session, r.request_id, r.target, r.member,
         r.changed, r.count
    FROM (SELECT p.*,
                 sum(coalesce(pg_column_size(p.changed), 0) + coalesce(pg_column_size(p.target), 0)) OVER page > 16384
                   OR bool_or(pg_column_compression(p.changed) IS NOT NULL) OVER page AS is_large
            FROM (SELECT f.*, row_number() OVER (PARTITION BY f.nth ORDER BY f.id DESC) AS place
                    FROM ROWS FROM (unnest(found_nth), unnest(found)) AS f (nth)) AS p
           WHERE p.place <= p_limit[p.nth] + 1
          WINDOW page AS (PARTITION BY p.nth)) AS r
    JOIN box b ON b.box = r.box
   WHERE r.place = 1 OR NOT r.is_large
   ORDER BY r.nth, r.place;
  is_large := true;
  FOR nth IN SELECT n.nth FROM unnest(p_box) WITH ORDINALITY AS n (box, nth) JOIN box b ON b.box = n.box AND b.discarding LOOP
    RETURN NEXT;
  END LOOP;
EXCEPTION WHEN undefined_table THEN
  -- A partition has just been dropped.
  is_large := true;
  FOR nth IN SELECT n FROM generate_series(1, cardinality(p_box)) n LOOP
    RETURN NEXT;
  END LOOP;
END
$$;

-- The version since which consents to a client are for the client of that ID that there is now; null if there is none.
CREATE FUNCTION boxgate.consents_from(p_box text, p_client text, p_built_in text[]) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN coalesce(
    (SELECT r.sessions_from FROM resource r WHERE r.box = p_box AND r.kind = 'Client' AND r.id = p_client),
    CASE WHEN p_client = ANY (p_built_in) THEN
      coalesce((SELECT max(d.version) FROM tombstone d
                 WHERE d.box = p_box AND d.kind = 'Client' AND d.id = ANY (p_built_in)), 0)
    END);
END
$$;

-- Grants, by user and client (api/db/user/grant.ts). A box is left to a transaction if it has more than `p_most` consents, or
-- consents to more than 100 clients or to an earlier client of the same ID; a page if its grants have many or large targets.
CREATE FUNCTION boxgate.grants_after(p_box text[], p_user bigint[], p_client text[], p_limit integer[], p_most integer,
                                     p_built_in text[])
RETURNS TABLE (nth bigint, is_large boolean, total bigint, user_id bigint, client text, scopes text[], created_at text,
               targets jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
BEGIN
  RETURN QUERY
  WITH asked AS MATERIALIZED (
    SELECT n.nth, n.box, n.user_id, n.client, n.rows, k.*
      FROM unnest(p_box, p_user, p_client, p_limit) WITH ORDINALITY AS n (box, user_id, client, rows, nth)
     CROSS JOIN LATERAL (
           SELECT sum(g.count) FILTER (WHERE g.since IS NOT NULL)::bigint AS total,
                  array_agg(g.client) FILTER (WHERE g.since IS NOT NULL) AS clients,
                  coalesce(sum(g.count) > p_most OR count(*) > 100 OR bool_or(g.oldest < g.since), false) AS is_large
             FROM (SELECT f.*, consents_from(n.box, f.client, p_built_in) AS since
                     FROM (SELECT c.client, count(*) AS count, min(c.version) AS oldest
                             FROM (SELECT s.client, s.version FROM consent s WHERE s.box = n.box LIMIT p_most + 1) AS c
                            GROUP BY c.client LIMIT 101) AS f OFFSET 0) AS g) AS k
  )
  SELECT a.nth, coalesce(r.is_large, true), a.total, r.user_id, r.client, r.scopes, r.created_at::text,
         CASE WHEN r.is_large THEN NULL WHEN r.count = 0 THEN '[]' ELSE
           coalesce((SELECT jsonb_agg(jsonb_build_object('redirect_uri', t.redirect_uri, 'audience', t.audience,
                                                         'scopes', t.scopes) ORDER BY t.created_at, t.target)
                       FROM consent_target t
                      WHERE t.box = a.box AND t.user_id = r.user_id AND t.client = r.client
                        AND t.version >= consents_from(a.box, r.client, p_built_in)), '[]')
         END
    FROM asked a
    LEFT JOIN LATERAL (
         SELECT f.*, row_number() OVER (ORDER BY f.user_id, f.client) AS place,
                sum(f.bytes) OVER () > 16384 OR bool_or(f.is_long OR pg_column_compression(f.scopes) IS NOT NULL) OVER () AS is_large
           FROM (SELECT c.user_id, c.client, c.scopes, c.created_at, pg_column_size(c.scopes) + t.bytes AS bytes,
                        t.count, t.count > 500 / a.rows AS is_long
                   FROM consent c
                  CROSS JOIN LATERAL (SELECT count(*) AS count, coalesce(sum(l.bytes), 0) AS bytes
                                        FROM (SELECT pg_column_size(s) AS bytes FROM consent_target s
                                               WHERE s.box = c.box AND s.user_id = c.user_id AND s.client = c.client
                                               LIMIT 500 / a.rows + 1) AS l) AS t
                  WHERE NOT a.is_large AND c.box = a.box AND (c.user_id, c.client) > (a.user_id, a.client)
                    AND c.client = ANY (a.clients)
                  ORDER BY c.user_id, c.client LIMIT a.rows + 1) AS f
         ) AS r ON true
   -- A page beyond the last grant has no row to tell the total.
   WHERE r.place = 1 OR NOT r.is_large OR (r.place IS NULL AND (a.is_large OR a.user_id > 0))
   ORDER BY a.nth, r.place;
END
$$;
