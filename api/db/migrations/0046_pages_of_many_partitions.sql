-- Pages of sessions in a box with revocations looked up each session in `ending_of`, which took two thirds of their time. Now
-- only those are looked up that a revocation may concern, or whose family has ended. And pages over many partitions took most of
-- their time where nothing was found: each day of the audit trail has a function that keeps its plan, as buckets of sessions
-- have since migration 0043, and pages of one box ask a partition together whether it has newer rows than they have.

-- A partition that another release is making just now would get none of these functions. Nobody waits for this lock but who makes
-- partitions, so it may take as long as that does; a table may not.
SET LOCAL lock_timeout = '60s';
SELECT pg_advisory_xact_lock(hashtext('boxgate.bucket'));
SELECT pg_advisory_xact_lock(hashtext('boxgate.audit_day'));
SET LOCAL lock_timeout = '2s';

-- The newest revocation of a box, of each sort: versions of the one are configurations, those of the other milliseconds.
CREATE INDEX revocation_newest ON boxgate.revocation (box, version) WHERE subject NOT LIKE '%:before';
CREATE INDEX revocation_newest_before ON boxgate.revocation (box, version) WHERE subject LIKE '%:before';

-- A revocation concerns only sessions of its box that were decided under an older version than this, or began before this time,
-- in milliseconds since 1970; null if there is none. ORDER BY with LIMIT leaves a plan of an empty table no other index.
CREATE FUNCTION boxgate.revoked_below(p_box text, OUT version bigint, OUT begun bigint)
LANGUAGE plpgsql STABLE SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
BEGIN
  version := (SELECT r.version FROM revocation r WHERE r.box = p_box AND r.subject NOT LIKE '%:before'
               ORDER BY r.version DESC LIMIT 1);
  begun := (SELECT r.version FROM revocation r WHERE r.box = p_box AND r.subject LIKE '%:before'
             ORDER BY r.version DESC LIMIT 1);
END
$$;

-- For each box, the IDs between which one of its pages can have rows of further partitions, once rows were found. That a
-- partition has none is seen with a probe for each box, however many pages share it.
CREATE TYPE boxgate.box_spans AS (boxes text[], after uuid[], before uuid[]);

CREATE FUNCTION boxgate.spans_of_boxes(p_box text[], p_after uuid[], p_before uuid[]) RETURNS boxgate.box_spans
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
  RETURN (SELECT (array_agg(f.box), array_agg(f.after[1]), array_agg(f.before[1]))::boxgate.box_spans
            FROM (SELECT n.box, array_agg(n.after ORDER BY n.after) AS after,
                         array_agg(n.before ORDER BY n.before DESC) AS before
                    FROM unnest(p_box, p_after, p_before) AS n (box, after, before) GROUP BY n.box) AS f);
END
$$;

-- Rows that each page still has to count, one more than its limit; null if none has any left to count.
CREATE FUNCTION boxgate.uncounted_rows(p_most integer[], p_count bigint[]) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
  RETURN (SELECT CASE WHEN bool_or(c.most > 0 AND c.count <= c.most)
                      THEN array_agg(CASE WHEN c.most > 0 THEN c.most + 1 - c.count ELSE 0 END ORDER BY c.nth) END
            FROM unnest(p_most, p_count) WITH ORDINALITY AS c (most, count, nth));
END
$$;

