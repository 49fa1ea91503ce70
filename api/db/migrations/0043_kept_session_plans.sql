-- Lists and reads of sessions keep their plans, as checks of tokens do since migration 0029: a statement for each bucket that
-- is planned at each call took most of the time. Each bucket has two functions. Only those of buckets that hold rows are
-- called, so a connection keeps plans for these alone.
-- A page first finds the IDs of its rows in all buckets, and then reads the few rows that it has. Whole rows that were carried
-- from bucket to bucket, most of them for nothing, took longer than to look for them twice.

-- Creates both functions of a bucket, a day or a month.
CREATE FUNCTION boxgate.make_bucket_reads(p_bucket integer) RETURNS void
LANGUAGE plpgsql SET search_path = boxgate, pg_temp
AS $$
BEGIN
  -- The newest sessions of each box between two IDs, one more than `p_limit`: item, ID, and the bytes of texts, 20,000 if one
  -- is compressed or out of line (TOAST). `counts` has the sessions of each box, up to `p_most` and one, if any are counted.
  EXECUTE format($function$
    CREATE OR REPLACE FUNCTION boxgate.%1$I(
      p_box text[], p_before uuid[], p_limit integer[], p_oldest uuid[], p_most bigint[],
      OUT nths bigint[], OUT ids uuid[], OUT bytes integer[], OUT counts bigint[])
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_bitmapscan = off
    AS $body$
    BEGIN
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
      IF p_most IS NOT NULL THEN
        SELECT array_agg(c.count ORDER BY n.nth) INTO counts
          FROM unnest(p_box, p_most) WITH ORDINALITY AS n (box, most, nth)
         CROSS JOIN LATERAL (SELECT count(*) FROM (SELECT FROM boxgate.%2$I s WHERE s.box = n.box LIMIT n.most) AS l) c;
      END IF;
    END
    $body$
  $function$, 'session_ids_' || p_bucket, 'session_' || p_bucket);
  EXECUTE format('REVOKE ALL ON FUNCTION boxgate.%I FROM PUBLIC', 'session_ids_' || p_bucket);
  -- Sessions by ID, at least of a version, with the way each ended before its time: `ended_as` is null if it did not. Without
  -- a family, and in a box without revocations (`p_checked` is false), the row itself tells. LATERAL with OFFSET 0 is a
  -- probe of the primary key for each.
  EXECUTE format($function$
    CREATE OR REPLACE FUNCTION boxgate.%1$I(
      p_box text[], p_id uuid[], p_version bigint[], p_checked boolean[])
    RETURNS TABLE (nth bigint, id uuid, bucket integer, type "char", client text, user_id bigint, scope text, audience text[],
                   expires_at timestamptz, family uuid, parent uuid, remote_addr text, user_agent text, ended_at timestamptz,
                   ended_as text)
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    AS $body$
    BEGIN
      RETURN QUERY
      SELECT n.nth, s.id, s.bucket, s.type, s.client, s.user_id, s.scope, s.audience, s.expires_at, s.family, s.parent,
             host(s.remote_addr), s.user_agent, e.at, e.how
        FROM unnest(p_box, p_id, p_version, p_checked) WITH ORDINALITY AS n (box, id, version, checked, nth)
       CROSS JOIN LATERAL (SELECT * FROM boxgate.%2$I x WHERE x.box = n.box AND x.id = n.id AND x.version >= n.version
                           OFFSET 0) s
        LEFT JOIN LATERAL (
             SELECT s.ended_at, s.ended_as WHERE NOT n.checked AND s.family IS NULL AND s.ended_at < s.expires_at
             UNION ALL
             SELECT f.at, f.how
               FROM boxgate.ending_of(s.box, s.id, s.client, s.user_id, s.version, s.family, s.ended_at, s.ended_as,
                                      s.expires_at) f
              WHERE n.checked OR s.family IS NOT NULL) AS e (at, how) ON true;
    END
    $body$
  $function$, 'session_rows_' || p_bucket, 'session_' || p_bucket);
  EXECUTE format('REVOKE ALL ON FUNCTION boxgate.%I FROM PUBLIC', 'session_rows_' || p_bucket);
