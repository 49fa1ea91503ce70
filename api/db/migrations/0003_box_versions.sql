-- The versions that a box had lately. A replica that holds one of them loads what moved since; one that holds another is
-- older than the tombstones that are kept, or holds what a restored backup knows nothing of: it loads the whole box.
CREATE TABLE boxgate.box_version (
  box     text NOT NULL REFERENCES boxgate.box,
  version bigint NOT NULL,
  PRIMARY KEY (box, version)
);
ALTER TABLE boxgate.box_version ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.box_version USING (box = current_setting('boxgate.box', true));

-- The newest signing key in use, of any box: whether the installation's key opens it is asked before anything is served.
CREATE FUNCTION boxgate.newest_signing_key() RETURNS TABLE (box text, kid text, private_key bytea)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
  SELECT k.box, k.kid, k.private_key FROM signing_key k
   WHERE k.retired_at IS NULL OR k.retired_at > now() ORDER BY k.created_at DESC, k.kid LIMIT 1
$$;
