-- Pages of clients, policies, users and groups that `next` leads to are read in statements that many requests share, as first pages
-- are since migration 0039: each begins after a row. What a transaction reads instead is the same as there, and a page beyond the last
-- row. The functions of first pages stay for the release before.

-- Clients and policies, by ID.
CREATE FUNCTION boxgate.resources_after(p_box text[], p_kind text[], p_after text[], p_limit integer[])
RETURNS TABLE (nth bigint, is_large boolean, total bigint, kind text, id text, version bigint, body text,
               has_secret boolean, owner_cluster text, owner_name text, owner_uid text, created_at text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET datestyle = 'ISO'
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, r.is_large, CASE n.kind WHEN 'Client' THEN u.clients ELSE u.policies END, r.kind, r.id, r.version,
         CASE WHEN NOT r.is_large THEN r.body::text END, cardinality(r.secrets) > 0, r.owner_cluster, r.owner_name,
         r.owner_uid, r.created_at::text
    FROM unnest(p_box, p_kind, p_after, p_limit) WITH ORDINALITY AS n (box, kind, after, rows, nth)
    JOIN box_use u ON u.box = n.box
   CROSS JOIN LATERAL (
         SELECT f.*, row_number() OVER () AS place,
                sum(pg_column_size(f.body)) OVER () > 32 * 1024
                  OR bool_or(pg_column_compression(f.body) IS NOT NULL OR pg_column_size(f.body) > 2000) OVER () AS is_large
           FROM (SELECT s.* FROM resource s WHERE s.box = n.box AND s.kind = n.kind AND s.id > n.after
                  ORDER BY s.id LIMIT n.rows + 1) f
         ) r
   WHERE r.place = 1 OR NOT r.is_large
   ORDER BY n.nth, r.place;
END
$$;

-- Users with their groups, by ID: together a page has at most 500 memberships.
CREATE FUNCTION boxgate.users_after(p_box text[], p_after bigint[], p_limit integer[])
RETURNS TABLE (nth bigint, is_large boolean, total bigint, id bigint, email text, email_verified boolean, password text,
               pepper text, data text, status text, groups jsonb, created_at timestamptz, updated_at timestamptz,
               email_key text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, r.is_large, u.users, r.id, r.email, r.email_verified, r.password, r.pepper,
         CASE WHEN NOT r.is_large THEN r.data END, r.status,
         CASE WHEN NOT r.is_large AND r.memberships > 0 THEN groups_of(n.box, r.id) END,
         r.created_at, r.updated_at, r.email_key
    FROM unnest(p_box, p_after, p_limit) WITH ORDINALITY AS n (box, after, rows, nth)
    JOIN box_use u ON u.box = n.box
   CROSS JOIN LATERAL (
         SELECT f.*, row_number() OVER () AS place,
                coalesce(sum(pg_column_size(f.data)) OVER () > 32768, false)
                  OR bool_or(coalesce(pg_column_compression(f.data) IS NOT NULL OR pg_column_size(f.data) > 2000,
                                      false)) OVER ()
                  OR bool_or(500 / n.rows < f.memberships) OVER () AS is_large
           FROM (SELECT s.*, (SELECT count(*) FROM (SELECT FROM group_member m WHERE m.box = s.box AND m.user_id = s.id
                                                     LIMIT 500 / n.rows + 1) AS found) AS memberships
                   FROM "user" s WHERE s.box = n.box AND s.id > n.after ORDER BY s.id LIMIT n.rows + 1) f
         ) r
   WHERE r.place = 1 OR NOT r.is_large
   ORDER BY n.nth, r.place;
END
$$;

-- Groups with the number of their members, by ID: together those of a page have at most 2,000.
CREATE FUNCTION boxgate.groups_after(p_box text[], p_after bigint[], p_limit integer[])
RETURNS TABLE (nth bigint, is_large boolean, total bigint, id bigint, name text, description text, version bigint,
               created_at text, owner_cluster text, owner_name text, owner_uid text, members bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET datestyle = 'ISO'
AS $$
BEGIN
  RETURN QUERY
  SELECT n.nth, r.is_large, u.groups, r.id, r.name, CASE WHEN NOT r.is_large THEN r.description END, r.version,
         r.created_at::text, r.owner_cluster, r.owner_name, r.owner_uid, r.members
    FROM unnest(p_box, p_after, p_limit) WITH ORDINALITY AS n (box, after, rows, nth)
    JOIN box_use u ON u.box = n.box
   CROSS JOIN LATERAL (
         SELECT f.*, row_number() OVER () AS place,
                coalesce(sum(pg_column_size(f.description)) OVER () > 32768, false)
                  OR bool_or(pg_column_compression(f.description) IS NOT NULL) OVER ()
                  OR bool_or(2000 / n.rows < f.members) OVER () AS is_large
           FROM (SELECT s.*, (SELECT count(*) FROM (SELECT FROM group_member m WHERE m.box = s.box AND m.group_id = s.id
                                                     LIMIT 2000 / n.rows + 1) AS found) AS members
                   FROM "group" s WHERE s.box = n.box AND s.id > n.after ORDER BY s.id LIMIT n.rows + 1) f
         ) r
   WHERE r.place = 1 OR NOT r.is_large
   ORDER BY n.nth, r.place;
END
$$;