-- Creates both functions of a bucket, a day or a month, in place of those of before. Those have other arguments and results.
CREATE OR REPLACE FUNCTION boxgate.make_bucket_reads(p_bucket integer) RETURNS void
LANGUAGE plpgsql SET search_path = boxgate, pg_temp
AS $$
BEGIN
  EXECUTE format('DROP FUNCTION IF EXISTS boxgate.%I, boxgate.%I', 'session_ids_' || p_bucket, 'session_rows_' || p_bucket);
  -- The newest sessions of each box between two IDs, one more than `p_limit`: item, ID, and the bytes of texts, 20,000 if one
  -- is compressed or out of line (TOAST). `counts` has the sessions of each box, up to `p_most`, if any are counted. What plans
  -- may do is set by the caller: here, it took a tenth of the time of a bucket.
  EXECUTE format($function$
    CREATE FUNCTION boxgate.%1$I(
      p_box text[], p_before uuid[], p_limit integer[], p_oldest uuid[], p_most bigint[], p_span boxgate.box_spans,
      OUT nths bigint[], OUT ids uuid[], OUT bytes integer[], OUT counts bigint[])
    LANGUAGE plpgsql STABLE
    AS $body$
    BEGIN
      IF p_span IS NULL OR EXISTS (
           SELECT FROM unnest(p_span.boxes, p_span.after, p_span.before) AS n (box, after, before)
            CROSS JOIN LATERAL (SELECT FROM boxgate.%2$I s WHERE s.box = n.box AND s.id < n.before AND s.id > n.after
                                 ORDER BY s.id LIMIT 1) f) THEN
        SELECT array_agg(n.nth), array_agg(f.id), array_agg(f.bytes) INTO nths, ids, bytes
          FROM unnest(p_box, p_before, p_limit, p_oldest) WITH ORDINALITY AS n (box, before, rows, oldest, nth)
         CROSS JOIN LATERAL (
               SELECT s.id, CASE WHEN coalesce(pg_column_compression(s.scope), pg_column_compression(s.audience),
                                               pg_column_compression(s.user_agent)) IS NOT NULL THEN 20000
                                 ELSE coalesce(pg_column_size(s.scope), 0) + coalesce(pg_column_size(s.audience), 0)
                                      + coalesce(pg_column_size(s.user_agent), 0) END AS bytes
                 FROM boxgate.%2$I s
                WHERE s.box = n.box AND s.id < n.before AND s.id > n.oldest
                ORDER BY s.id DESC LIMIT n.rows + 1) f;
      END IF;
      IF p_most IS NOT NULL THEN
        SELECT array_agg(c.count ORDER BY n.nth) INTO counts
          FROM unnest(p_box, p_most) WITH ORDINALITY AS n (box, most, nth)
         CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT FROM boxgate.%2$I s WHERE s.box = n.box LIMIT n.most) AS l) c;
      END IF;
    END
    $body$
  $function$, 'session_ids_' || p_bucket, 'session_' || p_bucket);
  EXECUTE format('REVOKE ALL ON FUNCTION boxgate.%I FROM PUBLIC', 'session_ids_' || p_bucket);
  -- Sessions by ID, at least of a version, with the way each ended before its time: `ended_as` is null if it did not. The row
  -- itself tells, unless a revocation may concern it (`p_revoked` and `p_begun`, of revoked_below) or its family has ended.
  -- LATERAL with OFFSET 0 is a probe of the primary key for each.
  EXECUTE format($function$
    CREATE FUNCTION boxgate.%1$I(
      p_box text[], p_id uuid[], p_version bigint[], p_revoked bigint[], p_begun bigint[])
    RETURNS TABLE (nth bigint, id uuid, bucket integer, type "char", client text, user_id bigint, scope text, audience text[],
                   expires_at timestamptz, family uuid, parent uuid, remote_addr text, user_agent text, ended_at timestamptz,
                   ended_as text)
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    AS $body$
    BEGIN
      RETURN QUERY
      SELECT n.nth, s.id, s.bucket, s.type, s.client, s.user_id, s.scope, s.audience, s.expires_at, s.family, s.parent,
             host(s.remote_addr), s.user_agent,
             CASE WHEN s.is_checked THEN e.at WHEN s.ended_at < s.expires_at THEN s.ended_at END,
             CASE WHEN s.is_checked THEN e.how WHEN s.ended_at < s.expires_at THEN s.ended_as END
        FROM unnest(p_box, p_id, p_version, p_revoked, p_begun) WITH ORDINALITY AS n (box, id, version, revoked, begun, nth)
       CROSS JOIN LATERAL (
             SELECT x.*,
                    coalesce(x.version < n.revoked, false)
                      OR CASE WHEN n.begun IS NULL THEN false
                              ELSE ('x' || substr(translate(x.id::text, '-', ''), 1, 12))::bit(48)::bigint < n.begun END
                      OR CASE WHEN x.family IS NULL THEN false
                              ELSE EXISTS (SELECT FROM boxgate.refresh_family f
                                            WHERE f.box = n.box AND f.id = x.family AND f.ended_at IS NOT NULL)
                         END AS is_checked
               FROM boxgate.%2$I x WHERE x.box = n.box AND x.id = n.id AND x.version >= n.version OFFSET 0) s
        LEFT JOIN LATERAL (
             SELECT f.* FROM boxgate.ending_of(s.box, s.id, s.client, s.user_id, s.version, s.family, s.ended_at, s.ended_as,
                                               s.expires_at) f
              WHERE s.is_checked OFFSET 0) AS e (at, how) ON true;
    END
    $body$
  $function$, 'session_rows_' || p_bucket, 'session_' || p_bucket);
  EXECUTE format('REVOKE ALL ON FUNCTION boxgate.%I FROM PUBLIC', 'session_rows_' || p_bucket);