END
$$;
REVOKE ALL ON FUNCTION boxgate.make_bucket_reads FROM PUBLIC;

SELECT boxgate.make_bucket_reads(bucket) FROM boxgate.buckets();

CREATE OR REPLACE FUNCTION boxgate.make_bucket(p_bucket integer) RETURNS boolean
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
  PERFORM make_bucket_check(p_bucket);
  PERFORM make_bucket_reads(p_bucket);
  RETURN true;
END
$$;

CREATE OR REPLACE FUNCTION boxgate.make_first_buckets(p_buckets integer[]) RETURNS boolean
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
    PERFORM make_bucket_check(bucket);
    PERFORM make_bucket_reads(bucket);
  END LOOP;
  RETURN true;
END
$$;

CREATE OR REPLACE FUNCTION boxgate.drop_bucket(p_bucket integer) RETURNS boolean
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
  EXECUTE format('DROP FUNCTION IF EXISTS boxgate.%I, boxgate.%I, boxgate.%I', 'check_sessions_' || p_bucket,
                 'session_ids_' || p_bucket, 'session_rows_' || p_bucket);
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END
$$;

-- Of pages of one box, only one is counted, to the highest limit of them: the number of that page for each page, and the limits.
CREATE FUNCTION boxgate.counted_pages(p_box text[], p_most integer[], OUT counted bigint[], OUT mosts integer[])
LANGUAGE plpgsql IMMUTABLE SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  SELECT array_agg(f.counted ORDER BY f.nth), array_agg(CASE WHEN f.counted = f.nth THEN f.most ELSE 0 END ORDER BY f.nth)
    INTO counted, mosts
    FROM (SELECT n.nth, min(n.nth) OVER (PARTITION BY n.box) AS counted, max(n.most) OVER (PARTITION BY n.box) AS most
            FROM unnest(p_box, p_most) WITH ORDINALITY AS n (box, most, nth)) AS f;
END
$$;

