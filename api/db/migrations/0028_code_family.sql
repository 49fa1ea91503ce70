-- redeem_codes of migration 16, also for a session that belongs to a refresh family (null: to none). The transaction that calls it
-- has stored the family. Replicas of the release before call the old function, which has one parameter less.
CREATE FUNCTION boxgate.redeem_codes(
  p_box text[], p_version bigint[], p_code uuid[], p_code_hash bytea[], p_used bigint[], p_id uuid[], p_bucket integer[],
  p_expires bigint[], p_client text[], p_hash bytea[], p_addr inet[], p_user bigint[], p_scope text[], p_audience jsonb[],
  p_agent text[], p_family uuid[]
) RETURNS TABLE (nth bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET join_collapse_limit = 1
AS $$
DECLARE
  v_boxes text[];
  v_versions bigint[];
BEGIN
  SELECT array_agg(h.box), array_agg(h.config_version) INTO v_boxes, v_versions FROM hold_boxes(p_box) AS h;
  RETURN QUERY
  WITH asked AS MATERIALIZED (
    SELECT DISTINCT ON (n.box, n.code) n.*
      FROM unnest(p_box, p_version, p_code, p_code_hash, p_used, p_id, p_bucket, p_expires, p_client, p_hash, p_addr,
                  p_user, p_scope, p_audience, p_agent, p_family) WITH ORDINALITY
        AS n (box, version, code, code_hash, used, id, bucket, expires, client, hash, addr, user_id, scope, audience,
              agent, family, nth)
     ORDER BY n.box, n.code, n.nth
  ), good AS MATERIALIZED (
    SELECT n.*
      FROM asked n
      JOIN unnest(v_boxes, v_versions) AS h (box, version) ON h.box = n.box AND h.version = n.version
      JOIN authorization_answer a ON a.box = n.box AND a.id = n.code
     WHERE a.hash = n.code_hash AND a.used_at IS NULL AND a.client = n.client AND a.user_id IS NOT DISTINCT FROM n.user_id
       AND (SELECT u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= a.version
              FROM boxgate.user u WHERE u.box = a.box AND u.id = a.user_id)
       FOR UPDATE OF a SKIP LOCKED
  ), stored AS (
    INSERT INTO session (id, version, expires_at, bucket, type, box, client, token_hash, remote_addr, user_id, scope,
                         audience, user_agent, family)
    SELECT g.id, g.version, to_timestamp(g.expires), g.bucket, 'a', g.box, g.client, g.hash, g.addr, g.user_id, g.scope,
           CASE WHEN g.audience IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(g.audience)) END, g.agent, g.family
      FROM good g
  )
  UPDATE authorization_answer a
     SET used_at = to_timestamp(g.used / 1000.0), session = g.id, bucket = g.bucket, family = g.family
    FROM good g WHERE a.box = g.box AND a.id = g.code
  RETURNING g.nth;
END
$$;