END
$$;

SELECT boxgate.make_bucket_reads(bucket) FROM boxgate.buckets();

-- The newest row of each page, null for none, and the oldest one that it can still have, as oldest_of_pages.
CREATE FUNCTION boxgate.bounds_of_pages(p_nth bigint[], p_id uuid[], p_limit integer[], OUT newest uuid[], OUT oldest uuid[])
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
  SELECT array_agg(f.ids[1] ORDER BY n.nth),
         array_agg(coalesce(f.ids[n.rows + 1], '00000000-0000-0000-0000-000000000000') ORDER BY n.nth)
    INTO newest, oldest
    FROM unnest(p_limit) WITH ORDINALITY AS n (rows, nth)
    LEFT JOIN (SELECT u.nth, array_agg(u.id ORDER BY u.id DESC) AS ids
                 FROM unnest(p_nth, p_id) AS u (nth, id) GROUP BY u.nth) AS f ON f.nth = n.nth;
END
$$;

-- Pages of sessions, as in migration 0043.
CREATE OR REPLACE FUNCTION boxgate.session_pages(p_box text[], p_before uuid[], p_limit integer[], p_most integer[])
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
  newest uuid[];
  found_nth bigint[] := '{}';
  found_id uuid[] := '{}';
  found_bytes integer[] := '{}';
  found_bucket integer[] := '{}';
  boxes text[];
  starts bigint[];
  revoked bigint[];
  begun bigint[];
  counted bigint[];
  mosts integer[];
  uncounted bigint[];
  span boxgate.box_spans;
  large bigint[];
  here record;
BEGIN
  -- A box whose records are being deleted is left to a transaction: it may have many to pass over.
  SELECT array_agg(CASE WHEN NOT b.discarding THEN n.box END ORDER BY n.nth), array_agg(b.records_from ORDER BY n.nth),
         array_agg(b.version ORDER BY n.nth), array_agg(b.begun ORDER BY n.nth), array_agg(n.nth) FILTER (WHERE b.discarding)
    INTO boxes, starts, revoked, begun, large
    FROM unnest(p_box) WITH ORDINALITY AS n (box, nth)
    LEFT JOIN (SELECT b.box, b.records_from, b.discarding, r.*
                 FROM box b CROSS JOIN LATERAL revoked_below(b.box) r WHERE b.box = ANY (p_box)) AS b ON b.box = n.box;
  SELECT c.counted, c.mosts INTO counted, mosts FROM counted_pages(p_box, p_most) c;
  IF 0 < ANY (mosts) THEN
    uncounted := uncounted_rows(mosts, counts);
  END IF;
  FOR place IN REVERSE cardinality(filled)..1 LOOP
    EXECUTE 'SELECT * FROM boxgate.session_ids_' || filled[place] || '($1, $2, $3, $4, $5, $6)' INTO here
      USING boxes, p_before, p_limit, oldest, uncounted, span;
    IF here.nths IS NOT NULL THEN
      found_nth := found_nth || here.nths;
      found_id := found_id || here.ids;
      found_bytes := found_bytes || here.bytes;
      found_bucket := found_bucket || array_fill(filled[place], ARRAY[cardinality(here.nths)]);
      SELECT f.newest, f.oldest INTO newest, oldest FROM bounds_of_pages(found_nth, found_id, p_limit) f;
      span := spans_of_boxes(boxes, oldest, p_before);
    END IF;
    IF here.counts IS NOT NULL THEN
      counts := (SELECT array_agg(c.count + c.here ORDER BY c.nth)
                   FROM unnest(counts, here.counts) WITH ORDINALITY AS c (count, here, nth));
      uncounted := uncounted_rows(mosts, counts);
    END IF;
  END LOOP;
  IF (SELECT sum(f.bytes) > 16384 FROM unnest(found_bytes) AS f (bytes)) THEN
    large := large || (SELECT array_agg(p.nth)
                         FROM (SELECT f.nth FROM unnest(found_nth, found_id, found_bytes) AS f (nth, id, bytes)
                                WHERE f.id >= oldest[f.nth] GROUP BY f.nth HAVING sum(f.bytes) > 16384) AS p);
  END IF;
  FOR here IN
    SELECT f.bucket, array_agg(f.nth) AS nths, array_agg(boxes[f.nth]) AS boxes, array_agg(f.id) AS ids,
           array_agg(starts[f.nth]) AS starts, array_agg(revoked[f.nth]) AS revoked, array_agg(begun[f.nth]) AS begun,
           array_agg(CASE WHEN f.id = newest[f.nth] THEN starts[f.nth] END) AS states
      FROM unnest(found_nth, found_id, found_bucket) AS f (nth, id, bucket)
     WHERE f.id >= oldest[f.nth] AND f.nth <> ALL (coalesce(large, '{}'))
     GROUP BY f.bucket
  LOOP
    RETURN QUERY EXECUTE
      'SELECT $6[s.nth], false, $8[$9[$6[s.nth]]], $7[s.nth] || $10, s.id, s.bucket, s.type, s.client, s.user_id, s.scope,
              s.audience, floor(extract(epoch FROM s.expires_at) * 1000)::bigint, s.family, s.parent, s.remote_addr,
              s.user_agent, floor(extract(epoch FROM s.ended_at) * 1000)::bigint, s.ended_as
         FROM boxgate.session_rows_' || here.bucket || '($1, $2, $3, $4, $5) s'
      USING here.boxes, here.ids, here.starts, here.revoked, here.begun, here.nths, here.states, counts, counted,
            ':' || filled::text;
  END LOOP;
  is_large := true;
  FOREACH nth IN ARRAY coalesce(large, '{}') LOOP
    RETURN NEXT;
  END LOOP;
