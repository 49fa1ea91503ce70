-- A refreshed session is valid only while its client lists the grant that the family came from, so the family stores it.

-- A letter as in session.type. Null: a release that did not store it began the family; then family_grant derives it.
ALTER TABLE boxgate.refresh_family ADD COLUMN grant_type "char" CHECK (grant_type <> 'r');

-- The grant that a family came from. Before it was stored, only two grants began families: a client's own came from
-- client credentials, a user's from an authorization code.
CREATE FUNCTION boxgate.family_grant(p_stored "char", p_user bigint) RETURNS "char"
LANGUAGE sql IMMUTABLE
AS $$
  SELECT coalesce(p_stored, CASE WHEN p_user IS NULL THEN 'c'::"char" ELSE 'a'::"char" END)
$$;

-- The grant that a family came from; null when it has ended. In plpgsql, as living_user, so that its plan is kept and who
-- has no family pays nothing. The statement below asks for a plan of each call: that is not meant for these two.
CREATE FUNCTION boxgate.living_family(p_box text, p_family uuid) RETURNS "char"
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN (SELECT boxgate.family_grant(f.grant_type, f.user_id)
            FROM boxgate.refresh_family f
           WHERE f.box = p_box AND f.id = p_family AND f.ended_at IS NULL);
END
$$;
ALTER FUNCTION boxgate.living_user(text, bigint, bigint) SET plan_cache_mode = force_generic_plan;

-- The statements that check tokens tell the grant that each session came from: of a refreshed one, its family's.
DROP FUNCTION boxgate.check_sessions(integer, text[], uuid[], bytea[]);
CREATE FUNCTION boxgate.check_sessions(p_bucket integer, p_box text[], p_id uuid[], p_hash bytea[])
RETURNS TABLE (nth bigint, config_version bigint, version bigint, expires bigint, type "char", client text,
               user_id bigint, scope text, audience text[], family uuid, ended boolean, person jsonb, grant_type "char")
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_custom_plan
AS $$
BEGIN
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

DROP FUNCTION boxgate.check_sessions_in(integer[], text[], uuid[], bytea[]);
CREATE FUNCTION boxgate.check_sessions_in(p_bucket integer[], p_box text[], p_id uuid[], p_hash bytea[])
RETURNS TABLE (nth bigint, config_version bigint, version bigint, expires bigint, type "char", client text,
               user_id bigint, scope text, audience text[], family uuid, ended boolean, person jsonb, grant_type "char")
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, b.config_version, s.version, extract(epoch FROM s.expires_at)::bigint, s.type, s.client, s.user_id,
         s.scope, s.audience, s.family,
         s.ended_at IS NOT NULL OR (s.user_id IS NOT NULL AND p.person IS NULL)
           OR (s.family IS NOT NULL AND p.family_grant IS NULL),
         p.person, CASE WHEN s.type = 'r' THEN p.family_grant ELSE s.type END
    FROM unnest(p_bucket, p_box, p_id, p_hash) WITH ORDINALITY AS n (bucket, box, id, hash, nth)
    JOIN box b ON b.box = n.box
    LEFT JOIN LATERAL (SELECT * FROM session s WHERE s.bucket = n.bucket AND s.box = n.box AND s.id = n.id
                          AND s.token_hash IS NOT DISTINCT FROM n.hash OFFSET 0) s ON true
    LEFT JOIN LATERAL (SELECT CASE WHEN s.user_id IS NOT NULL THEN living_user(s.box, s.user_id, s.version) END,
                              CASE WHEN s.family IS NOT NULL THEN living_family(s.box, s.family) END
                         OFFSET 0) AS p (person, family_grant) ON true;
END
$$;
