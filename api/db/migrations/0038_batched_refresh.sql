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

-- Refresh families that have not ended, each found by the hash that all its tokens share, and the version of the box of each,
-- found or not (then `id` is null). Times in milliseconds. Without a person, the family is a client's own, or its user has
-- ended what was begun then. LATERAL with OFFSET 0 is a probe of the primary key for each, so the plan can be kept.
CREATE FUNCTION boxgate.find_refresh_families(p_box text[], p_id uuid[], p_hash bytea[])
RETURNS TABLE (nth bigint, config_version bigint, id uuid, client text, user_id bigint, grant_type "char", person jsonb,
               authenticated bigint, version bigint, token_hash text, generation integer, successor bytea, rotated bigint,
               session uuid, scope text, audience text[], created bigint, expires bigint, ends bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, b.config_version, f.id, f.client, f.user_id, family_grant(f.grant_type, f.user_id),
         CASE WHEN f.user_id IS NOT NULL THEN living_user(f.box, f.user_id, f.version) END,
         (extract(epoch FROM f.authenticated_at) * 1000)::bigint, f.version, encode(f.token_hash, 'hex'), f.generation,
         f.successor, (extract(epoch FROM f.rotated_at) * 1000)::bigint, f.session, f.scope, f.audience,
         (extract(epoch FROM f.created_at) * 1000)::bigint, (extract(epoch FROM f.expires_at) * 1000)::bigint,
         (extract(epoch FROM f.ends_at) * 1000)::bigint
    FROM unnest(p_box, p_id, p_hash) WITH ORDINALITY AS n (box, id, hash, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN LATERAL (SELECT * FROM refresh_family r
                        WHERE r.box = n.box AND r.id = n.id AND r.family_hash = n.hash AND r.ended_at IS NULL OFFSET 0) f ON true;
END
$$;

-- Uses refresh tokens, and tells which: stores the session of each use, and moves its family on. Each only if its box is at the
-- version that it was decided under, its family has not ended, and its token is still the family's newest: that was judged, and
-- everything else of a family follows from the version, or never changes. Of two uses of a family in one call the first counts.
-- The row of the family is locked: an end of the family, and another use, come wholly before or wholly after. A row that somebody
-- holds is passed over. With `p_next` (the hash of a successor) the family moves to its next token.
-- LATERAL with OFFSET 0 is a probe of the primary key for each: joined, the table was read by an index of the box alone as long as
-- it had no statistics (measured: 17 ms for 50 of 1,000 families, instead of 2).
CREATE FUNCTION boxgate.use_refresh_tokens(
  p_box text[], p_version bigint[], p_id uuid[], p_bucket integer[], p_expires bigint[], p_type "char"[],
  p_client text[], p_hash bytea[], p_addr inet[], p_user bigint[], p_scope text[], p_audience jsonb[], p_agent text[],
  p_family uuid[], p_token_hash bytea[], p_used bigint[], p_slides bigint[], p_next bytea[], p_successor bytea[]
) RETURNS TABLE (nth bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_custom_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET join_collapse_limit = 1
AS $$
BEGIN
  RETURN QUERY
  WITH asked AS MATERIALIZED (
    SELECT DISTINCT ON (n.box, n.family) n.*
      FROM unnest(p_box, p_version, p_id, p_bucket, p_expires, p_type, p_client, p_hash, p_addr, p_user, p_scope,
                  p_audience, p_agent, p_family, p_token_hash, p_used, p_slides, p_next, p_successor) WITH ORDINALITY
        AS n (box, version, id, bucket, expires, type, client, hash, addr, user_id, scope, audience, agent, family,
              token_hash, used, slides, next, successor, nth)
     ORDER BY n.box, n.family, n.nth
  ), good AS MATERIALIZED (
    SELECT n.*, f.session AS parent
      FROM asked n
      JOIN box b ON b.box = n.box AND b.config_version = n.version
     CROSS JOIN LATERAL (
       SELECT r.session FROM refresh_family r
        WHERE r.box = n.box AND r.id = n.family AND r.token_hash = n.token_hash
          AND r.ended_at IS NULL
          FOR UPDATE SKIP LOCKED OFFSET 0) f
  ), stored AS (
    INSERT INTO session (id, version, expires_at, bucket, type, box, client, token_hash, remote_addr, user_id, scope,
                         audience, user_agent, family, parent)
    SELECT g.id, g.version, to_timestamp(g.expires), g.bucket, g.type, g.box, g.client, g.hash, g.addr, g.user_id, g.scope,
           CASE WHEN g.audience IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(g.audience)) END, g.agent,
           g.family, g.parent
      FROM good g
  )
  UPDATE refresh_family f
     SET session = g.id, last_used_at = to_timestamp(g.used / 1000.0), expires_at = to_timestamp(g.slides / 1000.0),
         sessions_end = greatest(f.sessions_end, to_timestamp(g.expires)),
         generation = f.generation + (g.next IS NOT NULL)::integer, token_hash = coalesce(g.next, f.token_hash),
         successor = coalesce(g.successor, f.successor),
         rotated_at = CASE WHEN g.next IS NULL THEN f.rotated_at ELSE to_timestamp(g.used / 1000.0) END
    FROM good g WHERE f.box = g.box AND f.id = g.family
  RETURNING g.nth;
END
$$;