EXCEPTION WHEN undefined_table OR undefined_function THEN
  -- A bucket has just been dropped.
  is_large := true;
  FOR nth IN SELECT n FROM generate_series(1, cardinality(p_box)) n LOOP
    RETURN NEXT;
  END LOOP;
END
$$;

-- Sessions in one of three buckets, the likeliest first, as in migration 0043.
CREATE OR REPLACE FUNCTION boxgate.sessions_by_id(p_box text[], p_id uuid[], p_first integer[], p_second integer[],
                                                  p_third integer[])
RETURNS TABLE (nth bigint, id uuid, bucket integer, type "char", client text, user_id bigint, scope text, audience text[],
               expires_at timestamptz, family uuid, parent uuid, remote_addr text, user_agent text, ended_at timestamptz,
               ended_as text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  part record;
  count bigint;
  done bigint[] := '{}';
BEGIN
  FOR attempt IN 1..3 LOOP
    FOR part IN
      SELECT n.bucket, array_agg(n.nth) AS nths, array_agg(n.box) AS boxes, array_agg(n.id) AS ids,
             array_agg(b.records_from) AS starts, array_agg(r.version) AS revoked, array_agg(r.begun) AS begun
        FROM unnest(p_box, p_id, CASE attempt WHEN 1 THEN p_first WHEN 2 THEN p_second ELSE p_third END)
             WITH ORDINALITY AS n (box, id, bucket, nth)
        JOIN box b ON b.box = n.box
        LEFT JOIN LATERAL revoked_below(n.box) r ON true
       WHERE n.nth <> ALL (done)
       GROUP BY n.bucket HAVING to_regproc('boxgate.session_rows_' || n.bucket) IS NOT NULL
    LOOP
      RETURN QUERY EXECUTE
        'SELECT $6[s.nth], s.id, s.bucket, s.type, s.client, s.user_id, s.scope, s.audience, s.expires_at, s.family, s.parent,
                s.remote_addr, s.user_agent, s.ended_at, s.ended_as
           FROM boxgate.session_rows_' || part.bucket || '($1, $2, $3, $4, $5) s'
        USING part.boxes, part.ids, part.starts, part.revoked, part.begun, part.nths;
      GET DIAGNOSTICS count = ROW_COUNT;
      -- If some are missing, all of them are looked for in the next bucket: a session is in one.
      IF count = cardinality(part.ids) THEN
        done := done || part.nths;
      END IF;
    END LOOP;
    EXIT WHEN cardinality(done) = cardinality(p_id);
  END LOOP;
EXCEPTION WHEN undefined_table OR undefined_function THEN
  -- A bucket has just been dropped: what was not found is left to a transaction.
  RETURN;
END
$$;

-- Creates the function of a day of the audit trail, as session_ids_<bucket>: the newest records of each box between two IDs, one
-- more than `p_limit`, at least of a version; `counts` has the records of each box, up to `p_most`, if any are counted.
CREATE FUNCTION boxgate.make_audit_reads(p_day integer) RETURNS void
LANGUAGE plpgsql SET search_path = boxgate, pg_temp
AS $$
BEGIN
  EXECUTE format($function$
    CREATE OR REPLACE FUNCTION boxgate.%1$I(
      p_box text[], p_start bigint[], p_before uuid[], p_limit integer[], p_oldest uuid[], p_most bigint[],
      p_span boxgate.box_spans,
      OUT nths bigint[], OUT ids uuid[], OUT events boxgate.audit_event[], OUT counts bigint[])
    LANGUAGE plpgsql STABLE
    AS $body$
    BEGIN
      IF p_span IS NULL OR EXISTS (
           SELECT FROM unnest(p_span.boxes, p_span.after, p_span.before) AS n (box, after, before)
            CROSS JOIN LATERAL (SELECT FROM boxgate.%2$I e WHERE e.box = n.box AND e.id < n.before AND e.id > n.after
                                 ORDER BY e.id LIMIT 1) f) THEN
        SELECT array_agg(n.nth), array_agg(f.id), array_agg(f.e) INTO nths, ids, events
          FROM unnest(p_box, p_start, p_before, p_limit, p_oldest) WITH ORDINALITY AS n (box, start, before, rows, oldest, nth)
         CROSS JOIN LATERAL (SELECT e.id, e::boxgate.audit_event AS e FROM boxgate.%2$I e
                              WHERE e.box = n.box AND e.version >= n.start AND e.id < n.before AND e.id > n.oldest
                              ORDER BY e.id DESC LIMIT n.rows + 1) f;
      END IF;
      IF p_most IS NULL THEN
        RETURN;
      END IF;
      -- Where no data was ever discarded, the index alone is read.
      IF 0 < ANY (p_start) THEN
        SELECT array_agg(c.count ORDER BY n.nth) INTO counts
          FROM unnest(p_box, p_start, p_most) WITH ORDINALITY AS n (box, start, most, nth)
         CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT FROM boxgate.%2$I e WHERE e.box = n.box AND e.version >= n.start
                                                    LIMIT n.most) AS l) c;
      ELSE
        SELECT array_agg(c.count ORDER BY n.nth) INTO counts
          FROM unnest(p_box, p_most) WITH ORDINALITY AS n (box, most, nth)
         CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT FROM boxgate.%2$I e WHERE e.box = n.box LIMIT n.most) AS l) c;
      END IF;
    END
    $body$
  $function$, 'audit_rows_' || p_day, 'audit_event_' || p_day);
  EXECUTE format('REVOKE ALL ON FUNCTION boxgate.%I FROM PUBLIC', 'audit_rows_' || p_day);
