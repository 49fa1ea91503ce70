-- Quotas of boxes, and how much of each a box uses. Triggers keep the counts in the transaction of the change, so that a
-- release that knows nothing of quotas counts too, and a check reads one row instead of counting thousands.

-- The quotas that the Namespace sets, by name; null, and a name that is missing: the default of the API.
ALTER TABLE boxgate.box ADD COLUMN quota jsonb;

CREATE TABLE boxgate.box_use (
  box      text PRIMARY KEY REFERENCES boxgate.box,
  clients  bigint NOT NULL DEFAULT 0,
  policies bigint NOT NULL DEFAULT 0,
  users    bigint NOT NULL DEFAULT 0,
  groups   bigint NOT NULL DEFAULT 0,
  -- Bytes of clients, policies and settings as JSON text, and of names and descriptions of groups.
  bytes    bigint NOT NULL DEFAULT 0
);
ALTER TABLE boxgate.box_use ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_box ON boxgate.box_use USING (box = current_setting('boxgate.box', true));

CREATE FUNCTION boxgate.begin_box_use() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  INSERT INTO box_use (box) VALUES (NEW.box) ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER begin_box_use AFTER INSERT ON boxgate.box FOR EACH ROW EXECUTE FUNCTION boxgate.begin_box_use();

-- The bytes of a resource: not those on disk, where a compressed megabyte is small.
CREATE FUNCTION boxgate.bytes_of(body jsonb) RETURNS bigint
LANGUAGE sql IMMUTABLE
AS $$ SELECT octet_length(body::text)::bigint $$;

CREATE FUNCTION boxgate.count_new_resources() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  UPDATE box_use u
     SET clients = u.clients + d.clients, policies = u.policies + d.policies, bytes = u.bytes + d.bytes
    FROM (SELECT r.box, count(*) FILTER (WHERE r.kind = 'Client') AS clients,
                 count(*) FILTER (WHERE r.kind = 'AccessPolicy') AS policies, sum(bytes_of(r.body)) AS bytes
            FROM new_rows r GROUP BY r.box) AS d
   WHERE u.box = d.box;
  RETURN NULL;
END
$$;
CREATE TRIGGER count_new_resources AFTER INSERT ON boxgate.resource REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION boxgate.count_new_resources();

CREATE FUNCTION boxgate.count_changed_resources() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  UPDATE box_use u SET bytes = u.bytes + d.bytes
    FROM (SELECT c.box, sum(c.bytes) AS bytes
            FROM (SELECT n.box, bytes_of(n.body) AS bytes FROM new_rows n
                  UNION ALL
                  SELECT o.box, -bytes_of(o.body) FROM old_rows o) AS c GROUP BY c.box) AS d
   WHERE u.box = d.box AND d.bytes <> 0;
  RETURN NULL;
END
$$;
CREATE TRIGGER count_changed_resources AFTER UPDATE ON boxgate.resource
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION boxgate.count_changed_resources();

CREATE FUNCTION boxgate.count_deleted_resources() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  UPDATE box_use u
     SET clients = u.clients - d.clients, policies = u.policies - d.policies, bytes = u.bytes - d.bytes
    FROM (SELECT r.box, count(*) FILTER (WHERE r.kind = 'Client') AS clients,
                 count(*) FILTER (WHERE r.kind = 'AccessPolicy') AS policies, sum(bytes_of(r.body)) AS bytes
            FROM old_rows r GROUP BY r.box) AS d
   WHERE u.box = d.box;
  RETURN NULL;
END
$$;
CREATE TRIGGER count_deleted_resources AFTER DELETE ON boxgate.resource REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION boxgate.count_deleted_resources();

CREATE FUNCTION boxgate.count_users() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    UPDATE box_use u SET users = u.users + d.users
      FROM (SELECT n.box, count(*) AS users FROM new_rows n GROUP BY n.box) AS d WHERE u.box = d.box;
  ELSE
    UPDATE box_use u SET users = u.users - d.users
      FROM (SELECT o.box, count(*) AS users FROM old_rows o GROUP BY o.box) AS d WHERE u.box = d.box;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER count_new_users AFTER INSERT ON boxgate.user REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION boxgate.count_users();
CREATE TRIGGER count_deleted_users AFTER DELETE ON boxgate.user REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION boxgate.count_users();

CREATE FUNCTION boxgate.count_groups() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = boxgate, pg_temp
AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    UPDATE box_use u SET groups = u.groups - d.groups, bytes = u.bytes - d.bytes
      FROM (SELECT o.box, count(*) AS groups, sum(octet_length(concat(o.name, o.description))) AS bytes
              FROM old_rows o GROUP BY o.box) AS d WHERE u.box = d.box;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    UPDATE box_use u SET groups = u.groups + d.groups, bytes = u.bytes + d.bytes
      FROM (SELECT n.box, count(*) AS groups, sum(octet_length(concat(n.name, n.description))) AS bytes
              FROM new_rows n GROUP BY n.box) AS d WHERE u.box = d.box;
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER count_new_groups AFTER INSERT ON boxgate.group REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION boxgate.count_groups();
CREATE TRIGGER count_changed_groups AFTER UPDATE ON boxgate.group REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION boxgate.count_groups();
CREATE TRIGGER count_deleted_groups AFTER DELETE ON boxgate.group REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION boxgate.count_groups();

INSERT INTO boxgate.box_use (box, clients, policies, users, groups, bytes)
SELECT b.box,
       (SELECT count(*) FROM boxgate.resource r WHERE r.box = b.box AND r.kind = 'Client'),
       (SELECT count(*) FROM boxgate.resource r WHERE r.box = b.box AND r.kind = 'AccessPolicy'),
       (SELECT count(*) FROM boxgate.user u WHERE u.box = b.box),
       (SELECT count(*) FROM boxgate.group g WHERE g.box = b.box),
       (SELECT coalesce(sum(boxgate.bytes_of(r.body)), 0) FROM boxgate.resource r WHERE r.box = b.box)
       + (SELECT coalesce(sum(octet_length(concat(g.name, g.description))), 0) FROM boxgate.group g WHERE g.box = b.box)
  FROM boxgate.box b;
