-- Most of the time of a check of tokens went into its plan: a statement over all partitions cannot keep a good one. So
-- each bucket of a day has a function that keeps its plan (measured for 1, 16 and 40 tokens: 57, 150 and 180 microseconds
-- instead of 200, 280 and 320). A bucket of a month has none: a kept plan takes 200 KB of each connection, tokens that
-- live longer than 60 days are rare, and forged ones may name every bucket.

-- Creates the function that checks the sessions of one day; does nothing for a month.
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
    CREATE OR REPLACE FUNCTION boxgate.%1$I(p_box text[], p_id uuid[], p_hash bytea[])
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

-- The function of the day where there is one; else the same as before, with a plan for each call.
CREATE OR REPLACE FUNCTION boxgate.check_sessions(p_bucket integer, p_box text[], p_id uuid[], p_hash bytea[])
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
  EXECUTE format('DROP FUNCTION IF EXISTS boxgate.%I', 'check_sessions_' || p_bucket);
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END
$$;

SELECT boxgate.make_bucket_check(bucket) FROM boxgate.buckets();