END
$$;
REVOKE ALL ON FUNCTION boxgate.make_audit_reads FROM PUBLIC;

SELECT boxgate.make_audit_reads(day) FROM boxgate.audit_days();

-- Pages of the audit trail, as in migration 0044.
CREATE OR REPLACE FUNCTION boxgate.audit_events_before(p_box text[], p_before uuid[], p_limit integer[], p_most integer[])
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
  newest uuid[];
  found_nth bigint[] := '{}';
  found_id uuid[] := '{}';
  found boxgate.audit_event[] := '{}';
  boxes text[];
  starts bigint[];
  counted bigint[];
  mosts integer[];
  uncounted bigint[];
  span boxgate.box_spans;
  here record;
BEGIN
  SELECT array_agg(CASE WHEN NOT b.discarding THEN n.box END ORDER BY n.nth), array_agg(b.records_from ORDER BY n.nth)
    INTO boxes, starts
    FROM unnest(p_box) WITH ORDINALITY AS n (box, nth) LEFT JOIN box b ON b.box = n.box;
  SELECT c.counted, c.mosts INTO counted, mosts FROM counted_pages(p_box, p_most) c;
  IF 0 < ANY (mosts) THEN
    uncounted := uncounted_rows(mosts, counts);
  END IF;
  FOR place IN REVERSE cardinality(filled)..1 LOOP
    EXECUTE 'SELECT * FROM boxgate.audit_rows_' || filled[place] || '($1, $2, $3, $4, $5, $6, $7)' INTO here
      USING boxes, starts, p_before, p_limit, oldest, uncounted, span;
    IF here.nths IS NOT NULL THEN
      found_nth := found_nth || here.nths;
      found_id := found_id || here.ids;
      found := found || here.events;
      SELECT f.newest, f.oldest INTO newest, oldest FROM bounds_of_pages(found_nth, found_id, p_limit) f;
      span := spans_of_boxes(boxes, oldest, p_before);
    END IF;
    IF here.counts IS NOT NULL THEN
      counts := (SELECT array_agg(c.count + c.here ORDER BY c.nth)
                   FROM unnest(counts, here.counts) WITH ORDINALITY AS c (count, here, nth));
      uncounted := uncounted_rows(mosts, counts);
    END IF;
  END LOOP;
  RETURN QUERY
  SELECT r.nth, r.is_large, counts[counted[r.nth]],
         CASE WHEN r.id = newest[r.nth] THEN starts[r.nth] || ':' || filled::text END,
         r.id, r.event, r.result, r.client, r.user_id, r.remote_addr, r.operator, r.session, r.request_id, r.target, r.member,
         r.changed, r.count
    FROM (SELECT f.*,
                 sum(coalesce(pg_column_size(f.changed), 0) + coalesce(pg_column_size(f.target), 0)) OVER page > 16384
                   OR bool_or(pg_column_compression(f.changed) IS NOT NULL) OVER page AS is_large
            FROM ROWS FROM (unnest(found_nth), unnest(found)) AS f (nth)
           WHERE f.id >= oldest[f.nth]
          WINDOW page AS (PARTITION BY f.nth)) AS r
   WHERE r.id = newest[r.nth] OR NOT r.is_large
   ORDER BY r.nth, r.id DESC;
  is_large := true;
  FOR nth IN SELECT n.nth FROM unnest(p_box) WITH ORDINALITY AS n (box, nth) JOIN box b ON b.box = n.box AND b.discarding LOOP
    RETURN NEXT;
  END LOOP;
