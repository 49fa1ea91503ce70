-- A connection keeps the plan that it made for a day while that day was empty. Without statistics Postgres expects a few
-- sessions of each box, to which any index leads equally fast; it took that of the clients, and so read all sessions of
-- a box for each token, until autovacuum looked at the table a minute later (measured with 100,000 sessions: 10 ms for a
-- check instead of 0.2 ms). A new day now begins with the statistics of a table with one box, for which only the primary
-- key is fast. The first ANALYZE replaces them.

CREATE FUNCTION boxgate.expect_one_box(p_bucket integer) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp
AS $$
  SELECT pg_restore_attribute_stats('schemaname', 'boxgate', 'relname', 'session_' || p_bucket, 'attname', 'box',
                                    'inherited', false, 'null_frac', 0::real, 'avg_width', 8, 'n_distinct', 1::real)
$$;
REVOKE ALL ON FUNCTION boxgate.expect_one_box FROM PUBLIC;

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
  PERFORM expect_one_box(p_bucket);
  PERFORM make_bucket_check(p_bucket);
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
    PERFORM expect_one_box(bucket);
    PERFORM make_bucket_check(bucket);
  END LOOP;
  RETURN true;
END
$$;

-- Days that are there already; where there are statistics, they stay.
SELECT boxgate.expect_one_box(b.bucket) FROM boxgate.buckets() b
 WHERE NOT EXISTS (SELECT FROM pg_statistic s WHERE s.starelid = ('boxgate.session_' || b.bucket)::regclass);