-- Pages of sessions, newest first, as sessions_before, which is left to the release before: the rows of a page may come in any
-- order, and only the newest one has the state. Times in milliseconds.
CREATE FUNCTION boxgate.session_pages(p_box text[], p_before uuid[], p_limit integer[], p_most integer[])
RETURNS TABLE (nth bigint, is_large boolean, total bigint, state text, id uuid, bucket integer, type "char", client text,
               user_id bigint, scope text, audience text[], expires_at bigint, family uuid, parent uuid, remote_addr text,
               user_agent text, ended_at bigint, ended_as text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  filled integer[] := filled_partitions('session');
  counts bigint[] := array_fill(0, ARRAY[cardinality(p_box)]);
  oldest uuid[] := array_fill('00000000-0000-0000-0000-000000000000'::uuid, ARRAY[cardinality(p_box)]);
  found_nth bigint[] := '{}';
  found_id uuid[] := '{}';
  found_bytes integer[] := '{}';
  found_bucket integer[] := '{}';
  boxes text[];
  starts bigint[];
  checks boolean[];
  counted bigint[];
  mosts integer[];
  large bigint[];
  here record;
BEGIN
  -- A box whose records are being deleted is left to a transaction: it may have many to pass over.
  SELECT array_agg(CASE WHEN NOT b.discarding THEN n.box END ORDER BY n.nth), array_agg(b.records_from ORDER BY n.nth),
         array_agg(EXISTS (SELECT FROM revocation v WHERE v.box = n.box) ORDER BY n.nth),
         array_agg(n.nth) FILTER (WHERE b.discarding)
    INTO boxes, starts, checks, large
    FROM unnest(p_box) WITH ORDINALITY AS n (box, nth) LEFT JOIN box b ON b.box = n.box;
  SELECT c.counted, c.mosts INTO counted, mosts FROM counted_pages(p_box, p_most) c;
  FOR place IN REVERSE cardinality(filled)..1 LOOP
    EXECUTE 'SELECT * FROM boxgate.session_ids_' || filled[place] || '($1, $2, $3, $4, $5)' INTO here
      USING boxes, p_before, p_limit, oldest,
            (SELECT CASE WHEN bool_or(c.most > 0 AND c.count <= c.most)
                         THEN array_agg(CASE WHEN c.most > 0 THEN c.most + 1 - c.count ELSE 0 END ORDER BY c.nth) END
               FROM unnest(mosts, counts) WITH ORDINALITY AS c (most, count, nth));
    IF here.nths IS NOT NULL THEN
      found_nth := found_nth || here.nths;
      found_id := found_id || here.ids;
      found_bytes := found_bytes || here.bytes;
      found_bucket := found_bucket || array_fill(filled[place], ARRAY[cardinality(here.nths)]);
      oldest := oldest_of_pages(found_nth, found_id, p_limit);
    END IF;
    IF here.counts IS NOT NULL THEN
      counts := (SELECT array_agg(c.count + c.here ORDER BY c.nth)
                   FROM unnest(counts, here.counts) WITH ORDINALITY AS c (count, here, nth));
    END IF;
  END LOOP;
  FOR here IN
    SELECT r.is_large, r.bucket, array_agg(r.nth) AS nths, array_agg(boxes[r.nth]) AS boxes, array_agg(r.id) AS ids,
           array_agg(starts[r.nth]) AS starts, array_agg(checks[r.nth]) AS checks,
           array_agg(CASE WHEN r.place = 1 THEN starts[r.nth] || ':' || filled::text END) AS states
      FROM (SELECT f.*, row_number() OVER (PARTITION BY f.nth ORDER BY f.id DESC) AS place,
                   sum(f.bytes) OVER (PARTITION BY f.nth) > 16384 AS is_large
              FROM unnest(found_nth, found_id, found_bytes, found_bucket) AS f (nth, id, bytes, bucket)
             WHERE f.id >= oldest[f.nth]) AS r
     WHERE r.place = 1 OR NOT r.is_large
     GROUP BY r.is_large, r.bucket
  LOOP
    IF here.is_large THEN
      large := large || here.nths;
    ELSE
      RETURN QUERY EXECUTE
        'SELECT $5[s.nth], false, $7[$8[$5[s.nth]]], $6[s.nth], s.id, s.bucket, s.type, s.client, s.user_id, s.scope, s.audience,
                floor(extract(epoch FROM s.expires_at) * 1000)::bigint, s.family, s.parent, s.remote_addr, s.user_agent,
                floor(extract(epoch FROM s.ended_at) * 1000)::bigint, s.ended_as
           FROM boxgate.session_rows_' || here.bucket || '($1, $2, $3, $4) s'
        USING here.boxes, here.ids, here.starts, here.checks, here.nths, here.states, counts, counted;
    END IF;
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

-- Sessions in one of three buckets, the likeliest first, as read_sessions, which is left to the release before.
CREATE FUNCTION boxgate.sessions_by_id(p_box text[], p_id uuid[], p_first integer[], p_second integer[], p_third integer[])
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
             array_agg(b.records_from) AS starts, array_agg(EXISTS (SELECT FROM revocation v WHERE v.box = n.box)) AS checks
        FROM unnest(p_box, p_id, CASE attempt WHEN 1 THEN p_first WHEN 2 THEN p_second ELSE p_third END)
             WITH ORDINALITY AS n (box, id, bucket, nth)
        JOIN box b ON b.box = n.box
       WHERE n.nth <> ALL (done)
       GROUP BY n.bucket HAVING to_regproc('boxgate.session_rows_' || n.bucket) IS NOT NULL
    LOOP
      RETURN QUERY EXECUTE
        'SELECT $5[s.nth], s.id, s.bucket, s.type, s.client, s.user_id, s.scope, s.audience, s.expires_at, s.family, s.parent,
                s.remote_addr, s.user_agent, s.ended_at, s.ended_as
           FROM boxgate.session_rows_' || part.bucket || '($1, $2, $3, $4) s'
        USING part.boxes, part.ids, part.starts, part.checks, part.nths;
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