EXCEPTION WHEN undefined_table OR undefined_function THEN
  -- A day has just been dropped.
  is_large := true;
  FOR nth IN SELECT n FROM generate_series(1, cardinality(p_box)) n LOOP
    RETURN NEXT;
  END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION boxgate.make_audit_days(p_retention integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp SET lock_timeout = '2s'
AS $$
DECLARE
  today integer := (extract(epoch FROM now())::bigint / 86400)::integer;
  made integer := 0;
BEGIN
  IF p_retention NOT BETWEEN 1 AND 400 THEN
    RAISE EXCEPTION 'no retention: %', p_retention USING ERRCODE = 'invalid_parameter_value';
  END IF;
  FOR wanted IN today + p_retention .. today + p_retention + 2 LOOP
    CONTINUE WHEN to_regclass('boxgate.audit_event_' || wanted) IS NOT NULL;
    PERFORM pg_advisory_xact_lock(hashtext('boxgate.audit_day'));
    CONTINUE WHEN to_regclass('boxgate.audit_event_' || wanted) IS NOT NULL;
    EXECUTE format('CREATE TABLE boxgate.%I (LIKE boxgate.audit_event INCLUDING ALL)', 'audit_event_' || wanted);
    EXECUTE format('ALTER TABLE boxgate.audit_event ATTACH PARTITION boxgate.%I FOR VALUES FROM (%s) TO (%s)',
                   'audit_event_' || wanted, wanted, wanted + 1);
    PERFORM make_audit_reads(wanted);
    made := made + 1;
  END LOOP;
  RETURN made;
END
$$;

CREATE OR REPLACE FUNCTION boxgate.drop_audit_day(p_day integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp SET lock_timeout = '200ms'
AS $$
BEGIN
  IF p_day >= extract(epoch FROM now())::bigint / 86400 THEN
    RAISE EXCEPTION 'day % is not over', p_day USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('boxgate.audit_day'));
  IF to_regclass('boxgate.audit_event_' || p_day) IS NULL THEN
    RETURN false;
  END IF;
  EXECUTE format('DROP TABLE boxgate.%I', 'audit_event_' || p_day);
  EXECUTE format('DROP FUNCTION IF EXISTS boxgate.%I', 'audit_rows_' || p_day);
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END
$$;
