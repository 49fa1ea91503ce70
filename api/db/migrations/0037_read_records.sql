-- Reads of single records for GET, many of them in one statement: a transaction for each took ten times as long. As with the
-- other functions of batches, each item names its box. A record whose content is compressed or out of line (TOAST, from 2 KB
-- on) comes without it: to unpack many of them would hold up the reads of all boxes, and fill the memory of a replica.

-- Clients and policies. `body` is null if it is too large.
CREATE FUNCTION boxgate.read_resources(p_box text[], p_kind text[], p_id text[])
RETURNS TABLE (nth bigint, kind text, id text, version bigint, body text, has_secret boolean, owner_cluster text,
               owner_name text, owner_uid text, created_at text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan SET datestyle = 'ISO'
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, r.kind, r.id, r.version, CASE WHEN NOT r.is_large THEN r.body::text END, cardinality(r.secrets) > 0,
         r.owner_cluster, r.owner_name, r.owner_uid, r.created_at::text
    FROM unnest(p_box, p_kind, p_id) WITH ORDINALITY AS n (box, kind, id, nth)
    JOIN LATERAL (SELECT s.*, pg_column_compression(s.body) IS NOT NULL OR pg_column_size(s.body) > 2000 AS is_large
                     FROM resource s
                   WHERE s.box = n.box AND s.kind = n.kind AND s.id = n.id OFFSET 0) r ON true;
END
$$;

-- Users with their groups. `is_large`: the data is too large, and null here.
CREATE FUNCTION boxgate.read_users(p_box text[], p_id bigint[])
RETURNS TABLE (nth bigint, is_large boolean, id bigint, email text, email_verified boolean, password text, pepper text,
               data text, status text, groups jsonb, created_at timestamptz, updated_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, u.is_large, u.id, u.email, u.email_verified, u.password, u.pepper,
         CASE WHEN NOT u.is_large THEN u.data END, u.status, groups_of(u.box, u.id), u.created_at, u.updated_at
    FROM unnest(p_box, p_id) WITH ORDINALITY AS n (box, id, nth)
    JOIN LATERAL (SELECT s.*, coalesce(pg_column_compression(s.data) IS NOT NULL OR pg_column_size(s.data) > 2000, false) AS is_large
                     FROM "user" s
                   WHERE s.box = n.box AND s.id = n.id OFFSET 0) u ON true;
END
$$;

-- Sessions that are in one of three buckets, with the way each ended before its time: `ended_as` is null if it did not.
CREATE FUNCTION boxgate.read_sessions(p_box text[], p_id uuid[], p_first integer[], p_second integer[], p_third integer[])
RETURNS TABLE (nth bigint, id uuid, bucket integer, type "char", client text, user_id bigint, scope text, audience text[],
               expires_at timestamptz, family uuid, parent uuid, remote_addr text, user_agent text, ended_at timestamptz,
               ended_as text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, s.id, s.bucket, s.type, s.client, s.user_id, s.scope, s.audience, s.expires_at, s.family, s.parent,
         s.remote_addr, s.user_agent, s.ended_at, s.ended_as
    FROM unnest(p_box, p_id, p_first, p_second, p_third) WITH ORDINALITY AS n (box, id, b1, b2, b3, nth)
    JOIN box b ON b.box = n.box
   CROSS JOIN LATERAL read_session(n.box, n.id, ARRAY[n.b1, n.b2, n.b3]) s
   WHERE s.version >= b.records_from;
END
$$;
