-- Refresh tokens on statements that many requests share: a transaction for each took ten times as long. As the other functions of
-- batches, none of these waits for a lock of a row: what cannot be done at once is left to a transaction.

-- Stores new families with their first sessions, as issue_sessions does: each only if its box is at the version that it was decided
-- under; tells the version of every box it met. Families of clients: nobody signed in for them. Times of families in milliseconds.
CREATE FUNCTION boxgate.issue_families(
  p_box text[], p_version bigint[], p_id uuid[], p_bucket integer[], p_expires bigint[], p_type "char"[],
  p_client text[], p_hash bytea[], p_addr inet[], p_user bigint[], p_scope text[], p_audience jsonb[], p_agent text[],
  p_family uuid[], p_family_hash bytea[], p_token_hash bytea[], p_created bigint[], p_slides bigint[], p_ends bigint[]
) RETURNS TABLE (box text, config_version bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH current AS MATERIALIZED (
    SELECT b.box, b.config_version FROM box b WHERE b.box = ANY (p_box)
  ), good AS MATERIALIZED (
    SELECT n.box, n.version, n.id, n.bucket, to_timestamp(n.expires) AS expires, n.type, n.client, n.hash, n.addr, n.user_id,
           n.scope, CASE WHEN n.audience IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(n.audience)) END AS audience,
           n.agent, n.family, n.family_hash, n.token_hash, to_timestamp(n.created / 1000.0) AS created,
           to_timestamp(n.slides / 1000.0) AS slides, to_timestamp(n.ends / 1000.0) AS ends
      FROM unnest(p_box, p_version, p_id, p_bucket, p_expires, p_type, p_client, p_hash, p_addr, p_user, p_scope,
                  p_audience, p_agent, p_family, p_family_hash, p_token_hash, p_created, p_slides, p_ends)
        AS n (box, version, id, bucket, expires, type, client, hash, addr, user_id, scope, audience, agent, family,
              family_hash, token_hash, created, slides, ends)
      JOIN current v ON v.box = n.box AND v.config_version = n.version
  ), families AS (
    INSERT INTO refresh_family (box, id, client, user_id, version, family_hash, token_hash, session, scope, audience,
                                created_at, last_used_at, expires_at, ends_at, sessions_end, grant_type)
    SELECT g.box, g.family, g.client, g.user_id, g.version, g.family_hash, g.token_hash, g.id, g.scope, g.audience,
           g.created, g.created, g.slides, g.ends, g.expires, g.type
      FROM good g
  ), stored AS (
    INSERT INTO session (id, version, expires_at, bucket, type, box, client, token_hash, remote_addr, user_id, scope,
                         audience, user_agent, family)
    SELECT g.id, g.version, g.expires, g.bucket, g.type, g.box, g.client, g.hash, g.addr, g.user_id, g.scope, g.audience,
           g.agent, g.family
      FROM good g
  )
  SELECT c.box, c.config_version FROM current c;
END
$$;
