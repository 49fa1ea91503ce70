-- A namespace that is deleted takes its box out of service: nothing of the box is served while nobody rules it. Its rows and
-- revocations stay, for the namespace may come back, or an admin may adopt the box.
ALTER TABLE boxgate.box
  -- Since when the namespace is missing; null: it is there, or there are no namespaces.
  ADD COLUMN missing_since timestamptz;

-- A box without its namespace is like one that is not there.
CREATE OR REPLACE FUNCTION boxgate.config_versions(p_boxes text[]) RETURNS TABLE (box text, config_version bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$ SELECT b.box, b.config_version FROM box b WHERE b.box = ANY (p_boxes) AND b.missing_since IS NULL $$;

-- The boxes in which this cluster declares something, and those that are bound to its namespaces, with nothing declared in them.
CREATE OR REPLACE FUNCTION boxgate.declared_boxes(p_cluster text) RETURNS TABLE (box text, resources bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT c.box, sum(c.resources)::bigint
    FROM (SELECT r.box, count(*) FROM resource r WHERE r.owner_cluster = p_cluster GROUP BY r.box
          UNION ALL
          SELECT b.box, 0 FROM box b WHERE b.namespace_cluster = p_cluster AND b.missing_since IS NULL) AS c (box, resources)
   GROUP BY c.box ORDER BY c.box
$$;

-- The boxes of this cluster's namespaces that are missing.
CREATE FUNCTION boxgate.missing_boxes(p_cluster text) RETURNS TABLE (box text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$ SELECT b.box FROM box b WHERE b.namespace_cluster = p_cluster AND b.missing_since IS NOT NULL ORDER BY b.box $$;
