-- Pages of grants are read together however many grants a box has, as those of sessions are since migration 0040. Until now a box
-- with more than 1,000 consents took a transaction for each page, in which up to 10,000 were counted. `grants_after` stays for the
-- release before.

-- A list of more than 10,000 grants becomes shorter only if grants are removed, or if those of a client are hidden: because it is
-- deleted, inactive, or another one than before. The first is counted here; the second has a new config version.
ALTER TABLE boxgate.box_use ADD COLUMN removed_grants bigint NOT NULL DEFAULT 0;

CREATE FUNCTION boxgate.count_removed_grants() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  UPDATE box_use u SET removed_grants = u.removed_grants + d.grants
    FROM (SELECT o.box, count(*) AS grants FROM old_rows o GROUP BY o.box) AS d WHERE u.box = d.box;
  RETURN NULL;
END
$$;
CREATE TRIGGER count_removed_grants AFTER DELETE ON boxgate.consent REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION boxgate.count_removed_grants();

-- Grants, by user and client (api/db/user/grant.ts). Each box is counted once, up to the highest `p_most` of its pages, which may
-- be 0: the API knows already that there are more than it tells, as long as `state` stays the same (api/db/core/list-lengths.ts).
-- Consents that are hidden, since their client is deleted or its sessions were ended, are neither shown nor counted. A box is left to a
-- transaction if it has consents to more than 100 clients, or if so many are hidden that twice `p_most` do not tell the total (`total`
-- is more than `p_most` then, without a state); a page if a hundred hidden ones are in its way, or if its grants have many or large
-- targets.
CREATE FUNCTION boxgate.grant_pages(p_box text[], p_user bigint[], p_client text[], p_limit integer[], p_most integer[],
                                    p_built_in text[])
RETURNS TABLE (nth bigint, is_large boolean, total bigint, state text, user_id bigint, client text, scopes text[],
               created_at text, targets jsonb)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET datestyle = 'ISO'
AS $$
BEGIN
  RETURN QUERY
  WITH counted AS MATERIALIZED (
    SELECT m.box, b.config_version || ':' || u.removed_grants AS state, k.*
      FROM (SELECT n.box, max(n.most) AS most FROM unnest(p_box, p_most) AS n (box, most) GROUP BY n.box) AS m
      JOIN box b ON b.box = m.box
      JOIN box_use u ON u.box = m.box
     CROSS JOIN LATERAL (
           SELECT CASE WHEN count(*) <= 100 THEN
                    coalesce(greatest(sum(v.visible), CASE WHEN sum(v.stored) > 2 * m.most THEN m.most + 1 END), 0)
                  END::bigint AS total,
                  count(*) > 100 OR coalesce(sum(v.stored) > 2 * m.most AND sum(v.visible) <= m.most, false) AS is_large
             FROM (SELECT g.stored,
                          CASE WHEN g.since IS NULL THEN 0 WHEN g.oldest >= g.since THEN g.stored
                               -- As many as were counted: all of them if the whole box was, otherwise no more than there are.
                               ELSE (SELECT count(*) FROM (SELECT c.version FROM consent c
                                                            WHERE c.box = m.box AND c.client = g.client LIMIT g.stored) AS l
                                      WHERE l.version >= g.since)
                          END AS visible
                     FROM (SELECT f.*, consents_from(m.box, f.client, p_built_in) AS since
                             FROM (SELECT c.client, count(*) AS stored, min(c.version) AS oldest
                                     FROM (SELECT s.client, s.version FROM consent s WHERE s.box = m.box
                                            LIMIT CASE WHEN m.most > 0 THEN 2 * m.most + 1 ELSE 0 END) AS c
                                    GROUP BY c.client LIMIT 101) AS f OFFSET 0) AS g OFFSET 0) AS v) AS k
  )
  SELECT n.nth, coalesce(r.is_large, true), k.total, CASE WHEN r.place = 1 THEN k.state END, r.user_id, r.client, r.scopes,
         r.created_at::text,
         CASE WHEN r.is_large THEN NULL WHEN r.count = 0 THEN '[]' ELSE
           coalesce((SELECT jsonb_agg(jsonb_build_object('redirect_uri', t.redirect_uri, 'audience', t.audience,
                                                         'scopes', t.scopes) ORDER BY t.created_at, t.target)
                       FROM consent_target t
                      WHERE t.box = n.box AND t.user_id = r.user_id AND t.client = r.client AND t.version >= r.since), '[]')
         END
    FROM unnest(p_box, p_user, p_client, p_limit) WITH ORDINALITY AS n (box, user_id, client, rows, nth)
    JOIN counted k ON k.box = n.box
    LEFT JOIN LATERAL (
         SELECT f.*, row_number() OVER (ORDER BY f.user_id, f.client) AS place,
                sum(f.bytes) OVER () > 16384 OR bool_or(f.is_long OR pg_column_compression(f.scopes) IS NOT NULL) OVER ()
                  OR (count(*) OVER () <= n.rows
                      AND EXISTS (SELECT FROM consent c WHERE c.box = n.box AND (c.user_id, c.client) > (n.user_id, n.client)
                                  ORDER BY c.user_id, c.client OFFSET n.rows + 101)) AS is_large
           FROM (SELECT c.user_id, c.client, c.scopes, c.created_at, c.since, pg_column_size(c.scopes) + t.bytes AS bytes,
                        t.count, t.count > 500 / n.rows AS is_long
                   FROM (SELECT s.*, coalesce((SELECT r.sessions_from FROM resource r
                                                WHERE r.box = n.box AND r.kind = 'Client' AND r.id = s.client),
                                              CASE WHEN s.client = ANY (p_built_in)
                                                   THEN consents_from(n.box, s.client, p_built_in) END) AS since
                           FROM (SELECT c.box, c.user_id, c.client, c.scopes, c.version, c.created_at FROM consent c
                                  WHERE c.box = n.box AND (c.user_id, c.client) > (n.user_id, n.client)
                                  ORDER BY c.user_id, c.client LIMIT n.rows + 101) AS s
                          -- Sorted already, which the planner forgets unless it is said: it would read all of them.
                          ORDER BY s.user_id, s.client OFFSET 0) AS c
                  CROSS JOIN LATERAL (SELECT count(*) AS count, coalesce(sum(l.bytes), 0) AS bytes
                                        FROM (SELECT pg_column_size(s) AS bytes FROM consent_target s
                                               WHERE s.box = c.box AND s.user_id = c.user_id AND s.client = c.client
                                               LIMIT 500 / n.rows + 1) AS l) AS t
                  WHERE c.version >= c.since
                  ORDER BY c.user_id, c.client LIMIT n.rows + 1) AS f
          WHERE NOT k.is_large
         ) AS r ON true
   WHERE r.place = 1 OR NOT r.is_large
      OR (r.place IS NULL
          AND (k.is_large OR EXISTS (SELECT FROM consent c WHERE c.box = n.box AND (c.user_id, c.client) > (n.user_id, n.client)
                                     ORDER BY c.user_id, c.client OFFSET n.rows + 101)))
   ORDER BY n.nth, r.place;
END
$$;
