-- Codes are redeemed in one statement. Until now one statement found a code, and another one used it after the code was judged.
-- Each was planned again for each batch, and without statistics the second one read all unused codes of the box for each code.

-- Finds codes as find_codes does, and uses each that is as expected: then it is marked as used, and its session is stored.
-- That is so only if nothing in the box has changed since the code was issued (three equal versions), so everything that was
-- judged then still holds; and if it is unused, has not expired, is not from before a revocation (`p_since`), and its client,
-- redirect URI and PKCE challenge are those of the request. `p_openid`: there is a key that can sign an id_token.
-- The row tells whether it was stored (`stored`), and what the code was before. Times in milliseconds; `p_expires` in seconds.
-- The row of the code is locked: another use, a sign-out and the end of a grant come wholly before or wholly after. A row that
-- somebody holds is passed over. Of two uses in one call the first counts. The box is not held, as for a use of a refresh
-- token (migration 38): a session that is stored while its client, user or box is being revoked has the older version.
-- LATERAL with OFFSET 0 is a probe of the primary key for each, so the plan can be kept. Found rows keep their place (ctid):
-- each change of a code marks it as used, or deletes it.
CREATE FUNCTION boxgate.use_codes(
  p_box text[], p_version bigint[], p_code uuid[], p_code_hash bytea[], p_client text[], p_now bigint[], p_since bigint[],
  p_redirect_uri text[], p_challenge text[], p_openid boolean[], p_claims boolean[], p_id uuid[], p_bucket integer[],
  p_expires bigint[], p_hash bytea[], p_addr inet[]
) RETURNS TABLE (nth bigint, config_version bigint, hash text, client text, user_id bigint, version bigint,
                 redirect_uri text, scope text, audience text[], challenge text, nonce text, authenticated bigint,
                 user_agent text, created bigint, expires bigint, used boolean, user_gone boolean, person jsonb,
                 stored boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET join_collapse_limit = 1
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  WITH found AS MATERIALIZED (
    SELECT n.nth, n.now, n.claims, n.id, n.bucket, n.ends, n.token_hash, n.addr, b.config_version, a.*,
           a.hash = n.code_hash
             AND a.used_at IS NULL
             AND a.version = n.version
             AND b.config_version = n.version
             AND a.client = n.client
             AND a.expires_at > to_timestamp(n.now / 1000.0)
             AND a.created_at >= to_timestamp(n.since / 1000.0)
             AND a.redirect_uri IS NOT DISTINCT FROM n.redirect_uri
             AND a.challenge IS NOT DISTINCT FROM n.challenge
             AND (n.openid OR a.scope IS NULL OR 'openid' <> ALL (string_to_array(a.scope, ' ')))
             AND NOT a.user_gone
             AND current_setting('transaction_isolation') = 'read committed' AS fits
      FROM unnest(p_box, p_version, p_code, p_code_hash, p_client, p_now, p_since, p_redirect_uri, p_challenge, p_openid,
                  p_claims, p_id, p_bucket, p_expires, p_hash, p_addr) WITH ORDINALITY
        AS n (box, version, code, code_hash, client, now, since, redirect_uri, challenge, openid, claims, id, bucket, ends,
              token_hash, addr, nth)
      JOIN box b ON b.box = n.box
      LEFT JOIN LATERAL (
        SELECT t.ctid AS place, t.box, t.hash, t.client, t.user_id, t.version, t.redirect_uri, t.scope, t.audience,
               t.challenge, t.nonce, t.authenticated_at, t.user_agent, t.created_at, t.expires_at, t.used_at,
               (SELECT u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= t.version
                  FROM boxgate.user u WHERE u.box = t.box AND u.id = t.user_id) IS NOT TRUE AS user_gone
          FROM authorization_answer t WHERE t.box = n.box AND t.id = n.code OFFSET 0) a ON true
  ), good AS MATERIALIZED (
    SELECT f.*
      FROM (SELECT DISTINCT ON (o.place) o.* FROM found o WHERE o.fits ORDER BY o.place, o.nth) f
     CROSS JOIN LATERAL (
       SELECT FROM authorization_answer t WHERE t.ctid = f.place AND t.used_at IS NULL FOR UPDATE SKIP LOCKED OFFSET 0) l
  ), stored AS (
    INSERT INTO session (id, version, expires_at, bucket, type, box, client, token_hash, remote_addr, user_id, scope,
                         audience, user_agent)
    SELECT g.id, g.version, to_timestamp(g.ends), g.bucket, 'a', g.box, g.client, g.token_hash, g.addr, g.user_id, g.scope,
           g.audience, g.user_agent
      FROM good g
  ), used AS (
    UPDATE authorization_answer a SET used_at = to_timestamp(g.now / 1000.0), session = g.id, bucket = g.bucket
      FROM good g WHERE a.ctid = g.place
    RETURNING g.nth
  )
  SELECT f.nth, f.config_version, encode(f.hash, 'hex'), f.client, f.user_id, f.version, f.redirect_uri, f.scope,
         f.audience, f.challenge, f.nonce, (extract(epoch FROM f.authenticated_at) * 1000)::bigint, f.user_agent,
         (extract(epoch FROM f.created_at) * 1000)::bigint, (extract(epoch FROM f.expires_at) * 1000)::bigint,
         f.used_at IS NOT NULL, f.user_gone,
         CASE WHEN f.claims OR 'groups' = ANY (string_to_array(f.scope, ' '))
              THEN living_user(f.box, f.user_id, f.version) END,
         f.nth IN (SELECT u.nth FROM used u)
    FROM found f;
END
$$;

-- find_codes of migration 30, with a plan that is kept.
ALTER FUNCTION boxgate.find_codes(text[], uuid[], boolean[]) SET plan_cache_mode = force_generic_plan;

-- redeem_codes of migration 28, with a probe of the primary key for each code, and a plan that is kept. Whether the code is
-- unused is asked outside: inside, the index of the unused codes of a box looks as good.
CREATE OR REPLACE FUNCTION boxgate.redeem_codes(
  p_box text[], p_version bigint[], p_code uuid[], p_code_hash bytea[], p_used bigint[], p_id uuid[], p_bucket integer[],
  p_expires bigint[], p_client text[], p_hash bytea[], p_addr inet[], p_user bigint[], p_scope text[], p_audience jsonb[],
  p_agent text[], p_family uuid[]
) RETURNS TABLE (nth bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
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
     CROSS JOIN LATERAL (
       SELECT a.used_at, a.client, a.user_id, a.version FROM authorization_answer a
        WHERE a.box = n.box AND a.id = n.code AND a.hash = n.code_hash
          FOR UPDATE SKIP LOCKED OFFSET 0) AS f
     WHERE f.used_at IS NULL
       AND f.client = n.client AND f.user_id IS NOT DISTINCT FROM n.user_id
       AND (SELECT u.status IS DISTINCT FROM 'inactive' AND u.sessions_from <= f.version
              FROM boxgate.user u WHERE u.box = n.box AND u.id = f.user_id)
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
