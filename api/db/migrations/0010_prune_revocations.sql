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
  SELECT coalesce(array_agg(b.bucket), '{}') INTO filled FROM buckets() b
   WHERE pg_relation_size(to_regclass('boxgate.session_' || b.bucket)) > 0;
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
